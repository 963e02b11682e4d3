/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sweep runs in a process of its own: a drive that takes for ever over a bad sector holds up
 * that one only.
 *
 * While it runs, others look for filesystems on the medium (udev, blkid). What they read are small
 * extents of the map, which are read first and through the page cache: the others find them there,
 * and the drive need not leave the sweep for them.
 *
 * The rest it reads past the page cache (O_DIRECT): what is in the store will not be asked of the
 * medium again, so that a second copy would only take memory, and the size of the requests does not
 * depend on the read-ahead that the guest is set to.
 */
#include "dm/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dm/names.h"

enum { CHUNK = 1 << 20, SMALL = 1 << 20, POLL_MS = 60000, READ_END = 0, WRITE_END = 1 };

/* What the reader tells: in shared memory. */
struct progress {
	_Atomic uint64_t bytes;
	_Atomic int error;
};

static const uint64_t reserve_min = 256 << 20;

int dmx_store_create(uint64_t bytes)
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

static bool meminfo(const char *text, const char *key, uint64_t *bytes)
{
	uint64_t kib;
	const char *line = strstr(text, key);

	if (!line || sscanf(line + strlen(key), " %" SCNu64, &kib) != 1)
		return false;
	*bytes = kib * 1024;
	return true;
}

bool dmx_store_affordable(int proc, uint64_t bytes)
{
	char text[8192];
	uint64_t total, available;
	int fd = openat(proc, "meminfo", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (!meminfo(text, "MemTotal:", &total) || !meminfo(text, "MemAvailable:", &available))
		return false;
	uint64_t reserve = total / 4 > reserve_min ? total / 4 : reserve_min;
	return available >= reserve && bytes <= available - reserve;
}

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *memory(size_t size, int flags)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void set_direct(int fd, bool direct)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

/* Bytes that were read, fewer only at an error: *error. */
static size_t read_chunk(int fd, char *buffer, size_t length, uint64_t offset, int *error)
{
	size_t done = 0;

	while (done < length) {
		ssize_t n = pread(fd, buffer + done, length - done, (off_t)(offset + done));
		if (n < 0 && errno == EINVAL && fcntl(fd, F_GETFL) & O_DIRECT) {
			set_direct(fd, false);
			continue;
		}
		if (n <= 0) {
			*error = n < 0 ? errno : EIO;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

static bool write_chunk(int store, const char *buffer, size_t length, uint64_t offset, int *error)
{
	while (length > 0) {
		ssize_t n = pwrite(store, buffer, length, (off_t)offset);
		if (n <= 0) {
			*error = n < 0 ? errno : ENOSPC;
			return false;
		}
		buffer += n;
		offset += (uint64_t)n;
		length -= (size_t)n;
	}
	return true;
}

static bool is_small(const struct dmx_extent *extent)
{
	return extent->length <= SMALL;
}

static int read_extent(
	int fd, int store, char *buffer, const struct dmx_extent *extent, struct progress *progress)
{
	int error = 0;

	for (uint64_t at = 0; at < extent->length && !error;) {
		uint64_t left = extent->length - at;
		size_t length = left < CHUNK ? (size_t)left : CHUNK;
		uint64_t stored = progress->bytes;

		length = read_chunk(fd, buffer, length, extent->offset + at, &error);
		if (!is_small(extent)) /* where O_DIRECT could not be had */
			posix_fadvise(fd, (off_t)(extent->offset + at), (off_t)length,
				POSIX_FADV_DONTNEED);
		if (!write_chunk(store, buffer, length, DMX_STORE_LEAD + stored, &error))
			break;
		progress->bytes = stored + length;
		at += length;
	}
	return error;
}

/* Errors are those of the sweep that follows. */
static void cache_small(int medium, const struct dmx_extent *extents, size_t count, char *buffer)
{
	set_direct(medium, false);
	for (size_t i = 0; i < count; i++)
		if (is_small(&extents[i]))
			(void)!pread(medium, buffer, extents[i].length, (off_t)extents[i].offset);
}

static void read_all(int medium, const struct dmx_extent *extents, size_t count, int store,
	struct progress *progress)
{
	char *buffer = memory(CHUNK, MAP_PRIVATE);
	int error = buffer ? 0 : ENOMEM;

	if (!error)
		cache_small(medium, extents, count, buffer);
	for (size_t i = 0; i < count && !error; i++) {
		set_direct(medium, !is_small(&extents[i]));
		error = read_extent(medium, store, buffer, &extents[i], progress);
	}
	progress->error = error;
}

/* FALSE if the time is over first. */
static bool wait_for_end(int fd, uint64_t deadline)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};

	for (;;) {
		uint64_t now = monotonic();
		if (now >= deadline)
			return false;
		uint64_t left = (deadline - now) / 1000000;
		if (poll(&end, 1, left < POLL_MS ? (int)left + 1 : POLL_MS) > 0)
			return true;
	}
}

struct dmx_swept dmx_sweep(
	int medium, const struct dmx_extent *extents, size_t count, int store, uint64_t deadline)
{
	struct progress *progress = memory(sizeof *progress, MAP_SHARED);
	int ends[2];

	if (!progress || pipe2(ends, O_CLOEXEC) < 0)
		return (struct dmx_swept){.error = errno};
	progress->error = ECANCELED; /* of a reader that somebody ends */
	pid_t reader = fork();
	if (reader == 0) {
		read_all(medium, extents, count, store, progress);
		_exit(0);
	}
	close(ends[WRITE_END]); /* the end of the reader is the end of the pipe */
	int error = reader < 0 ? errno : 0;
	if (reader > 0 && !wait_for_end(ends[READ_END], deadline)) {
		kill(reader, SIGKILL);
		error = ETIMEDOUT;
	} else if (reader > 0) {
		waitpid(reader, NULL, 0);
	}
	close(ends[READ_END]);
	struct dmx_swept swept = {
		.bytes = progress->bytes, .error = error ? error : progress->error};
	munmap(progress, sizeof *progress);
	return swept;
}
