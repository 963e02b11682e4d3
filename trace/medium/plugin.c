/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The medium: an nbdkit plugin that serves a file read-only, at the pace of a modelled drive, and
 * logs every read (format: trace/read_log.h).
 *
 *   nbdkit reorder-medium-plugin.so file=ISO log=FILE [drive=NAME] [slow=K] [error=OFFSET:LENGTH]
 *          [PARAMETER=NUMBER …]
 *
 * drive: a profile of trace/medium/drive.c, "none" if not given; a PARAMETER of it (rate_inner,
 * seek_min …) behind it overrides a number of it. slow: slow motion. All times in the log are
 * modelled ones: the clock runs K times slower, the sleeps are K times longer. error: bytes that
 * cannot be read, for tests; a request that touches them takes its time, is logged and fails.
 *
 * Requests may come in parallel; the drive serves them one after the other in the order in which
 * they came. A request's line is in the file, by one write(2), before the request is answered, so
 * that killing nbdkit loses none.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "trace/medium/drive.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static char *file_path, *log_path;
static struct tr_drive_params params;
static double slow = 1;
static bool slow_given, overridden;
static uint64_t bad_offset, bad_length;

static int file_fd = -1, log_fd = -1;
static int64_t file_size;
static double start_time; /* seconds on the monotonic clock */

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* drive, and the order of lines in the log */
static struct tr_drive drive;

static double monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int set_path(char **path, const char *key, const char *value)
{
	if (*path) {
		nbdkit_error("%s= is given twice", key);
		return -1;
	}
	*path = nbdkit_absolute_path(value);
	return *path ? 0 : -1;
}

static int parse_number(const char *key, const char *value, double *number)
{
	char *end;

	*number = strtod(value, &end);
	if (end == value || *end != '\0' || !isfinite(*number)) {
		nbdkit_error("%s=%s: not a number", key, value);
		return -1;
	}
	return 0;
}

static int set_drive(const char *name)
{
	const struct tr_drive_params *profile = tr_drive_find(name);

	if (!profile) {
		nbdkit_error("drive=%s: no such drive", name);
		return -1;
	}
	if (params.name || overridden) {
		nbdkit_error("drive=%s: must be given once, before parameters of the drive", name);
		return -1;
	}
	params = *profile;
	return 0;
}

static int set_slow(const char *value)
{
	if (slow_given) {
		nbdkit_error("slow= is given twice");
		return -1;
	}
	slow_given = true;
	if (parse_number("slow", value, &slow) < 0)
		return -1;
	if (slow < 0.001 || slow > 1000) {
		nbdkit_error("slow=%s: must be from 0.001 to 1000", value);
		return -1;
	}
	return 0;
}

static int set_error(const char *value)
{
	char rest;

	if (bad_length) {
		nbdkit_error("error= is given twice");
		return -1;
	}
	if (strspn(value, "0123456789:") != strlen(value) ||
		sscanf(value, "%" SCNu64 ":%" SCNu64 "%c", &bad_offset, &bad_length, &rest) != 2 ||
		bad_length == 0 || bad_offset > INT64_MAX || bad_length > INT64_MAX) {
		nbdkit_error("error=%s: must be OFFSET:LENGTH, in bytes", value);
		return -1;
	}
	return 0;
}

static int set_param(const char *key, const char *value)
{
	double number;

	if (parse_number(key, value, &number) < 0)
		return -1;
	if (!params.name)
		params = *tr_drive_find("none");
	overridden = true;
	if (!tr_drive_param_set(&params, key, number)) {
		nbdkit_error("%s=%s: unknown parameter, or negative", key, value);
		return -1;
	}
	return 0;
}

static int medium_config(const char *key, const char *value)
{
	if (strcmp(key, "file") == 0)
		return set_path(&file_path, key, value);
	if (strcmp(key, "log") == 0)
		return set_path(&log_path, key, value);
	if (strcmp(key, "drive") == 0)
		return set_drive(value);
	if (strcmp(key, "slow") == 0)
		return set_slow(value);
	if (strcmp(key, "error") == 0)
		return set_error(value);
	return set_param(key, value);
}

static int medium_config_complete(void)
{
	if (!file_path || !log_path) {
		nbdkit_error("file= and log= must be given");
		return -1;
	}
	if (!params.name)
		params = *tr_drive_find("none");
	const char *reason = tr_drive_check(&params);
	if (reason) {
		nbdkit_error("drive: %s", reason);
		return -1;
	}
	return 0;
}

static int write_log(const char *line, size_t length)
{
	ssize_t written = write(log_fd, line, length);

	if (written == (ssize_t)length)
		return 0;
	if (written >= 0)
		errno = ENOSPC;
	nbdkit_error("%s: write: %m", log_path);
	return -1;
}

static int write_log_header(void)
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
		"reorder-livecd reads 1\n# size %" PRId64
		"\n# start %.6f\n# slow %.10g\n# drive %s\n",
		file_size, start_time, slow, params.name);

	for (size_t i = 0; tr_drive_param_name(i); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "# %s %.10g\n",
			tr_drive_param_name(i), tr_drive_param_get(&params, i));
	return write_log(text, (size_t)n);
}

static int medium_get_ready(void)
{
	file_fd = open(file_path, O_RDONLY | O_CLOEXEC);
	if (file_fd < 0 || (file_size = lseek(file_fd, 0, SEEK_END)) < 0) {
		nbdkit_error("%s: open: %m", file_path);
		return -1;
	}
	log_fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (log_fd < 0) {
		nbdkit_error("%s: open: %m", log_path);
		return -1;
	}
	tr_drive_init(&drive, &params, (uint64_t)file_size);
	start_time = monotonic();
	return write_log_header();
}

static void medium_unload(void)
{
	if (file_fd >= 0)
		close(file_fd);
	if (log_fd >= 0 && close(log_fd) < 0)
		nbdkit_error("%s: close: %m", log_path);
	free(file_path);
	free(log_path);
}

static void *medium_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t medium_get_size(void *handle)
{
	(void)handle;
	return file_size;
}

static int medium_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

/* Puts a request into the drive's queue and into the log. *done: when it is served, on the
 * monotonic clock. */
static int book(uint64_t offset, uint32_t count, double *done)
{
	char line[128];

	pthread_mutex_lock(&lock);
	double now = (monotonic() - start_time) / slow;
	double delay = tr_drive_read(&drive, now, offset, count, NULL);
	int n = snprintf(line, sizeof(line), "%.6f %" PRIu64 " %" PRIu32 " %.6f\n", now, offset,
		count, delay);
	int status = write_log(line, (size_t)n);
	*done = start_time + (delay > 0 ? drive.ready : now) * slow;
	pthread_mutex_unlock(&lock);
	return status;
}

static int read_file(char *buffer, uint32_t count, uint64_t offset)
{
	while (count > 0) {
		ssize_t n = pread(file_fd, buffer, count, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = EIO;
			nbdkit_error("%s: read at %" PRIu64 ": %m", file_path, offset);
			return -1;
		}
		buffer += n;
		count -= (uint32_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static bool is_bad(uint64_t offset, uint32_t count)
{
	return offset < bad_offset + bad_length && bad_offset < offset + count;
}

static int wait_until(double done)
{
	double left = done - monotonic();

	if (left <= 0)
		return 0;
	double seconds = floor(left);
	return nbdkit_nanosleep((unsigned)seconds, (unsigned)((left - seconds) * 1e9));
}

static int medium_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	double done;

	(void)handle;
	(void)flags;
	if (book(offset, count, &done) < 0 || read_file(buffer, count, offset) < 0)
		return -1;
	if (wait_until(done) < 0)
		return -1;
	if (!is_bad(offset, count))
		return 0;
	nbdkit_set_error(EIO);
	return -1;
}

static struct nbdkit_plugin plugin = {
	.name = "reorder-medium",
	.longname = "reorder-livecd: a medium with a read log and a modelled drive",
	.unload = medium_unload,
	.config = medium_config,
	.config_complete = medium_config_complete,
	.config_help = "file=FILE  (required) What to serve.\n"
		       "log=FILE   (required) Where to log the reads.\n"
		       "drive=NAME            cd, dvd, hdd, usb2, usb3, bmc or none (default).\n"
		       "slow=K                Slow motion.\n"
		       "error=OFFSET:LENGTH   Bytes that cannot be read.",
	.magic_config_key = "file",
	.get_ready = medium_get_ready,
	.open = medium_open,
	.get_size = medium_get_size,
	.can_multi_conn = medium_can_multi_conn,
	.pread = medium_pread,
};

NBDKIT_REGISTER_PLUGIN(plugin)
