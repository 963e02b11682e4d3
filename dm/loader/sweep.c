/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sweep runs in a process of its own: a drive that takes for ever over a bad sector holds up
 * that one only.
 *
 * It reads past the page cache (O_DIRECT): what is in the store will not be asked of the medium
 * again, so that a second copy would only take memory, and the size of the requests does not depend
 * on the read-ahead that the guest is set to.
 */
#include "dm/loader/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reorder/guest/guest.h"

enum { CHUNK = 1 << 20, READ_END = 0, WRITE_END = 1 };

/* What the reader tells: in shared memory. */
struct progress {
	_Atomic uint64_t bytes;
	_Atomic int error;
};

static void *shared_memory(size_t size, int flags)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
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
	if (!(fcntl(fd, F_GETFL) & O_DIRECT))
		posix_fadvise(fd, (off_t)offset, (off_t)length, POSIX_FADV_DONTNEED);
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

static int read_extent(
	int fd, int store, char *buffer, const struct dmx_extent *extent, struct progress *progress)
{
	int error = 0;

	for (uint64_t at = 0; at < extent->length && !error;) {
		uint64_t left = extent->length - at;
		size_t length = left < CHUNK ? (size_t)left : CHUNK;
		uint64_t stored = progress->bytes;

		length = read_chunk(fd, buffer, length, extent->offset + at, &error);
		if (!write_chunk(store, buffer, length, DMX_STORE_LEAD + stored, &error))
			break;
		progress->bytes = stored + length;
		at += length;
	}
	return error;
}

static void read_all(const struct hl_medium *medium, const struct dmx_extent *extents, size_t count,
	int store, struct progress *progress)
{
	char *buffer = shared_memory(CHUNK, MAP_PRIVATE);
	int error = buffer ? 0 : ENOMEM;

	set_direct(medium->fd, true);
	for (size_t i = 0; i < count && !error; i++)
		error = read_extent(medium->fd, store, buffer, &extents[i], progress);
	progress->error = error;
}

/* FALSE if the time is over first. */
static bool wait_for_end(int fd, uint64_t deadline)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};

	for (;;) {
		uint64_t now = ro_guest_now();
		if (now >= deadline)
			return false;
		if (poll(&end, 1, (int)((deadline - now) / 1000000 + 1)) > 0)
			return true;
	}
}

struct hl_swept hl_sweep(const struct hl_medium *medium, const struct dmx_extent *extents,
	size_t count, int store, uint64_t deadline)
{
	struct progress *progress = shared_memory(sizeof *progress, MAP_SHARED);
	int ends[2];

	if (!progress || pipe2(ends, O_CLOEXEC) < 0)
		return (struct hl_swept){.error = errno};
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
	}
	close(ends[READ_END]);
	return (struct hl_swept){
		.bytes = progress->bytes, .error = error ? error : progress->error};
}
