/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loader: the first process of a boot that has its hot region in RAM (rdinit=). It forks, and
 * process 1 goes on as the /init that would have been started, which is told by the kernel command
 * line to wait for DMX_NODE. The child waits for the medium, reads the hot region into RAM and
 * makes that node of both. Whatever goes wrong, it makes a node that is good enough to boot from:
 * of the medium alone, or a link to the medium. After a while it gives the RAM back, and ends.
 *
 *   rd.reorder.patience=SECONDS  from the loader's start: the node is there by then (default: the
 *                                map's)
 *   rd.reorder.release=SECONDS   from the end of the sweep: the RAM is given back then (120); 0
 * never
 */
#include "dm/loader/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "dm/names.h"
#include "dm/sweep.h"
#include "reorder/guest/guest.h"

enum {
	MARGIN = 2,        /* seconds that the framework gets to see the node */
	CLAIM_SECONDS = 5, /* so long others may look at the medium while we want to claim it */
	CLAIM_MS = 50,
	PATIENCE = 30, /* where the map is too broken to say */
	RELEASE = 120, /* seconds */
	SECONDS_MAX = 1000000,
};

static const uint64_t second = 1000000000;

int hl_proc = -1, hl_sys = -1, hl_dev = -1;

static int kernel_log = -1;
static uint64_t started;

/* What the loader goes by. */
struct task {
	struct dmx_map map;
	const char *fault; /* of the map, or NULL */
	uint64_t deadline; /* of the node */
	uint64_t release;  /* seconds */
};

/* What is in use: the store, and the loop device over it. */
struct ram {
	int store;
	char loop[24];
};

/* One line in the kernel's log, which "quiet" keeps from the screen only. */
static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
	char text[512];
	va_list arguments;
	size_t length = (size_t)snprintf(text, sizeof text, "<5>" DMX_DEVICE ": ");

	va_start(arguments, format);
	vsnprintf(text + length, sizeof text - length - 1, format, arguments);
	va_end(arguments);
	strcat(text, "\n");
	if (kernel_log >= 0)
		(void)!write(kernel_log, text, strlen(text));
}

int hl_open_node(mode_t type, dev_t dev, int flags)
{
	static const char path[] = "/.reorder-hot-node";

	mknod(path, type | 0600, dev);
	int fd = open(path, flags | O_CLOEXEC);
	int error = errno;
	unlink(path);
	errno = error;
	return fd;
}

static bool sysfs_text(const char *path, char *text, size_t room)
{
	int fd = openat(hl_sys, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

bool hl_sysfs_number(const char *path, uint64_t *number)
{
	char text[32];

	return sysfs_text(path, text, sizeof text) && sscanf(text, "%" SCNu64, number) == 1;
}

bool hl_sysfs_dev(const char *path, dev_t *dev)
{
	char text[32];
	unsigned maj, min;

	if (!sysfs_text(path, text, sizeof text) || sscanf(text, "%u:%u", &maj, &min) != 2)
		return false;
	*dev = makedev(maj, min);
	return true;
}

/* The node in devtmpfs, which is one for all who mount it: a link, as udev would make it. */
static void make_node(const char *target)
{
	char link[80];

	snprintf(link, sizeof link, "../%s", target);
	mkdirat(hl_dev, "mapper", 0755);
	unlinkat(hl_dev, "mapper/" DMX_DEVICE, 0);
	symlinkat(link, hl_dev, "mapper/" DMX_DEVICE);
}

static void load_modules(const struct dmx_map *map)
{
	for (size_t i = 0; i < map->module_count; i++) {
		int fd = open(map->modules[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue; /* it may be part of the kernel; else there will be no
				     device-mapper */
		syscall(SYS_finit_module, fd, "", 0);
		close(fd);
	}
}

/* Nobody else gets to mount the medium; a negative errno if somebody has. */
static int claim(const struct hl_medium *medium)
{
	const struct timespec pause = {.tv_nsec = CLAIM_MS * 1000000};
	uint64_t until = ro_guest_now() + CLAIM_SECONDS * second;
	int status;

	while ((status = hl_device_load_plain(medium)) == -EBUSY && ro_guest_now() < until)
		nanosleep(&pause, NULL);
	return status;
}

/* Extents as they lie on the device; what is in front of it is left out. */
static size_t shift(struct dmx_extent *extents, size_t count, uint64_t origin)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (extents[i].offset >= origin)
			extents[n++] =
				(struct dmx_extent){extents[i].offset - origin, extents[i].length};
	return n;
}

/* Loads the table of RAM and medium; a negative errno, or how many bytes are in RAM. */
static int64_t load_table(
	const struct task *task, const struct hl_medium *medium, const char *loop, uint64_t loaded)
{
	size_t count = task->map.extent_count;
	struct dmx_segment *segments = calloc(DMX_SEGMENTS(count), sizeof *segments);
	char number[24];
	int status;

	if (!segments)
		return -ENOMEM;
	snprintf(number, sizeof number, "%u:%u", major(medium->dev), minor(medium->dev));
	size_t n = dmx_table_build(
		task->map.extents, count, loaded, medium->size, medium->block, segments);
	status = n ? hl_device_load(segments, n, loop, number) : -ERANGE;
	int64_t bytes = status < 0 ? status : (int64_t)dmx_table_ram(segments, n);
	free(segments);
	return bytes;
}

/* Why there is to be no RAM, or NULL. */
static const char *obstacle(const struct task *task, const struct hl_medium *medium)
{
	const struct dmx_map *map = &task->map;

	if (task->fault)
		return task->fault;
	if (!medium->exact)
		return "the hot map is of another medium";
	if (map->extent_count == 0)
		return "the hot map is empty";
	const struct dmx_extent *last = &map->extents[map->extent_count - 1];
	if (last->offset + last->length > medium->size)
		return "the hot map does not fit the medium";
	if (ro_guest_now() >= task->deadline)
		return "the medium came too late";
	if (!dmx_store_affordable(hl_proc, dmx_map_bytes(map)))
		return "there is too little RAM";
	return NULL;
}

static bool open_ram(struct ram *ram, uint64_t bytes)
{
	dev_t loop;

	ram->store = dmx_store_create(bytes);
	if (ram->store < 0)
		return false;
	if (hl_loop_attach(ram->store, &loop) < 0) {
		hl_loop_detach();
		close(ram->store);
		return false;
	}
	snprintf(ram->loop, sizeof ram->loop, "%u:%u", major(loop), minor(loop));
	return true;
}

static void close_ram(struct ram *ram)
{
	hl_loop_detach();
	close(ram->store);
}

/* Sweeps and loads the table; FALSE, having said why, if the medium alone has to do. */
static bool preload(const struct task *task, const struct hl_medium *medium, struct ram *ram)
{
	const struct dmx_map *map = &task->map;
	uint64_t bytes = dmx_map_bytes(map), start = ro_guest_now();
	char why[64] = "";

	if (!open_ram(ram, bytes)) {
		say("%s without RAM: no loop device over it", medium->name);
		return false;
	}
	struct dmx_swept swept =
		dmx_sweep(medium->fd, map->extents, map->extent_count, ram->store, task->deadline);
	uint64_t took = (ro_guest_now() - start) / 1000000;
	int64_t loaded = load_table(task, medium, ram->loop, swept.bytes);
	if (swept.error)
		snprintf(why, sizeof why, " (%s)",
			swept.error == ETIMEDOUT ? "cut off" : strerror(swept.error));
	if (loaded <= 0) {
		say("%s without RAM: %s%s", medium->name,
			loaded < 0 ? strerror((int)-loaded) : "nothing was read", why);
		close_ram(ram);
		return false;
	}
	say("%" PRId64 " of %" PRIu64 " bytes of %s in RAM after %" PRIu64 ".%03" PRIu64 " s%s",
		loaded, bytes, medium->name, took / 1000, took % 1000, why);
	return true;
}

/* Gives the RAM back. The medium's table takes the place of the one in use. */
static void release(const struct task *task, const struct hl_medium *medium, struct ram *ram)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)task->release;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	int status = hl_device_load_plain(medium);
	if (status == 0)
		status = hl_device_resume();
	if (status < 0) {
		say("the RAM stays in use: %s", strerror(-status));
		return;
	}
	close_ram(ram);
	say("RAM released");
}

static void link_to(const struct hl_medium *medium, const char *why)
{
	hl_device_remove();
	make_node(medium->name);
	say("%s without RAM: %s; " DMX_NODE " is a link to it", medium->name, why);
}

static const char *reason(int status)
{
	switch (-status) {
	case EBUSY:
		return "it is in use";
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "no device-mapper";
	default:
		return strerror(-status);
	}
}

static void serve(struct task *task, struct hl_medium *medium)
{
	struct dmx_map *map = &task->map;
	struct ram ram;
	char device[16];

	int status = claim(medium);
	if (status < 0) {
		link_to(medium, reason(status));
		return;
	}
	map->extent_count = shift(map->extents, map->extent_count, medium->origin);
	const char *why = obstacle(task, medium);
	if (why)
		say("%s without RAM: %s", medium->name, why);
	bool preloaded = !why && preload(task, medium, &ram);
	if (!preloaded)
		status = hl_device_load_plain(medium);
	if (status == 0)
		status = hl_device_resume();
	if (status < 0) {
		link_to(medium, strerror(-status));
		return;
	}
	snprintf(device, sizeof device, "dm-%d", DMX_MINOR);
	make_node(device);
	if (preloaded && task->release)
		release(task, medium, &ram);
}

static void run(struct task *task)
{
	struct hl_medium medium;

	load_modules(&task->map);
	/* It may come later than it ever should: then the node comes without a sweep. */
	uint64_t patience = task->deadline - started;
	if (hl_medium_wait(
		    &task->map.id, started + patience / 2, task->deadline + patience, &medium))
		serve(task, &medium);
	else
		say("nothing done: no medium came");
}

/* The number behind the last such word of the kernel command line, or what it is without one. */
static uint64_t parameter(const char *cmdline, const char *key, uint64_t otherwise)
{
	size_t length = strlen(key);

	for (const char *at = cmdline; (at = strstr(at, key)); at += length) {
		char *end;
		if (at != cmdline && at[-1] != ' ')
			continue;
		unsigned long value = strtoul(at + length, &end, 10);
		if (end != at + length && (*end == ' ' || *end == '\n' || !*end) &&
			value <= SECONDS_MAX)
			otherwise = value;
	}
	return otherwise;
}

static void read_task(struct task *task, const char *cmdline)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t length = ro_guest_read_file(AT_FDCWD, "/" DMX_MAP_PATH, &text, &room);

	task->fault = dmx_map_parse(text ? text : "", length > 0 ? (size_t)length : 0, &task->map);
	free(text);
	uint64_t patience = parameter(cmdline,
		"rd.reorder.patience=", task->map.patience ? task->map.patience : PATIENCE);
	task->deadline = started + (patience > MARGIN ? patience - MARGIN : patience) * second;
	task->release = parameter(cmdline, "rd.reorder.release=", RELEASE);
}

static int hidden_mount(const char *type)
{
	return ro_guest_hidden_mount(
		"/" DMX_DIR "/mnt", type, MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL);
}

static bool prepare(void)
{
	started = ro_guest_now();
	kernel_log = ro_guest_open_kernel_log(O_WRONLY);
	hl_proc = hidden_mount("proc");
	hl_sys = hidden_mount("sysfs");
	hl_dev = hidden_mount("devtmpfs");
	if (hl_proc >= 0 && hl_sys >= 0 && hl_dev >= 0)
		return true;
	say("nothing done: no proc, sysfs or devtmpfs");
	return false;
}

int main(int argc, char **argv)
{
	static struct task task;
	char *cmdline = NULL;
	size_t room = 0;
	const char *init = "/init";

	(void)argc;
	if (getpid() != 1)
		return 1;
	bool prepared = prepare();
	if (hl_proc >= 0 && ro_guest_read_file(hl_proc, "cmdline", &cmdline, &room) > 0) {
		read_task(&task, cmdline);
		init = ro_guest_real_init(cmdline, "/" DMX_LOADER_PATH);
	}
	if (prepared)
		hl_medium_listen();
	pid_t child = prepared ? fork() : -1;
	if (child == 0) {
		ro_guest_survive(argv[0], hl_proc, "reorder-loader");
		run(&task);
		return 0;
	}
	argv[0] = (char *)init;
	execv(init, argv);
	say("%s: %s", init, strerror(errno));
	return 1;
}
