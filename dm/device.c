/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/device.h"

#include <errno.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <linux/major.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dm/names.h"
#include "dm/sweep.h"
#include "reorder/util/error.h"

enum { SECTOR = 512, BLOCK = 2048, LOOP_TRIES = 16 };

/* The drive and what is being made of it. */
typedef struct {
	const char *path;
	int fd; /* exclusive: nobody mounts it meanwhile */
	guint64 size;
	guint block;
	char *number; /* "MAJOR:MINOR" */
} drive;

static char last_message[256];

G_GNUC_PRINTF(5, 6)
static void keep_message(int level, G_GNUC_UNUSED const char *file, G_GNUC_UNUSED int line,
	G_GNUC_UNUSED int number, const char *format, ...)
{
	va_list arguments;

	if ((level & 7) > 3) /* of less weight than errors */
		return;
	va_start(arguments, format);
	g_vsnprintf(last_message, sizeof last_message, format, arguments);
	va_end(arguments);
}

static gboolean fail_dm(const char *what, GError **error)
{
	if (geteuid() != 0)
		return ro_fail(error, RO_ERROR_FAILED, "%s: cannot %s: needs root", DMX_NODE, what);
	if (access("/sys/class/misc/device-mapper", F_OK) != 0)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: cannot %s: no device-mapper here; is the module dm-mod loaded?",
			DMX_NODE, what);
	return ro_fail(error, RO_ERROR_FAILED, "%s: cannot %s: %s", DMX_NODE, what,
		*last_message ? last_message : "device-mapper refuses");
}

static struct dm_task *new_task(int type)
{
	dm_log_with_errno_init(keep_message);
	*last_message = '\0';
	struct dm_task *task = dm_task_create(type);
	if (task && dm_task_set_name(task, DMX_DEVICE))
		return task;
	if (task)
		dm_task_destroy(task);
	return NULL;
}

/* For what makes or removes links in /dev: waits until udev has done so. Takes the task. */
static gboolean run_with_udev(struct dm_task *task)
{
	uint32_t cookie = 0;
	gboolean ok = dm_task_set_cookie(task, &cookie, 0) && dm_task_run(task);

	dm_udev_wait(cookie);
	dm_task_destroy(task);
	return ok;
}

static gboolean run_simple(int type)
{
	struct dm_task *task = new_task(type);

	return task && run_with_udev(task);
}

/* The loop device over a store of ours, in this process or another. */
static gboolean is_store(const char *number)
{
	g_autofree char *path = g_strdup_printf("/sys/dev/block/%s/loop/backing_file", number);
	g_autofree char *file = NULL;

	return g_file_get_contents(path, &file, NULL, NULL) &&
	       g_str_has_prefix(file, "/memfd:" DMX_DEVICE);
}

static void take_segment(
	dmx_device_state *state, guint64 start, guint64 length, const char *arguments)
{
	g_autofree char *number = g_strndup(arguments, strcspn(arguments, " "));

	state->size = MAX(state->size, (start + length) * SECTOR);
	if (is_store(number))
		state->ram += length * SECTOR;
	else if (!state->medium)
		state->medium = g_steal_pointer(&number);
}

static void take_table(dmx_device_state *state, struct dm_task *task)
{
	void *next = NULL;
	uint64_t start, length;
	char *type, *arguments;

	do {
		next = dm_get_next_target(task, next, &start, &length, &type, &arguments);
		if (type && g_str_equal(type, "linear"))
			take_segment(state, start, length, arguments);
	} while (next);
}

static gboolean read_info(struct dm_info *info)
{
	struct dm_task *task = new_task(DM_DEVICE_INFO);
	gboolean ok = task && dm_task_run(task) && dm_task_get_info(task, info);

	if (task)
		dm_task_destroy(task);
	return ok;
}

static gboolean read_table(dmx_device_state *state)
{
	struct dm_task *task = new_task(DM_DEVICE_TABLE);
	gboolean ok = task && dm_task_run(task);

	if (ok)
		take_table(state, task);
	if (task)
		dm_task_destroy(task);
	return ok;
}

gboolean dmx_device_read(dmx_device_state *state, GError **error)
{
	struct dm_info info = {0};

	*state = (dmx_device_state){0};
	gboolean ok = read_info(&info);
	state->active = ok && info.exists;
	state->users = state->active ? (guint)info.open_count : 0;
	return (ok && (!state->active || read_table(state))) || fail_dm("read its table", error);
}

void dmx_device_state_clear(dmx_device_state *state)
{
	g_free(state->medium);
	*state = (dmx_device_state){0};
}

/* NULL, with the reason, if the map does not fit. */
static struct dmx_segment *segments_of(const struct dmx_map *map, const char *medium, guint64 size,
	guint block, size_t *count, GError **error)
{
	struct dmx_segment *segments = g_new(struct dmx_segment, DMX_SEGMENTS(map->extent_count));

	*count = dmx_table_build(
		map->extents, map->extent_count, dmx_map_bytes(map), size, block, segments);
	if (*count > 0)
		return segments;
	g_free(segments);
	ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: the hot map does not fit its %" G_GUINT64_FORMAT
		" bytes; it is of another ISO",
		medium, size);
	return NULL;
}

/* Blanks and newlines end a word or a line of a table, which knows no escapes. */
static gboolean check_word(const char *medium, GError **error)
{
	if (*medium && medium[strcspn(medium, " \t\n\v\f\r")] == '\0')
		return TRUE;
	return ro_fail(error, RO_ERROR_USAGE,
		"'%s': no name for a table; use one without blanks or the device's MAJOR:MINOR",
		medium);
}

char *dmx_device_table(const struct dmx_map *map, const char *medium, guint64 size, GError **error)
{
	if (!check_word(medium, error))
		return NULL;
	g_autofree char *ram = g_strdup_printf("%d:%d", LOOP_MAJOR, DMX_LOOP);
	g_autoptr(GString) text = g_string_new(NULL);
	size_t count;
	g_autofree struct dmx_segment *segments =
		segments_of(map, medium, size, BLOCK, &count, error);

	if (!segments)
		return NULL;
	for (size_t i = 0; i < count; i++)
		g_string_append_printf(text,
			"%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " linear %s %" G_GUINT64_FORMAT
			"\n",
			segments[i].start, segments[i].length, segments[i].ram ? ram : medium,
			segments[i].from);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static void drive_close(drive *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	g_clear_pointer(&d->number, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(drive, drive_close)

static gboolean drive_open(drive *d, const char *path, GError **error)
{
	struct stat st;
	int block;

	d->fd = -1; /* opening a FIFO would wait */
	if (stat(path, &st) == 0 && !S_ISBLK(st.st_mode))
		return ro_fail(error, RO_ERROR_FAILED, "%s: no block device", path);
	*d = (drive){.path = path, .fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC)};
	if (d->fd < 0)
		return ro_fail_errno(error, errno, "%s: cannot be opened%s", path,
			errno == EBUSY ? "; it must not be mounted" : "");
	if (ioctl(d->fd, BLKGETSIZE64, &d->size) < 0 || ioctl(d->fd, BLKSSZGET, &block) < 0)
		return ro_fail_errno(error, errno, "%s: its size cannot be read", path);
	d->block = (guint)block;
	d->number = g_strdup_printf("%u:%u", major(st.st_rdev), minor(st.st_rdev));
	return TRUE;
}

static gboolean drive_check(const drive *d, const struct dmx_map *map, GError **error)
{
	guint8 pvd[DMX_PVD_SIZE];
	struct dmx_medium_id id;
	ssize_t n = pread(d->fd, pvd, sizeof pvd, DMX_PVD_OFFSET);

	if (n < 0)
		return ro_fail_errno(error, errno, "%s: cannot be read", d->path);
	if (n < (ssize_t)sizeof pvd || !dmx_medium_id_read(pvd, &id) ||
		!dmx_medium_id_equal(&id, &map->id))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: does not hold the volume \"%s\" of %s, which the hot map is of",
			d->path, map->id.volume_id, map->id.uuid);
	return TRUE;
}

/* A loop device that goes when the last who uses it goes. */
static int attach(int control, int store, char **number)
{
	char path[32];
	struct loop_info64 info = {.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR};
	struct stat st;
	int index = ioctl(control, LOOP_CTL_GET_FREE);

	if (index < 0)
		return -1;
	g_snprintf(path, sizeof path, "/dev/loop%d", index);
	int loop = open(path, O_RDONLY | O_CLOEXEC);
	if (loop < 0 || ioctl(loop, LOOP_SET_FD, store) < 0) {
		int reason = errno;
		if (loop >= 0)
			close(loop);
		errno = reason;
		return -1;
	}
	if (ioctl(loop, LOOP_SET_STATUS64, &info) == 0 && fstat(loop, &st) == 0) {
		*number = g_strdup_printf("%u:%u", major(st.st_rdev), minor(st.st_rdev));
		return loop;
	}
	ioctl(loop, LOOP_CLR_FD, 0);
	close(loop);
	return -1;
}

/* Somebody else may take the free one first. */
static int loop_over(int store, char **number, GError **error)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), loop = -1;

	for (int i = 0; control >= 0 && loop < 0 && i < LOOP_TRIES; i++) {
		loop = attach(control, store, number);
		if (loop < 0 && errno != EBUSY)
			break;
	}
	if (loop < 0)
		ro_fail_errno(
			error, errno, "no loop device over the RAM; is the module loop loaded?");
	if (control >= 0)
		close(control);
	return loop;
}

static gboolean add_segments(struct dm_task *task, const struct dmx_segment *segments, size_t count,
	const char *ram, const char *medium)
{
	char arguments[64];

	for (size_t i = 0; i < count; i++)
		if (!dmx_segment_arguments(
			    &segments[i], ram, medium, arguments, sizeof arguments) ||
			!dm_task_add_target(
				task, segments[i].start, segments[i].length, "linear", arguments))
			return FALSE;
	return dm_task_set_ro(task);
}

/* Creates the device, or loads another table into it. */
static gboolean load(int type, const struct dmx_segment *segments, size_t count, const char *ram,
	const char *medium)
{
	struct dm_task *task = new_task(type);

	if (!task)
		return FALSE;
	if (type == DM_DEVICE_CREATE && add_segments(task, segments, count, ram, medium))
		return run_with_udev(task);
	gboolean ok = type == DM_DEVICE_RELOAD &&
		      add_segments(task, segments, count, ram, medium) && dm_task_run(task);
	dm_task_destroy(task);
	return ok;
}

static gboolean fill(const drive *d, const struct dmx_map *map, int store, GError **error)
{
	guint64 bytes = dmx_map_bytes(map);
	struct dmx_swept swept =
		dmx_sweep(d->fd, map->extents, map->extent_count, store, UINT64_MAX);

	if (swept.bytes == bytes)
		return TRUE;
	return ro_fail_errno(error, swept.error ? swept.error : EIO,
		"%s: cannot be read to RAM: only %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
		" bytes",
		d->path, swept.bytes, bytes);
}

static gboolean check_memory(guint64 bytes, GError **error)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gboolean ok = proc >= 0 && dmx_store_affordable(proc, bytes);

	if (proc >= 0)
		close(proc);
	return ok || ro_fail(error, RO_ERROR_FAILED,
			     "too little RAM is free for %" G_GUINT64_FORMAT
			     " bytes: a quarter of all, and at least 256 MiB, is left to others",
			     bytes);
}

/* The store has been filled. */
static gboolean make_device(
	drive *d, const struct dmx_segment *segments, size_t count, int store, GError **error)
{
	g_autofree char *number = NULL, *medium = g_strdup(d->number);
	int loop = loop_over(store, &number, error);

	if (loop < 0)
		return FALSE;
	drive_close(d); /* the device takes it over */
	gboolean ok = load(DM_DEVICE_CREATE, segments, count, number, medium) ||
		      fail_dm("make it", error);
	close(loop);
	return ok;
}

gboolean dmx_device_activate(
	const struct dmx_map *map, const char *path, guint64 *bytes, GError **error)
{
	g_auto(dmx_device_state) state = {0};
	g_auto(drive) d = {.fd = -1};
	size_t count;

	if (!dmx_device_read(&state, error))
		return FALSE;
	if (state.active)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: is there already; see --status and --release", DMX_NODE);
	if (!drive_open(&d, path, error) || !drive_check(&d, map, error) ||
		!check_memory(dmx_map_bytes(map), error))
		return FALSE;
	g_autofree struct dmx_segment *segments =
		segments_of(map, path, d.size, d.block, &count, error);
	if (!segments)
		return FALSE;
	int store = dmx_store_create(dmx_map_bytes(map));
	if (store < 0)
		return ro_fail_errno(error, -store, "no file in RAM");
	gboolean ok = fill(&d, map, store, error) && make_device(&d, segments, count, store, error);
	close(store);
	*bytes = dmx_table_ram(segments, count);
	return ok;
}

static gboolean swap_to_plain(const dmx_device_state *state, GError **error)
{
	struct dmx_segment all;

	if (!state->medium)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: is in use, and all of it is in RAM; unmount it first", DMX_NODE);
	dmx_table_build(NULL, 0, 0, state->size, SECTOR, &all);
	return (load(DM_DEVICE_RELOAD, &all, 1, NULL, state->medium) &&
		       run_simple(DM_DEVICE_RESUME)) ||
	       fail_dm("give the RAM back", error);
}

gboolean dmx_device_release(gboolean *kept, GError **error)
{
	g_auto(dmx_device_state) state = {0};

	if (!dmx_device_read(&state, error))
		return FALSE;
	if (!state.active)
		return ro_fail(error, RO_ERROR_FAILED, "%s: is not there", DMX_NODE);
	*kept = state.users > 0;
	if (*kept)
		return swap_to_plain(&state, error);
	return run_simple(DM_DEVICE_REMOVE) || fail_dm("remove it", error);
}
