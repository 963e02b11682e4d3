/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/read_tail.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct tr_read_tail {
	char *path;
	int fd;
	char buffer[4096]; /* what is not used up yet, NUL-terminated */
	gsize length;
};

tr_read_tail *tr_read_tail_new(const char *path)
{
	tr_read_tail *tail = g_new0(tr_read_tail, 1);

	tail->path = g_strdup(path);
	tail->fd = -1;
	return tail;
}

void tr_read_tail_free(tr_read_tail *tail)
{
	if (!tail)
		return;
	if (tail->fd >= 0)
		close(tail->fd);
	g_free(tail->path);
	g_free(tail);
}

static void fill(tr_read_tail *tail)
{
	if (tail->fd < 0)
		tail->fd = open(tail->path, O_RDONLY | O_CLOEXEC);
	if (tail->fd < 0)
		return;
	ssize_t n =
		read(tail->fd, tail->buffer + tail->length, sizeof tail->buffer - 1 - tail->length);
	if (n > 0)
		tail->length += (gsize)n;
	tail->buffer[tail->length] = '\0';
}

/* The first line, with its newline; FALSE if there is no whole one. */
static gboolean take_line(tr_read_tail *tail, char *line)
{
	const char *end = memchr(tail->buffer, '\n', tail->length);

	if (!end && tail->length == sizeof tail->buffer - 1)
		end = tail->buffer + tail->length - 1; /* no line of ours is that long */
	if (!end)
		return FALSE;
	gsize length = (gsize)(end - tail->buffer) + 1;
	memcpy(line, tail->buffer, length);
	line[length] = '\0';
	tail->length -= length;
	memmove(tail->buffer, tail->buffer + length, tail->length + 1);
	return TRUE;
}

gboolean tr_read_tail_next(tr_read_tail *tail, tr_read *read)
{
	char line[sizeof tail->buffer];

	for (;;) {
		if (!take_line(tail, line)) {
			fill(tail);
			if (!take_line(tail, line))
				return FALSE;
		}
		if (tr_read_log_parse(line, read))
			return TRUE;
	}
}
