/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guest agent: the first process of a traced boot (rdinit=). It takes what it needs, forks, and
 * process 1 goes on as the /init that would have been started. The child marks every filesystem as
 * it is mounted and reports what is opened, executed and read, until the host asks for the end.
 */
#include "trace/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

enum {
	HOST_LINE = 1, /* the second serial one */
	TICK_MS = 500,
	USER_HZ = 100,   /* of x86, for all that /proc shows */
	WAIT_MS = 100,   /* at most, between looks at process 1's root */
	REPEATS_MAX = 4, /* then an object that is opened but never read is ignored, too */
};

int ag_proc = -1, ag_sys = -1, ag_dev = -1;
bool ag_atime;

static int fan = -1, fan_errno;
static dev_t root_dev;
static ino_t root_ino;
static uint32_t event_count, overflows, raw_count;
static pid_t own_pid;

void ag_say(const char *what)
{
	char text[160];

	snprintf(text, sizeof text, "<2>reorder-agent: %s\n", what);
	int fd = ro_guest_open_kernel_log(O_WRONLY);
	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

void ag_complain(const char *what)
{
	char text[128];

	snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
	ag_say(text);
}

static int hidden_mount(const char *type, unsigned long flags)
{
	return ro_guest_hidden_mount(
		"/" TR_AGENT_DIR "/mnt", type, MS_NOSUID | MS_NOEXEC | flags, NULL);
}

static void open_fanotify(void)
{
	/* Without O_NONBLOCK the event of a fifo would hold us up. */
	fan = fanotify_init(FAN_CLASS_NOTIF | FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS |
				    FAN_CLOEXEC | FAN_NONBLOCK,
		O_RDONLY | O_LARGEFILE | O_NOATIME | O_CLOEXEC | O_NONBLOCK);
	fan_errno = fan < 0 ? errno : 0;
}

static bool read_root(dev_t *dev, ino_t *ino)
{
	struct stat st;

	if (fstatat(ag_proc, "1/root", &st, 0) < 0)
		return false;
	*dev = st.st_dev;
	*ino = st.st_ino;
	return true;
}

/* All that has to happen before /init runs; FALSE, with a line in the kernel log, if there will be
 * no trace. */
static bool prepare(void)
{
	const char *failed = NULL;

	ag_dev = hidden_mount("devtmpfs", 0);
	ag_proc = hidden_mount("proc", MS_NODEV);
	if (ag_proc < 0)
		failed = "proc";
	else if ((ag_sys = hidden_mount("sysfs", MS_NODEV)) < 0)
		failed = "sysfs";
	else if (ag_alone() ? !ag_alone_open() : !ag_line_open(HOST_LINE))
		failed = ag_alone() ? "serial line or devtmpfs" : "second serial line";
	else if (!ag_mounts_open() || !read_root(&root_dev, &root_ino))
		failed = "mount table";
	if (failed) {
		ag_complain(failed);
		return false;
	}
	open_fanotify();
	return true;
}

static void say_hello(void)
{
	struct utsname name;
	uint8_t fixed[8];

	uname(&name);
	tr_put32(fixed, TR_PROTOCOL_VERSION);
	tr_put32(fixed + 4, (uint32_t)fan_errno);
	ag_line_frame(TR_FRAME_HELLO, fixed, sizeof fixed, name.release, strlen(name.release));
	ag_line_pump();
}

static uint8_t how_of(uint64_t mask)
{
	return (uint8_t)((mask & FAN_OPEN ? TR_HOW_OPEN : 0) |
			 (mask & FAN_OPEN_EXEC ? TR_HOW_EXEC : 0) |
			 (mask & FAN_ACCESS ? TR_HOW_READ : 0));
}

/* The path as it is in the mount table that the host has; -1 if it has none that we can tell. */
static ssize_t path_of(int fd, uint32_t mount_id, pid_t pid, char *path)
{
	char link[40];
	ssize_t length;
	int tries = 0;

	snprintf(link, sizeof link, "self/fd/%d", fd);
	do {
		length = readlinkat(ag_proc, link, path, TR_PATH_MAX);
		if (!ag_mounts_changed())
			break;
		ag_mounts_scan(fan); /* the path may be of before or after a move */
	} while (++tries < 8);
	ag_mounts_tell(mount_id, pid);
	return length > 0 && length < TR_PATH_MAX && path[0] == '/' ? length : -1;
}

static void tell_event(struct ag_seen *seen, const struct stat *st, int fd, uint8_t how, pid_t pid)
{
	char path[TR_PATH_MAX];
	uint8_t fixed[26];
	uint32_t id = ag_mount_id(fd);
	ssize_t length = path_of(fd, id, pid, path);

	seen->how = how;
	seen->number = event_count++;
	if (length < 0)
		return; /* the gap in the numbers tells */
	tr_put32(fixed, seen->number);
	tr_put64(fixed + 4, ro_guest_now());
	fixed[12] = S_ISDIR(st->st_mode) ? 'd' : 'f';
	fixed[13] = how;
	tr_put32(fixed + 14, id);
	tr_put32(fixed + 18, major(st->st_dev));
	tr_put32(fixed + 22, minor(st->st_dev));
	ag_line_frame(TR_FRAME_EVENT, fixed, sizeof fixed, path, (size_t)length);
	ag_alone_news(false);
}

static void tell_more(struct ag_seen *seen, uint8_t how)
{
	uint8_t fixed[5];

	seen->how |= how;
	tr_put32(fixed, seen->number);
	fixed[4] = how;
	ag_line_frame(TR_FRAME_MORE, fixed, sizeof fixed, NULL, 0);
}

/* Nothing more will be learnt from this one. */
static void ignore(int fd)
{
	fanotify_mark(fan, FAN_MARK_ADD | FAN_MARK_IGNORED_MASK | FAN_MARK_IGNORED_SURV_MODIFY,
		FAN_OPEN | FAN_OPEN_EXEC | FAN_ACCESS, fd, NULL);
}

static void take_event(const struct fanotify_event_metadata *event)
{
	struct stat st;
	uint8_t how = how_of(event->mask);

	if (event->pid == own_pid || fstat(event->fd, &st) < 0 || st.st_nlink == 0)
		return;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return;
	uint64_t generation = ag_mounts_generation(major(st.st_dev), minor(st.st_dev));
	struct ag_seen *seen = ag_seen_get((uint64_t)st.st_dev ^ generation << 48, st.st_ino);
	if (!seen)
		return;
	if (!seen->how)
		tell_event(seen, &st, event->fd, how, event->pid);
	else if (how & ~seen->how)
		tell_more(seen, how);
	else
		seen->repeats++;
	if (seen->how & TR_HOW_READ || seen->repeats >= REPEATS_MAX)
		ignore(event->fd);
}

static void tell_overflow(void)
{
	uint8_t fixed[4];

	tr_put32(fixed, ++overflows);
	ag_line_frame(TR_FRAME_LOST, fixed, sizeof fixed, NULL, 0);
}

/* FALSE if there were none. */
static bool read_events(void)
{
	/* Each event brings a descriptor, of which there may be 1024; those beyond would be lost.
	 */
	static char buffer[4096]
		__attribute__((aligned(__alignof__(struct fanotify_event_metadata))));
	ssize_t length = read(fan, buffer, sizeof buffer);
	ssize_t rest = length;
	const struct fanotify_event_metadata *event = (const void *)buffer;

	for (; rest > 0 && FAN_EVENT_OK(event, rest); event = FAN_EVENT_NEXT(event, rest)) {
		raw_count++;
		if (event->mask & FAN_Q_OVERFLOW)
			tell_overflow();
		if (event->fd < 0)
			continue;
		take_event(event);
		close(event->fd);
	}
	return length > 0;
}

/* From then on paths are seen as process 1 sees them, and mount points lead where it goes. */
static void follow_root(void)
{
	int fd = openat(ag_proc, "1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fchdir(fd) == 0 && chroot(".") == 0)
		ag_mounts_scan(fan);
	close(fd);
}

static void look_at_root(void)
{
	dev_t dev;
	ino_t ino;
	uint8_t fixed[16];

	if (!read_root(&dev, &ino) || (dev == root_dev && ino == root_ino))
		return;
	root_dev = dev;
	root_ino = ino;
	follow_root();
	tr_put64(fixed, ro_guest_now());
	tr_put32(fixed + 8, major(dev));
	tr_put32(fixed + 12, minor(dev));
	ag_line_frame(TR_FRAME_ROOT, fixed, sizeof fixed, NULL, 0);
	ag_alone_news(true);
}

/* The sum over all processors, in nanoseconds (Linux: Documentation/filesystems/proc.rst, 1.7). */
static uint64_t idle_time(uint32_t *processors)
{
	static char *text;
	static size_t room;
	unsigned long long idle = 0, waiting = 0;

	*processors = 0;
	if (ro_guest_read_file(ag_proc, "stat", &text, &room) <= 0)
		return 0;
	sscanf(text, "cpu %*u %*u %*u %llu %llu", &idle, &waiting);
	for (const char *at = text; (at = strstr(at, "\ncpu")); at++)
		++*processors;
	return (idle + waiting) * (1000000000ull / USER_HZ);
}

static void tell_time(void)
{
	static uint64_t last;
	uint64_t now = ro_guest_now();
	uint64_t idle;
	uint32_t processors;
	uint8_t fixed[20];

	if (now - last < TICK_MS * 1000000ull)
		return;
	last = now;
	tr_put64(fixed, now);
	idle = idle_time(&processors);
	tr_put64(fixed + 8, idle);
	tr_put32(fixed + 16, processors);
	ag_line_frame(TR_FRAME_TICK, fixed, sizeof fixed, NULL, 0);
	ag_alone_tick(now, idle, processors);
}

void ag_tick(void)
{
	tell_time();
	ag_line_pump();
}

static void finish(void)
{
	uint8_t fixed[20];

	tr_put64(fixed, ro_guest_now());
	tr_put32(fixed + 8, event_count);
	tr_put32(fixed + 12, overflows);
	tr_put32(fixed + 16, raw_count);
	ag_line_frame(TR_FRAME_END, fixed, sizeof fixed, NULL, 0);
	if (ag_alone()) {
		close(fan); /* it would fill up while a stick is waited for */
		ag_alone_finish();
		return;
	}
	ag_line_drain();
	reboot(RB_POWER_OFF);
}

static void run(void)
{
	say_hello();
	ag_mounts_scan(fan);
	ag_kernel_log_tell();
	while (!ag_line_end_asked() && !ag_alone_over()) {
		struct pollfd wait[] = {
			{.fd = fan, .events = POLLIN},
			{.fd = ag_mounts_fd(), .events = POLLPRI},
			{.fd = ag_line_fd(),
				.events = (short)(POLLIN | (ag_line_pending() ? POLLOUT : 0))},
		};

		poll(wait, 3, WAIT_MS);
		if (wait[1].revents)
			ag_mounts_scan(fan);
		if (wait[0].revents)
			read_events();
		look_at_root();
		ag_tick();
	}
	for (int i = 0; i < 64 && read_events(); i++)
		;
	if (ag_atime)
		ag_mounts_sweep();
	finish();
}

int main(int argc, char **argv)
{
	char *cmdline = NULL;
	size_t room = 0;
	const char *init = "/init";

	(void)argc;
	if (getpid() != 1)
		return 1;
	ag_alone_begin();
	bool prepared = prepare();
	if (ag_proc >= 0 && ro_guest_read_file(ag_proc, "cmdline", &cmdline, &room) > 0)
		init = ro_guest_real_init(cmdline, "/" TR_AGENT_PATH);
	bool calibrating = unlink("/" TR_AGENT_CALIBRATE) == 0;
	if (prepared && calibrating) {
		say_hello();
		ag_calibrate();
		finish();
	}
	ag_atime = unlink("/" TR_AGENT_ATIME) == 0;
	unlink("/" TR_AGENT_PATH);
	rmdir("/" TR_AGENT_DIR);
	pid_t child = prepared ? fork() : -1;
	if (child == 0) {
		ro_guest_survive(argv[0], ag_proc, "reorder-agent");
		own_pid = getpid();
		run();
		return 0;
	}
	argv[0] = (char *)init;
	execv(init, argv);
	ag_complain(init);
	return 1;
}
