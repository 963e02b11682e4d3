/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/agent/agent.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

enum { BELOW_MAX = 64, DEPTH_MAX = 8 };

/* The file that the host knows to be behind a loop device. */
struct told {
	uint32_t major, minor;
	uint64_t device, inode;
};

static struct told *told;
static size_t told_count;

static void tell(uint32_t major, uint32_t minor, int depth);

/* The filesystem that holds the file is known to the device only, not to sysfs. */
static bool loop_status(uint32_t major, uint32_t minor, struct loop_info64 *status)
{
	char path[40], link[TR_PATH_MAX];

	snprintf(path, sizeof path, "dev/block/%u:%u", major, minor);
	ssize_t length = readlinkat(ag_sys, path, link, sizeof link - 1);
	if (length <= 0)
		return false;
	link[length] = '\0';
	const char *slash = strrchr(link, '/');
	int fd = slash ? openat(ag_dev, slash + 1, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	bool known = ioctl(fd, LOOP_GET_STATUS64, status) == 0;
	close(fd);
	return known;
}

/* TRUE if the host was told of this file; now it is in any case. */
static bool is_told(uint32_t major, uint32_t minor, const struct loop_info64 *status)
{
	struct told now = {major, minor, status->lo_device, status->lo_inode};
	size_t i = 0;

	while (i < told_count && (told[i].major != major || told[i].minor != minor))
		i++;
	if (i < told_count) {
		bool same = told[i].device == now.device && told[i].inode == now.inode;
		told[i] = now;
		return same;
	}
	struct told *grown = realloc(told, (told_count + 1) * sizeof *told);
	if (!grown)
		return false;
	told = grown;
	told[told_count++] = now;
	return false;
}

static void tell_below(uint32_t major, uint32_t minor, const uint8_t *below, size_t count)
{
	uint8_t fixed[8];

	tr_put32(fixed, major);
	tr_put32(fixed + 4, minor);
	ag_line_frame(TR_FRAME_BELOW, fixed, sizeof fixed, below, count * 8);
}

/* FALSE if this is no loop device. A path that was told stays as it was told: after a move of the
 * mounts it would read otherwise. */
static bool tell_file(uint32_t major, uint32_t minor, int depth)
{
	static char *file;
	static size_t room;
	struct loop_info64 status = {0};
	char path[64];
	uint8_t fixed[8], below[8];

	snprintf(path, sizeof path, "dev/block/%u:%u/loop/backing_file", major, minor);
	ssize_t length = ro_guest_read_file(ag_sys, path, &file, &room);
	if (length <= 0)
		return false;
	bool holder = loop_status(major, minor, &status);
	if (is_told(major, minor, &status) && depth > 0)
		return true;
	if (file[length - 1] == '\n')
		length--;
	tr_put32(fixed, major);
	tr_put32(fixed + 4, minor);
	ag_line_frame(TR_FRAME_BACKING, fixed, sizeof fixed, file, (size_t)length);
	if (!holder)
		return true;
	tr_put32(below, major(status.lo_device));
	tr_put32(below + 4, minor(status.lo_device));
	tell_below(major, minor, below, 1);
	tell(major(status.lo_device), minor(status.lo_device), depth + 1);
	return true;
}

static size_t read_slaves(int directory, uint8_t *below)
{
	static char *number;
	static size_t room;
	char path[NAME_MAX + 5];
	unsigned major, minor;
	size_t count = 0;
	DIR *slaves = fdopendir(directory);

	if (!slaves) {
		close(directory);
		return 0;
	}
	for (struct dirent *entry; count < BELOW_MAX && (entry = readdir(slaves));) {
		snprintf(path, sizeof path, "%s/dev", entry->d_name);
		if (entry->d_name[0] == '.' ||
			ro_guest_read_file(directory, path, &number, &room) <= 0 ||
			sscanf(number, "%u:%u", &major, &minor) != 2)
			continue;
		tr_put32(below + count * 8, major);
		tr_put32(below + count * 8 + 4, minor);
		count++;
	}
	closedir(slaves);
	return count;
}

static void tell_slaves(uint32_t major, uint32_t minor, int depth)
{
	uint8_t below[BELOW_MAX * 8];
	char path[64];

	snprintf(path, sizeof path, "dev/block/%u:%u/slaves", major, minor);
	int directory = openat(ag_sys, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return;
	size_t count = read_slaves(directory, below);
	if (count == 0)
		return;
	tell_below(major, minor, below, count);
	for (size_t i = 0; i < count; i++)
		tell(tr_get32(below + i * 8), tr_get32(below + i * 8 + 4), depth + 1);
}

static void tell(uint32_t major, uint32_t minor, int depth)
{
	if (major != 0 && depth < DEPTH_MAX && !tell_file(major, minor, depth))
		tell_slaves(major, minor, depth);
}

void ag_devices_tell(uint32_t major, uint32_t minor)
{
	tell(major, minor, 0);
}
