/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A window of a file that is read: the whole ISO, or the part of it that a live image occupies.
 * Images are read where they lie; nothing is extracted to look at it.
 */
#ifndef IMG_BYTE_SOURCE_H
#define IMG_BYTE_SOURCE_H

#include <glib.h>

typedef struct {
	int fd;            /* borrowed; opened read-only */
	guint64 offset;    /* bytes into the file where the window starts */
	guint64 size;      /* bytes */
	const char *label; /* for messages, e.g. "in.iso:/live/filesystem.squashfs"; borrowed */
} img_source;

/* Reads exactly length bytes at position (from the start of the window), or fails
 * (RO_ERROR_UNSUITABLE past the end: "truncated"). */
gboolean img_source_read(
	const img_source *source, guint64 position, void *buffer, gsize length, GError **error);

#endif
