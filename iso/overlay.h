/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ISO as it will be: the bytes of a file with changes over them that nobody has written yet. So
 * checksums of the new ISO are known before its first byte is written. Offsets and sizes are bytes.
 */
#ifndef LI_OVERLAY_H
#define LI_OVERLAY_H

#include "iso/volume_tree.h"

typedef struct {
	guint64 offset, length;
	guint8 *data;    /* the new bytes, owned; NULL: those of a file, then zeros */
	int fd;          /* that file; borrowed */
	guint64 content; /* its size, at most length */
} li_change;

typedef struct {
	int fd; /* the file as it is; borrowed */
	guint64 size;
	GArray *changes; /* of li_change, by offset; no two overlap */
} li_overlay;

li_overlay *li_overlay_new(int fd, guint64 size);
void li_overlay_free(li_overlay *overlay);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(li_overlay, li_overlay_free)

/* Adds a change. RO_ERROR_UNSUITABLE if it overlaps another one or the end: on a sound ISO nothing
 * lies in two places. */
gboolean li_overlay_put(
	li_overlay *overlay, guint64 offset, const void *data, gsize size, GError **error);
gboolean li_overlay_put_file(li_overlay *overlay, guint64 offset, guint64 length, int fd,
	guint64 content, GError **error);

/* Exactly size bytes. */
gboolean li_overlay_read(
	const li_overlay *overlay, guint64 offset, void *buffer, gsize size, GError **error);

/* Likewise of a file on the ISO. */
gboolean li_overlay_read_node(const li_overlay *overlay, const li_node *node, guint64 position,
	void *buffer, gsize size, GError **error);
gboolean li_overlay_put_node(li_overlay *overlay, const li_node *node, guint64 position,
	const void *data, gsize size, GError **error);

/* Writes the changes, and nothing else, to a file that has the other bytes already. name is for
 * messages. */
gboolean li_overlay_write(const li_overlay *overlay, int fd, const char *name, GError **error);

/* RO_ERROR_FAILED, with the first place, unless the file is what the overlay says; changes_only:
 * where it says something new. */
gboolean li_overlay_compare(
	const li_overlay *overlay, int fd, const char *name, gboolean changes_only, GError **error);

#endif
