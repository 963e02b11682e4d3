/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ioctls of /dev/mapper/control (Linux: include/uapi/linux/dm-ioctl.h). */
#include "dm/loader/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "dm/names.h"

enum { MISC_MAJOR = 10, CONTROL_MINOR = 236, ARGUMENTS_MAX = 48 };

/* For the udev rules of libdevmapper: without it they take the event for somebody else's and make
 * no links (lvm2: libdm/libdevmapper.h, DM_UDEV_PRIMARY_SOURCE_FLAG). */
#define EVENT_FLAGS (0x40u << 16)

static int control = -1;
static bool created;

static void prepare(struct dm_ioctl *request, size_t size)
{
	memset(request, 0, sizeof *request);
	request->version[0] = DM_VERSION_MAJOR;
	request->data_size = (uint32_t)size;
	request->data_start = sizeof *request;
	strcpy(request->name, DMX_DEVICE);
}

static int call(unsigned long command, struct dm_ioctl *request)
{
	return ioctl(control, (int)command, request) < 0 ? -errno : 0;
}

static int simple(unsigned long command, uint32_t flags, uint32_t event)
{
	struct dm_ioctl request;

	prepare(&request, sizeof request);
	request.flags = flags;
	request.event_nr = event;
	if (flags & DM_PERSISTENT_DEV_FLAG)
		request.dev = makedev(0, DMX_MINOR);
	return call(command, &request);
}

static int create(void)
{
	if (created)
		return 0;
	if (control < 0)
		control = hl_open_node(S_IFCHR, makedev(MISC_MAJOR, CONTROL_MINOR), O_RDWR);
	if (control < 0)
		return -errno;
	int status = simple(DM_DEV_CREATE, DM_PERSISTENT_DEV_FLAG, 0);
	created = status == 0;
	return status;
}

static bool put_segment(char *at, size_t room, const struct dmx_segment *segment, const char *ram,
	const char *medium)
{
	struct dm_target_spec *target = (struct dm_target_spec *)at;

	target->sector_start = segment->start;
	target->length = segment->length;
	target->next = (uint32_t)room;
	strcpy(target->target_type, "linear");
	return dmx_segment_arguments(
		segment, ram, medium, at + sizeof *target, room - sizeof *target);
}

int hl_device_load(
	const struct dmx_segment *segments, size_t count, const char *ram, const char *medium)
{
	const size_t room = sizeof(struct dm_target_spec) + ARGUMENTS_MAX; /* a multiple of 8 */
	size_t size = sizeof(struct dm_ioctl) + count * room;
	int status = create();

	if (status < 0)
		return status;
	struct dm_ioctl *request = calloc(1, size);
	if (!request)
		return -ENOMEM;
	prepare(request, size);
	request->flags = DM_READONLY_FLAG;
	request->target_count = (uint32_t)count;
	char *at = (char *)(request + 1);
	for (size_t i = 0; i < count && status == 0; i++, at += room)
		if (!put_segment(at, room, &segments[i], ram, medium))
			status = -EINVAL;
	if (status == 0)
		status = call(DM_TABLE_LOAD, request);
	free(request);
	return status;
}

int hl_device_load_plain(const struct hl_medium *medium)
{
	struct dmx_segment all;
	char number[24];

	if (!dmx_table_build(NULL, 0, 0, medium->size, medium->block, &all))
		return -EINVAL;
	snprintf(number, sizeof number, "%u:%u", major(medium->dev), minor(medium->dev));
	return hl_device_load(&all, 1, NULL, number);
}

int hl_device_resume(void)
{
	return simple(DM_DEV_SUSPEND, DM_SKIP_LOCKFS_FLAG, EVENT_FLAGS);
}

void hl_device_unload(void)
{
	if (created)
		simple(DM_TABLE_CLEAR, 0, 0);
}

void hl_device_remove(void)
{
	if (created && simple(DM_DEV_REMOVE, 0, 0) == 0)
		created = false;
}
