/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/loader/loader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "reorder/guest/guest.h"

enum {
	LOOK_MS = 1000,     /* at most, between looks at what said that it has no disc */
	NEAR_SECONDS = 5,   /* so long a volume of the same name gives way to the very one */
	REJECTED_MAX = 256, /* those beyond are looked at again and again */
	PATH_ROOM = 600,    /* two names below "block/", and more */
	EVENT_ROOM = 8192,
};

/* What a device has turned out to be: it cannot be read now, it holds no ISO 9660 volume, another
 * one, one of the same name, the very one. */
enum look { LATER, OTHER, FOREIGN, NEAR, EXACT };

/* A search for the volume. */
struct search {
	const struct dmx_medium_id *id;
	struct hl_medium *found;
	enum look best;          /* the next best volume so far, FOREIGN or NEAR; or OTHER */
	struct hl_medium second; /* that volume */
	uint64_t until;          /* the very one may come before it is taken */
	uint64_t settle;         /* that time for a foreign one */
};

static int events = -1;
static dev_t rejected[REJECTED_MAX];
static size_t rejected_count;

void hl_medium_listen(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1 /* the kernel's */};

	events = socket(
		AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (events >= 0 && bind(events, (struct sockaddr *)&address, sizeof address) < 0) {
		close(events);
		events = -1;
	}
}

static bool is_rejected(dev_t dev)
{
	for (size_t i = 0; i < rejected_count; i++)
		if (rejected[i] == dev)
			return true;
	return false;
}

static void reject(dev_t dev)
{
	if (rejected_count < REJECTED_MAX)
		rejected[rejected_count++] = dev;
}

static void reconsider(dev_t dev)
{
	for (size_t i = 0; i < rejected_count; i++)
		if (rejected[i] == dev)
			rejected[i--] = rejected[--rejected_count];
}

/* Devices that are made of other devices, and such as take long to say that they have no disc. */
static bool is_of_no_interest(const char *name)
{
	static const char *const prefixes[] = {"loop", "dm-", "ram", "zram", "fd", "mtdblock"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return name[0] == '.';
}

static bool is_optical(const char *name)
{
	return !strncmp(name, "sr", 2);
}

static bool open_device(const char *name, dev_t dev, struct hl_medium *medium)
{
	int block;

	*medium = (struct hl_medium){.dev = dev, .fd = hl_open_node(S_IFBLK, dev, O_RDONLY)};
	if (medium->fd < 0)
		return false;
	snprintf(medium->name, sizeof medium->name, "%s", name);
	for (char *at = medium->name; (at = strchr(at, '!'));)
		*at = '/';
	if (ioctl(medium->fd, BLKGETSIZE64, &medium->size) == 0 &&
		ioctl(medium->fd, BLKSSZGET, &block) == 0 && block > 0) {
		medium->block = (uint32_t)block;
		posix_fadvise(medium->fd, 0, 0, POSIX_FADV_RANDOM);
		return true;
	}
	close(medium->fd);
	return false;
}

/* What is on it; LATER if it cannot be read now. */
static enum look identify(const struct hl_medium *medium, struct dmx_medium_id *id)
{
	uint8_t pvd[DMX_PVD_SIZE];
	ssize_t n = pread(medium->fd, pvd, sizeof pvd, DMX_PVD_OFFSET);

	if (n < 0)
		return LATER;
	return n == sizeof pvd && dmx_medium_id_read(pvd, id) ? EXACT : OTHER;
}

static enum look compare(const struct hl_medium *medium, const struct dmx_medium_id *wanted)
{
	struct dmx_medium_id id;
	enum look look = identify(medium, &id);

	if (look != EXACT)
		return look;
	if (dmx_medium_id_equal(&id, wanted) && medium->size >= id.size)
		return EXACT;
	return strcmp(id.volume_id, wanted->volume_id) ? FOREIGN : NEAR;
}

/*
 * A framework that looks for its medium by itself mounts an optical disc as soon as it is there,
 * while our first look at it may take seconds. So it is claimed first; whoever comes then finds it
 * busy, as if there were no disc yet.
 */
static enum look look_at(
	const char *name, dev_t dev, const struct dmx_medium_id *wanted, struct hl_medium *medium)
{
	if (!open_device(name, dev, medium))
		return LATER;
	bool claimed = is_optical(name) && hl_device_load_plain(medium) == 0;
	enum look look = compare(medium, wanted);
	medium->exact = look == EXACT;
	if (look < FOREIGN)
		close(medium->fd);
	if (claimed && look != EXACT)
		hl_device_unload();
	return look;
}

/* Calls for each device below the directory until one call returns true. */
static bool each(
	const char *directory, bool (*call)(const char *, const char *, void *), void *data)
{
	struct dirent *entry;
	int fd = openat(hl_sys, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool done = false;

	while (dir && !done && (entry = readdir(dir)))
		if (!is_of_no_interest(entry->d_name))
			done = call(directory, entry->d_name, data);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return done;
}

static bool attribute(const char *directory, const char *name, const char *what, uint64_t *number)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof path, "%s/%s/%s", directory, name, what);
	return hl_sysfs_number(path, number);
}

static bool number_of(const char *directory, const char *name, dev_t *dev)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof path, "%s/%s/dev", directory, name);
	return hl_sysfs_dev(path, dev);
}

static void forget_second(struct search *search)
{
	if (search->best > OTHER)
		close(search->second.fd);
	search->best = OTHER;
}

static void remember_second(struct search *search, enum look look, const struct hl_medium *medium)
{
	if (look <= search->best) {
		close(medium->fd);
		return;
	}
	forget_second(search);
	search->best = look;
	search->second = *medium;
	search->until = look == NEAR ? ro_guest_now() + NEAR_SECONDS * UINT64_C(1000000000)
				     : search->settle;
}

static bool try(const char *directory, const char *name, void *data)
{
	struct search *search = data;
	struct hl_medium medium;
	uint64_t sectors;
	dev_t dev;

	if (!number_of(directory, name, &dev) || is_rejected(dev))
		return false;
	if (!is_optical(name) && (!attribute(directory, name, "size", &sectors) || sectors == 0))
		return false;
	enum look look = look_at(name, dev, search->id, &medium);
	if (look == EXACT) {
		*search->found = medium;
		return true;
	}
	if (look >= FOREIGN)
		remember_second(search, look, &medium);
	if (look != LATER)
		reject(dev);
	return false;
}

static bool try_partition(const char *directory, const char *name, void *data)
{
	uint64_t number;

	return attribute(directory, name, "partition", &number) && try(directory, name, data);
}

static bool try_partitions(const char *directory, const char *name, void *data)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return each(path, try_partition, data);
}

/*
 * The volume on a disk is often in a partition, too, which starts at the same place or has a volume
 * descriptor of its own further on. That is what to claim: it leaves the disk's other partitions to
 * be mounted.
 */
static bool prefer(const char *directory, const char *name, void *data)
{
	struct search *search = data;
	struct hl_medium part, *disc = search->found;
	struct dmx_medium_id id;
	uint64_t number, start;
	dev_t dev;

	if (!attribute(directory, name, "partition", &number) ||
		!attribute(directory, name, "start", &start) || !number_of(directory, name, &dev) ||
		!open_device(name, dev, &part))
		return false;
	part.origin = start * 512;
	bool same = identify(&part, &id) == EXACT && !strcmp(id.volume_id, search->id->volume_id) &&
		    !strcmp(id.uuid, search->id->uuid) && part.origin < search->id->size &&
		    id.size == search->id->size - part.origin && part.size >= id.size;
	if (!same) {
		close(part.fd);
		return false;
	}
	part.exact = true;
	close(disc->fd);
	*disc = part;
	return true;
}

static void prefer_partition(struct search *search)
{
	char path[PATH_ROOM];
	char name[sizeof search->found->name];

	strcpy(name, search->found->name);
	for (char *at = name; (at = strchr(at, '/'));)
		*at = '!';
	snprintf(path, sizeof path, "block/%s", name);
	each(path, prefer, search);
}

static bool look_around(struct search *search)
{
	if (each("block", try, search)) {
		prefer_partition(search);
		return true;
	}
	if (each("block", try_partitions, search))
		return true;
	if (search->best <= OTHER || ro_guest_now() < search->until)
		return false;
	*search->found = search->second;
	search->best = OTHER;
	return true;
}

/* A device that says something new is looked at again (Linux: lib/kobject_uevent.c): words that
 * zeros end. */
static void take_event(const char *text, size_t length)
{
	unsigned maj = 0, min = 0;
	bool block = false;

	for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
		sscanf(text + at, "MAJOR=%u", &maj);
		sscanf(text + at, "MINOR=%u", &min);
		block = block || !strcmp(text + at, "SUBSYSTEM=block");
	}
	if (block)
		reconsider(makedev(maj, min));
}

static void wait_for_events(uint64_t deadline)
{
	char text[EVENT_ROOM + 1];
	struct pollfd wait = {.fd = events, .events = POLLIN};
	uint64_t now = ro_guest_now();
	uint64_t left = deadline > now ? (deadline - now) / 1000000 : 0;
	ssize_t n;

	poll(&wait, 1, left < LOOK_MS ? (int)left + 1 : LOOK_MS);
	while ((n = recv(events, text, EVENT_ROOM, 0)) > 0) {
		text[n] = '\0';
		take_event(text, (size_t)n);
	}
	if (n < 0 && errno == ENOBUFS)
		rejected_count = 0;
}

bool hl_medium_wait(const struct dmx_medium_id *id, uint64_t settle, uint64_t deadline,
	struct hl_medium *medium)
{
	struct search search = {.id = id, .found = medium, .best = OTHER, .settle = settle};
	bool found;

	while (!(found = look_around(&search)) && ro_guest_now() < deadline)
		wait_for_events(deadline);
	forget_second(&search);
	if (events >= 0)
		close(events);
	return found;
}
