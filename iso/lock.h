/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How runs of this program keep each other off an ISO that is changed in place: a lock of the open
 * file (fcntl(2), "open file description locks") on one byte far behind the end of any file. So
 * nobody else's lock is taken for ours, be it QEMU's on the first bytes or one of the whole file.
 */
#ifndef LI_LOCK_H
#define LI_LOCK_H

#include <glib.h>

typedef enum {
	LI_LOCK_NONE,   /* lets go */
	LI_LOCK_READ,   /* with others that read */
	LI_LOCK_CHANGE, /* alone; fd has to be open for writing */
} li_lock;

/* Does not wait: EAGAIN if another run is in the way. 0 or an errno. The lock goes with the last
 * descriptor of the open file. */
int li_lock_take(int fd, li_lock lock);

#endif
