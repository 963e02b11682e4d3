/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The new image, written from its start to its end; only the superblock is set at the end. */
#ifndef RO_SPLICE_IMAGE_WRITER_H
#define RO_SPLICE_IMAGE_WRITER_H

#include "reorder/image/byte_source.h"

typedef struct ro_splice_writer ro_splice_writer;

/* Creates the file, which must not exist. */
ro_splice_writer *ro_splice_writer_new(const char *path, GError **error);

/* Bytes written so far. */
guint64 ro_splice_writer_position(const ro_splice_writer *writer);

gboolean ro_splice_writer_append(
	ro_splice_writer *writer, gconstpointer data, gsize size, GError **error);
gboolean ro_splice_writer_copy(ro_splice_writer *writer, const img_source *source, guint64 start,
	guint64 size, GError **error);

/* Zeros up to the next multiple of unit. */
gboolean ro_splice_writer_align(ro_splice_writer *writer, guint64 unit, GError **error);

/* Writes over the start of the file and closes it. */
gboolean ro_splice_writer_finish(
	ro_splice_writer *writer, gconstpointer head, gsize size, GError **error);

/* Removes the file unless it is finished. Accepts NULL. */
void ro_splice_writer_free(ro_splice_writer *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_splice_writer, ro_splice_writer_free)

#endif
