/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What this program may use of the machine. Programs such as mksquashfs look at the whole machine
 * only, and are killed where a container or a cgroup allows less.
 */
#ifndef RO_UTIL_HOST_LIMITS_H
#define RO_UTIL_HOST_LIMITS_H

#include <glib.h>

typedef struct {
	guint processors; /* at least 1 */
	guint64 memory;   /* bytes */
} ro_host_limits;

/* root: "" for this machine; tests put a directory before /proc and /sys. */
void ro_host_limits_read(const char *root, ro_host_limits *limits);

#endif
