/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

/* A mount that the host was told of. */
struct mount {
	uint32_t id, major, minor;
	uint64_t hash; /* of its line */
	bool marked;
	bool strict;  /* access times are kept */
	bool foreign; /* of another mount namespace: never seen to go */
	bool present;
};

/* A device and the filesystems that it carried. */
struct device {
	uint32_t major, minor, mounts, generation;
};

/* A line of mountinfo (Linux: Documentation/filesystems/proc.rst, 3.5). point and type are not
 * terminated. */
struct line {
	uint32_t id, major, minor;
	const char *text, *point, *type;
	size_t length, point_length, type_length;
};

static struct mount *mounts;
static size_t mount_count;
static struct device *devices;
static size_t device_count;
static int table_fd = -1;

/* Filesystems that never hold a live system or a file behind one: the host need not know. */
static const char *const irrelevant[] = {"proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2",
	"pstore", "bpf", "securityfs", "debugfs", "tracefs", "configfs", "fusectl", "mqueue",
	"hugetlbfs", "autofs", "rpc_pipefs", "binfmt_misc", "efivarfs", "selinuxfs", "nsfs",
	"ramfs", NULL};

/* Filesystems whose events are of interest. */
static const char *const interesting[] = {"squashfs", "overlay", "overlayfs", "aufs", "unionfs",
	"erofs", "iso9660", "udf", "ext2", "ext3", "ext4", "btrfs", "xfs", "f2fs", NULL};

/* Filesystems that keep access times. */
static const char *const timed[] = {"ext2", "ext3", "ext4", "btrfs", "xfs", "f2fs", NULL};

static bool is_one_of(const char *const *names, const struct line *line)
{
	for (; *names; names++)
		if (strlen(*names) == line->type_length &&
			!memcmp(*names, line->type, line->type_length))
			return true;
	return false;
}

/* The next of the words that single blanks part. */
static const char *next_word(const char *word, const char *end, size_t *length)
{
	if (!word || word + *length >= end)
		return NULL;
	const char *next = word + *length + 1;
	const char *blank = memchr(next, ' ', (size_t)(end - next));
	*length = (size_t)((blank ? blank : end) - next);
	return next;
}

static bool parse(const char *text, size_t length, struct line *line)
{
	const char *end = text + length, *word = text;
	size_t size = 0;
	int taken = 0;

	*line = (struct line){.text = text, .length = length};
	if (sscanf(text, "%u %*u %u:%u %n", &line->id, &line->major, &line->minor, &taken) < 3 ||
		!taken)
		return false;
	size = (size_t)taken - 1;
	word = next_word(word, end, &size); /* root */
	line->point = word = next_word(word, end, &size);
	line->point_length = size;
	while ((word = next_word(word, end, &size)))
		if (size == 1 && *word == '-')
			break;
	line->type = next_word(word, end, &size);
	line->type_length = size;
	return line->type != NULL;
}

static uint64_t hash_of(const struct line *line)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (size_t i = 0; i < line->length; i++)
		hash = (hash ^ (uint8_t)line->text[i]) * 0x100000001b3;
	return hash;
}

static struct mount *find(uint32_t id)
{
	for (size_t i = 0; i < mount_count; i++)
		if (mounts[i].id == id)
			return &mounts[i];
	return NULL;
}

static struct device *device(uint32_t major, uint32_t minor)
{
	for (size_t i = 0; i < device_count; i++)
		if (devices[i].major == major && devices[i].minor == minor)
			return &devices[i];
	struct device *grown = realloc(devices, (device_count + 1) * sizeof *devices);
	if (!grown)
		return NULL;
	devices = grown;
	devices[device_count] = (struct device){.major = major, .minor = minor};
	return &devices[device_count++];
}

uint32_t ag_mounts_generation(uint32_t major, uint32_t minor)
{
	for (size_t i = 0; i < device_count; i++)
		if (devices[i].major == major && devices[i].minor == minor)
			return devices[i].generation;
	return 0;
}

static struct mount *add(const struct line *line)
{
	struct mount *grown = realloc(mounts, (mount_count + 1) * sizeof *mounts);
	struct device *of = device(line->major, line->minor);

	if (!grown)
		return NULL;
	mounts = grown;
	mounts[mount_count] =
		(struct mount){.id = line->id, .major = line->major, .minor = line->minor};
	if (of && of->mounts++ == 0) {
		of->generation++;
		ag_devices_tell(line->major, line->minor);
	}
	return &mounts[mount_count++];
}

static void drop(size_t index)
{
	uint8_t id[4];
	struct device *of = device(mounts[index].major, mounts[index].minor);

	if (of && of->mounts)
		of->mounts--;
	tr_put32(id, mounts[index].id);
	ag_line_frame(TR_FRAME_GONE, id, sizeof id, NULL, 0);
	mounts[index] = mounts[--mount_count];
}

/* Tells the host if it does not know the line yet. NULL without memory. */
static struct mount *tell(const struct line *line, bool foreign)
{
	uint64_t hash = hash_of(line);
	struct mount *mount = find(line->id);

	if (mount && (mount->major != line->major || mount->minor != line->minor)) {
		drop((size_t)(mount - mounts)); /* the id was given out anew */
		mount = NULL;
	}
	if (mount && mount->hash == hash)
		return mount;
	if (!mount && !(mount = add(line)))
		return NULL;
	mount->hash = hash;
	mount->foreign = foreign;
	ag_line_frame(TR_FRAME_MOUNT, NULL, 0, line->text, line->length);
	return mount;
}

static void unescape(const char *from, size_t length, char *to)
{
	for (size_t i = 0; i < length; i++) {
		if (from[i] == '\\' && i + 3 < length && from[i + 1] >= '0' && from[i + 1] <= '3') {
			*to++ = (char)((from[i + 1] - '0') << 6 | (from[i + 2] - '0') << 3 |
				       (from[i + 3] - '0'));
			i += 3;
		} else {
			*to++ = from[i];
		}
	}
	*to = '\0';
}

uint32_t ag_mount_id(int fd)
{
	static char *text;
	static size_t room;
	char path[40];

	snprintf(path, sizeof path, "self/fdinfo/%d", fd);
	if (ro_guest_read_file(ag_proc, path, &text, &room) <= 0)
		return 0;
	const char *id = strstr(text, "mnt_id:");
	return id ? (uint32_t)strtoul(id + 7, NULL, 10) : 0;
}

/* Newer kernels know all of it; older ones lack exec events, then marks on whole filesystems. 0 or
 * an errno. */
static int mark(int fan, const char *path, uint8_t *how)
{
	uint64_t mask = FAN_OPEN | FAN_ACCESS | FAN_ONDIR;

	*how = TR_MARK_SUPERBLOCK;
	if (!fanotify_mark(
		    fan, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, mask | FAN_OPEN_EXEC, ag_proc, path))
		return 0;
	*how = TR_MARK_MOUNT;
	if (!fanotify_mark(
		    fan, FAN_MARK_ADD | FAN_MARK_MOUNT, mask | FAN_OPEN_EXEC, ag_proc, path) ||
		!fanotify_mark(fan, FAN_MARK_ADD | FAN_MARK_MOUNT, mask, ag_proc, path))
		return 0;
	return errno;
}

/* -1 if the mount point leads, say, to what is mounted over it. */
static int open_mount(const struct line *line, char point[TR_PATH_MAX])
{
	if (line->point_length >= TR_PATH_MAX)
		return -1;
	unescape(line->point, line->point_length, point);
	int fd = open(point, O_PATH | O_CLOEXEC);
	if (fd < 0 || ag_mount_id(fd) == line->id)
		return fd;
	close(fd);
	return -1;
}

/* FALSE if there was no way to it. */
static bool mark_mount(int fan, const struct line *line)
{
	char point[TR_PATH_MAX], path[40];
	uint8_t fixed[21];
	int fd = open_mount(line, point);

	if (fd < 0)
		return false;
	snprintf(path, sizeof path, "self/fd/%d", fd);
	tr_put32(fixed + 8, (uint32_t)mark(fan, path, &fixed[12]));
	tr_put32(fixed, line->major);
	tr_put32(fixed + 4, line->minor);
	tr_put64(fixed + 13, ro_guest_now());
	ag_line_frame(TR_FRAME_MARKED, fixed, sizeof fixed, NULL, 0);
	close(fd);
	return true;
}

/* Each time that the table changes: it may have been made writable, or its times lax again. */
static void keep_times(const struct line *line, struct mount *mount)
{
	char point[TR_PATH_MAX];
	uint8_t fixed[20];
	int fd = open_mount(line, point), reason;

	if (fd < 0)
		return;
	bool strict = ag_atime_keep(fd, &reason);
	if ((strict && !mount->strict) || reason) {
		tr_put32(fixed, line->major);
		tr_put32(fixed + 4, line->minor);
		tr_put32(fixed + 8, (uint32_t)reason);
		tr_put64(fixed + 12, ro_guest_now());
		ag_line_frame(TR_FRAME_STRICT, fixed, sizeof fixed, NULL, 0);
	}
	mount->strict = strict;
	close(fd);
}

static void scan_line(int fan, const struct line *line)
{
	if (is_one_of(irrelevant, line))
		return;
	struct mount *mount = tell(line, false);
	if (!mount)
		return;
	mount->present = true;
	if (!mount->marked && is_one_of(interesting, line))
		mount->marked = mark_mount(fan, line);
	if (ag_atime && is_one_of(timed, line))
		keep_times(line, mount);
}

/* Calls for each line until one returns true. */
static void each_line(char *text, bool (*call)(const struct line *, void *), void *data)
{
	struct line line;

	for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		if (parse(at, (size_t)(end - at), &line) && call(&line, data))
			return;
	}
}

static bool scan_call(const struct line *line, void *data)
{
	scan_line(*(int *)data, line);
	return false;
}

void ag_mounts_scan(int fan)
{
	static char *text;
	static size_t room;

	if (ro_guest_read_file(ag_proc, "self/mountinfo", &text, &room) < 0)
		return;
	for (size_t i = 0; i < mount_count; i++)
		mounts[i].present = false;
	each_line(text, scan_call, &fan);
	for (size_t i = mount_count; i-- > 0;)
		if (!mounts[i].present && !mounts[i].foreign)
			drop(i);
}

static bool sweep_call(const struct line *line, void *data)
{
	char point[TR_PATH_MAX];
	const struct mount *mount = find(line->id);
	int fd = mount && mount->strict ? open_mount(line, point) : -1;

	(void)data;
	if (fd < 0)
		return false;
	ag_atime_sweep(fd, point, line->id);
	close(fd);
	return false;
}

void ag_mounts_sweep(void)
{
	static char *text;
	static size_t room;

	if (ro_guest_read_file(ag_proc, "self/mountinfo", &text, &room) >= 0)
		each_line(text, sweep_call, NULL);
}

bool ag_mounts_open(void)
{
	table_fd = openat(ag_proc, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	return table_fd >= 0;
}

int ag_mounts_fd(void)
{
	return table_fd;
}

bool ag_mounts_changed(void)
{
	struct pollfd change = {.fd = table_fd, .events = POLLPRI};

	return poll(&change, 1, 0) > 0 && (change.revents & (POLLPRI | POLLERR));
}

struct wanted {
	uint32_t id;
};

static bool tell_call(const struct line *line, void *data)
{
	const struct wanted *wanted = data;

	if (line->id != wanted->id)
		return false;
	tell(line, true);
	return true;
}

void ag_mounts_tell(uint32_t id, pid_t pid)
{
	static char *text;
	static size_t room;
	struct wanted wanted = {id};
	char path[40];

	const struct mount *known = find(id);
	if (known && !known->foreign)
		return;
	snprintf(path, sizeof path, "%d/mountinfo", (int)pid);
	if (ro_guest_read_file(ag_proc, path, &text, &room) > 0)
		each_line(text, tell_call, &wanted);
}
