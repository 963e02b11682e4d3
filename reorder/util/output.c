/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/util/error.h"

struct ro_output {
	char *path, *temp_path;
	int fd;
	gboolean force, committed;
};

static gboolean check_target(const char *path, gboolean force, int input_fd, GError **error)
{
	struct stat target, input;

	if (stat(path, &target) < 0) {
		if (lstat(path, &target) == 0)
			return ro_fail(error, RO_ERROR_USAGE,
				"%s: a symlink that leads nowhere; remove it first", path);
		return TRUE;
	}
	if (input_fd >= 0 && fstat(input_fd, &input) == 0 && input.st_dev == target.st_dev &&
		input.st_ino == target.st_ino)
		return ro_fail(error, RO_ERROR_USAGE,
			"%s: this is the input itself; name another output", path);
	if (!S_ISREG(target.st_mode))
		return ro_fail(
			error, RO_ERROR_USAGE, "%s: not a regular file; name another output", path);
	if (!force)
		return ro_fail(
			error, RO_ERROR_USAGE, "%s: exists; use --force to replace it", path);
	return TRUE;
}

/* The file that a symlink leads to is what is replaced, not the link. */
static char *real_target(const char *path)
{
	g_autofree char *resolved = realpath(path, NULL);
	return g_strdup(resolved ? resolved : path);
}

ro_output *ro_output_new(const char *path, gboolean force, int input_fd, GError **error)
{
	if (!check_target(path, force, input_fd, error))
		return NULL;
	ro_output *output = g_new0(ro_output, 1);
	output->path = real_target(path);
	output->force = force;
	output->temp_path = g_strconcat(output->path, ".tmp-XXXXXX", NULL);
	output->fd = g_mkstemp_full(output->temp_path, O_RDWR | O_CLOEXEC, 0666);
	if (output->fd < 0) {
		int saved = errno;
		output->committed = TRUE; /* nothing to remove */
		ro_output_free(output);
		ro_fail_errno(error, saved, "%s: cannot be created", path);
		return NULL;
	}
	return output;
}

int ro_output_fd(const ro_output *output)
{
	return output->fd;
}

const char *ro_output_temp_path(const ro_output *output)
{
	return output->temp_path;
}

static void sync_directory(const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* Some filesystems cannot sync a directory; the file itself is safe by then. */
	(void)!fsync(fd);
	close(fd);
}

gboolean ro_output_put(ro_output *output, const void *bytes, gsize length, GError **error)
{
	const char *p = bytes;

	while (length > 0) {
		ssize_t n = write(output->fd, p, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ro_fail_errno(error, errno, "%s: cannot be written", output->path);
		p += n;
		length -= (gsize)n;
	}
	return TRUE;
}

/* What has come to be there since the run began is not replaced either, where the filesystem knows
 * how. */
static gboolean put_in_place(const ro_output *output)
{
	if (!output->force) {
		if (renameat2(AT_FDCWD, output->temp_path, AT_FDCWD, output->path,
			    RENAME_NOREPLACE) == 0)
			return TRUE;
		if (errno != EINVAL && errno != ENOSYS)
			return FALSE;
	}
	return rename(output->temp_path, output->path) == 0;
}

gboolean ro_output_commit(ro_output *output, GError **error)
{
	if (fsync(output->fd) < 0)
		return ro_fail_errno(error, errno, "%s: cannot be written", output->path);
	if (!put_in_place(output))
		return ro_fail_errno(
			error, errno, "%s: cannot be renamed into place", output->path);
	output->committed = TRUE;
	sync_directory(output->path);
	return TRUE;
}

void ro_output_free(ro_output *output)
{
	if (!output)
		return;
	if (output->fd >= 0)
		close(output->fd);
	if (!output->committed)
		unlink(output->temp_path);
	g_free(output->path);
	g_free(output->temp_path);
	g_free(output);
}

gboolean ro_output_write(
	const char *path, gboolean force, const char *text, gssize length, GError **error)
{
	g_autoptr(ro_output) output = ro_output_new(path, force, -1, error);
	gsize size = length < 0 ? strlen(text) : (gsize)length;

	return output && ro_output_put(output, text, size, error) &&
	       ro_output_commit(output, error);
}
