/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/lock.h"

#include <errno.h>
#include <fcntl.h>

/* "rlcd", shifted so that it is behind all that fits on a disk. */
static const off_t place = (off_t)0x726c6364 << 32;

int li_lock_take(int fd, li_lock lock)
{
	static const short types[] = {
		[LI_LOCK_NONE] = F_UNLCK,
		[LI_LOCK_READ] = F_RDLCK,
		[LI_LOCK_CHANGE] = F_WRLCK,
	};
	struct flock range = {
		.l_type = types[lock], .l_whence = SEEK_SET, .l_start = place, .l_len = 1};

	if (fcntl(fd, F_OFD_SETLK, &range) == 0)
		return 0;
	return errno == EACCES ? EAGAIN : errno;
}
