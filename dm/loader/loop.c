/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop device over the store (Linux: drivers/block/loop.c). */
#include "dm/loader/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dm/names.h"

enum { MISC_MAJOR = 10, CONTROL_MINOR = 237, DETACH_TRIES = 50 };

static int loop = -1, control = -1;

static int open_loop(dev_t *dev)
{
	char path[40];

	control = hl_open_node(S_IFCHR, makedev(MISC_MAJOR, CONTROL_MINOR), O_RDWR);
	if (control < 0)
		return -errno;
	if (ioctl(control, LOOP_CTL_ADD, DMX_LOOP) < 0)
		return -errno;
	snprintf(path, sizeof path, "block/loop%d/dev", DMX_LOOP);
	if (!hl_sysfs_dev(path, dev))
		return -ENODEV;
	loop = hl_open_node(S_IFBLK, *dev, O_RDONLY);
	return loop < 0 ? -errno : 0;
}

/* The loop device is as writable as the file that it gets. */
static int read_only(int store)
{
	char path[40];

	snprintf(path, sizeof path, "self/fd/%d", store);
	return openat(hl_proc, path, O_RDONLY | O_CLOEXEC);
}

int hl_loop_attach(int store, dev_t *dev)
{
	int status = open_loop(dev);

	if (status < 0)
		return status;
	int file = read_only(store);
	if (file < 0)
		return -errno;
	status = ioctl(loop, LOOP_SET_FD, file) < 0 ? -errno : 0;
	close(file);
	return status;
}

/* Somebody may be looking at it. */
void hl_loop_detach(void)
{
	if (loop >= 0) {
		ioctl(loop, LOOP_CLR_FD, 0);
		close(loop);
	}
	for (int i = 0; control >= 0 && i < DETACH_TRIES; i++) {
		if (ioctl(control, LOOP_CTL_REMOVE, DMX_LOOP) == 0 || errno != EBUSY)
			break;
		usleep(100000);
	}
	close(control);
	loop = control = -1;
}
