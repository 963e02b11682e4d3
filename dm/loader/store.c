/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of the kernel's own tmpfs, and a loop device over it (Linux: drivers/block/loop.c). */
#include "dm/loader/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dm/names.h"
#include "reorder/guest/guest.h"

enum { MISC_MAJOR = 10, CONTROL_MINOR = 237, DETACH_TRIES = 50 };

static const uint64_t reserve_min = 256 << 20;

static int loop = -1, control = -1;

static bool meminfo(const char *text, const char *key, uint64_t *bytes)
{
	uint64_t kib;
	const char *line = strstr(text, key);

	if (!line || sscanf(line + strlen(key), " %" SCNu64, &kib) != 1)
		return false;
	*bytes = kib * 1024;
	return true;
}

bool hl_store_affordable(uint64_t bytes)
{
	char *text = NULL;
	size_t room = 0;
	uint64_t total, available;

	bool known = ro_guest_read_file(hl_proc, "meminfo", &text, &room) > 0 &&
		     meminfo(text, "MemTotal:", &total) &&
		     meminfo(text, "MemAvailable:", &available);
	free(text);
	if (!known)
		return false;
	uint64_t reserve = total / 4 > reserve_min ? total / 4 : reserve_min;
	return available >= reserve && bytes <= available - reserve;
}

int hl_store_create(uint64_t bytes)
{
	int fd = memfd_create(DMX_DEVICE, MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)(2 * DMX_STORE_LEAD + bytes)) == 0)
		return fd;
	int status = -errno;
	close(fd);
	return status;
}

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

int hl_store_attach(int store, dev_t *dev)
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
void hl_store_detach(void)
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
