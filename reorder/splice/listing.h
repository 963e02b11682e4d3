/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the listing of a directory, and the index that lets the kernel find a name in a large one
 * without reading all of it (Linux: fs/squashfs/namei.c, get_dir_index_using_name).
 */
#ifndef RO_SPLICE_LISTING_H
#define RO_SPLICE_LISTING_H

#include "reorder/image/image_tree.h"
#include "reorder/splice/metadata_writer.h"

typedef struct {
	guint64 reference; /* of the listing */
	gsize size;        /* bytes */
	GByteArray *index; /* as it follows an extended inode */
	guint index_count; /* entries of it */
} ro_splice_listing;

void ro_splice_listing_clear(ro_splice_listing *listing);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ro_splice_listing, ro_splice_listing_clear)

/* references: of all inodes in the new inode table; those of the directory's entries are used. */
gboolean ro_splice_listing_write(ro_splice_listing *listing, ro_splice_metadata *directories,
	const img_tree *tree, guint32 directory, const guint64 *references, GError **error);

#endif
