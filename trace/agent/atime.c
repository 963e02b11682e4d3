/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access times as a witness: they are kept strictly, and swept up at the end of the boot. */
#include "trace/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

enum { DEPTH_MAX = 128, SIGN_OF_LIFE = 256 };

/* What a sweep is doing. */
struct sweep {
	uint32_t id;
	dev_t dev;
	int64_t started; /* of the kernel, in the time of the clock, ns */
	char path[TR_PATH_MAX];
	unsigned seen;
};

static const struct {
	unsigned long vfs, mount;
} kept[] = {{ST_NOSUID, MS_NOSUID}, {ST_NODEV, MS_NODEV}, {ST_NOEXEC, MS_NOEXEC}};

bool ag_atime_keep(int fd, int *reason)
{
	enum { LAX = ST_RELATIME | ST_NOATIME | ST_NODIRATIME };
	unsigned long flags = MS_REMOUNT | MS_BIND | MS_STRICTATIME;
	struct statvfs vfs;

	*reason = 0;
	if (fstatvfs(fd, &vfs) < 0 || vfs.f_flag & ST_RDONLY)
		return false;
	if (!(vfs.f_flag & LAX))
		return true;
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (vfs.f_flag & kept[i].vfs)
			flags |= kept[i].mount;
	/* Of this mount only, not of the filesystem. Whoever stands in it keeps it busy. */
	if (fchdir(fd) < 0 || mount("none", ".", NULL, flags, NULL) < 0)
		*reason = errno;
	(void)!chdir("/");
	return *reason == 0;
}

static int64_t nanoseconds(const struct timespec *time)
{
	return time->tv_sec * 1000000000ll + time->tv_nsec;
}

static void tell(struct sweep *sweep, const struct stat *st)
{
	int64_t time = nanoseconds(&st->st_atim) - sweep->started;
	uint8_t fixed[21];

	if (st->st_dev != sweep->dev || time < 0 ||
		(!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode)))
		return;
	tr_put64(fixed, (uint64_t)time);
	fixed[8] = S_ISDIR(st->st_mode) ? 'd' : S_ISLNK(st->st_mode) ? 'l' : 'f';
	tr_put32(fixed + 9, sweep->id);
	tr_put32(fixed + 13, major(st->st_dev));
	tr_put32(fixed + 17, minor(st->st_dev));
	ag_line_frame(TR_FRAME_ATIME, fixed, sizeof fixed, sweep->path, strlen(sweep->path));
}

static void sweep_directory(struct sweep *sweep, int fd, int depth);

/* Adds the name to the path; returns where that ended before, or 0 if it gets too long. */
static size_t push(struct sweep *sweep, const char *name)
{
	size_t length = strlen(sweep->path);
	const char *slash = length > 1 ? "/" : "";

	if (length + strlen(name) + 2 > sizeof sweep->path)
		return 0;
	snprintf(sweep->path + length, sizeof sweep->path - length, "%s%s", slash, name);
	return length;
}

static void sweep_entry(struct sweep *sweep, int directory, const char *name, int depth)
{
	struct stat st;
	size_t length;

	if (!strcmp(name, ".") || !strcmp(name, "..") ||
		fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		!(length = push(sweep, name)))
		return;
	if (++sweep->seen % SIGN_OF_LIFE == 0)
		ag_tick();
	tell(sweep, &st);
	if (S_ISDIR(st.st_mode) && st.st_dev == sweep->dev && depth < DEPTH_MAX) {
		int fd = openat(directory, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC);
		sweep_directory(sweep, fd, depth + 1);
	}
	sweep->path[length] = '\0';
}

/* Takes the descriptor. */
static void sweep_directory(struct sweep *sweep, int fd, int depth)
{
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;

	if (!entries) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(entries));)
		sweep_entry(sweep, fd, entry->d_name, depth);
	closedir(entries);
}

void ag_atime_sweep(int point, const char *path, uint32_t id)
{
	static struct sweep sweep;
	struct timespec clock;
	struct stat st;
	int fd = openat(point, ".", O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || strlen(path) >= sizeof sweep.path) {
		close(fd);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &clock);
	sweep = (struct sweep){.id = id, .dev = st.st_dev};
	sweep.started = nanoseconds(&clock) - (int64_t)ro_guest_now();
	strcpy(sweep.path, path);
	tell(&sweep, &st);
	sweep_directory(&sweep, fd, 0);
}
