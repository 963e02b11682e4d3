/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/pipe_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/util/error.h"

static char *path_of(const tr_pipe_pair *pair, const char *suffix)
{
	return g_strconcat(pair->base, suffix, NULL);
}

static int make_pipe(const tr_pipe_pair *pair, const char *suffix, int flags, GError **error)
{
	g_autofree char *path = path_of(pair, suffix);

	unlink(path);
	int fd = mkfifo(path, 0600) < 0 ? -1 : open(path, flags | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		ro_fail_errno(error, errno, "%s", path);
	return fd;
}

gboolean tr_pipe_pair_open(
	tr_pipe_pair *pair, const char *directory, const char *name, GError **error)
{
	*pair = (tr_pipe_pair){
		.base = g_build_filename(directory, name, NULL), .in = -1, .out = -1};
	/* For writing only it could not be opened before there is a reader. */
	pair->in = make_pipe(pair, ".in", O_RDWR, error);
	if (pair->in < 0)
		return FALSE;
	pair->out = make_pipe(pair, ".out", O_RDONLY, error);
	return pair->out >= 0;
}

static void close_end(const tr_pipe_pair *pair, const char *suffix, int fd)
{
	g_autofree char *path = path_of(pair, suffix);

	if (fd >= 0)
		close(fd);
	unlink(path);
}

void tr_pipe_pair_close(tr_pipe_pair *pair)
{
	if (!pair->base)
		return;
	close_end(pair, ".in", pair->in);
	close_end(pair, ".out", pair->out);
	g_free(pair->base);
	*pair = (tr_pipe_pair){0};
}
