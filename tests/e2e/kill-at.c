/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For LD_PRELOAD: dies by SIGKILL at the KILL_AT-th call, counted from the creation of a journal
 * on, that changes a file. KILL_HOW: "before" it, "after" it, or in the middle of what it writes
 * ("torn"). Without KILL_AT the number of the calls goes to the file KILL_COUNT.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counting, calls;

static int now(const char *how)
{
	const char *at = getenv("KILL_AT"), *wanted = getenv("KILL_HOW");

	return at && wanted && calls == atoi(at) && strcmp(how, wanted) == 0;
}

static void die(void)
{
	syscall(SYS_kill, getpid(), SIGKILL);
}

static void begin(void)
{
	calls += counting;
	if (counting && now("before"))
		die();
}

static long end(long result)
{
	if (counting && now("after"))
		die();
	return result;
}

static size_t part(size_t size)
{
	return counting && now("torn") ? size / 2 + 1 : size;
}

static void torn(void)
{
	if (counting && now("torn"))
		die();
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at)
{
	begin();
	ssize_t done = syscall(SYS_pwrite64, fd, data, part(size), at);
	torn();
	return end(done);
}

ssize_t copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t size, unsigned flags)
{
	begin();
	ssize_t done = syscall(SYS_copy_file_range, in, in_at, out, out_at, part(size), flags);
	torn();
	return end(done);
}

int fsync(int fd)
{
	begin();
	return (int)end(syscall(SYS_fsync, fd));
}

int rename(const char *from, const char *to)
{
	begin();
	return (int)end(syscall(SYS_rename, from, to));
}

int unlink(const char *path)
{
	begin();
	return (int)end(syscall(SYS_unlink, path));
}

int open64(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
	va_end(rest);
	if (strstr(path, ".reorder-undo") && (flags & O_CREAT || getenv("KILL_UNDO")))
		counting = 1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("KILL_COUNT");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%d\n", calls);
	fclose(file);
}
