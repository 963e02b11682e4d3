/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/image_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { BUFFER_SIZE = 1 << 20 };

struct ro_splice_writer {
	char *path;
	int fd;           /* -1 once it is closed */
	guint64 position; /* of the end of the buffer */
	gsize used;
	gboolean finished;
	guint8 buffer[BUFFER_SIZE];
};

ro_splice_writer *ro_splice_writer_new(const char *path, GError **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	ro_splice_writer *writer;

	if (fd < 0) {
		ro_fail_errno(error, errno, "%s: create", path);
		return NULL;
	}
	writer = g_new0(ro_splice_writer, 1);
	writer->path = g_strdup(path);
	writer->fd = fd;
	return writer;
}

guint64 ro_splice_writer_position(const ro_splice_writer *writer)
{
	return writer->position;
}

static gboolean write_at(
	ro_splice_writer *writer, guint64 position, const guint8 *data, gsize size, GError **error)
{
	while (size > 0) {
		ssize_t done = pwrite(writer->fd, data, size, (off_t)position);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return ro_fail_errno(
				error, done < 0 ? errno : ENOSPC, "%s: write", writer->path);
		data += done;
		position += (guint64)done;
		size -= (gsize)done;
	}
	return TRUE;
}

static gboolean flush(ro_splice_writer *writer, GError **error)
{
	gsize size = writer->used;

	writer->used = 0;
	return !ro_interrupted(error) &&
	       write_at(writer, writer->position - size, writer->buffer, size, error);
}

/* Where the next bytes go, and in *size how many of the wanted ones; NULL on failure. */
static guint8 *room(ro_splice_writer *writer, gsize *size, GError **error)
{
	if (writer->used == BUFFER_SIZE && !flush(writer, error))
		return NULL;
	*size = MIN(*size, BUFFER_SIZE - writer->used);
	return writer->buffer + writer->used;
}

static void advance(ro_splice_writer *writer, gsize size)
{
	writer->used += size;
	writer->position += size;
}

gboolean ro_splice_writer_append(
	ro_splice_writer *writer, gconstpointer data, gsize size, GError **error)
{
	const guint8 *from = data;

	while (size > 0) {
		gsize step = size;
		guint8 *to = room(writer, &step, error);

		if (!to)
			return FALSE;
		memcpy(to, from, step);
		advance(writer, step);
		from += step;
		size -= step;
	}
	return TRUE;
}

gboolean ro_splice_writer_copy(ro_splice_writer *writer, const img_source *source, guint64 start,
	guint64 size, GError **error)
{
	while (size > 0) {
		gsize step = (gsize)MIN(size, BUFFER_SIZE);
		guint8 *to = room(writer, &step, error);

		if (!to || !img_source_read(source, start, to, step, error))
			return FALSE;
		advance(writer, step);
		start += step;
		size -= step;
	}
	return TRUE;
}

gboolean ro_splice_writer_align(ro_splice_writer *writer, guint64 unit, GError **error)
{
	static const guint8 zeros[4096];
	guint64 left = (unit - writer->position % unit) % unit;

	while (left > 0) {
		gsize step = (gsize)MIN(left, sizeof(zeros));

		if (!ro_splice_writer_append(writer, zeros, step, error))
			return FALSE;
		left -= step;
	}
	return TRUE;
}

gboolean ro_splice_writer_finish(
	ro_splice_writer *writer, gconstpointer head, gsize size, GError **error)
{
	int fd;

	if (!flush(writer, error) || !write_at(writer, 0, head, size, error))
		return FALSE;
	fd = writer->fd;
	writer->fd = -1;
	if (close(fd) < 0)
		return ro_fail_errno(error, errno, "%s: close", writer->path);
	writer->finished = TRUE;
	return TRUE;
}

void ro_splice_writer_free(ro_splice_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	if (!writer->finished)
		unlink(writer->path);
	g_free(writer->path);
	g_free(writer);
}
