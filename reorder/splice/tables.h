/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small tables behind the directories: fragments, export, ids, extended attributes. */
#ifndef RO_SPLICE_TABLES_H
#define RO_SPLICE_TABLES_H

#include "reorder/splice/fragments.h"
#include "reorder/splice/compressor.h"
#include "reorder/splice/image_writer.h"

/*
 * Numbers the fragment blocks in the order in which they lie in the new image, so that those that
 * are read together are described together. Everything has to have its new position.
 */
void ro_splice_number_fragments(ro_splice_fragments *fragments, const GArray *runs);

/* Each appends its table to the image and sets *position to what the superblock has to say. The
 * compressor may be NULL: stored as it is. */
gboolean ro_splice_write_fragments(ro_splice_writer *writer, const ro_splice_fragments *fragments,
	const GArray *runs, ro_splice_compressor *compressor, guint64 *position, GError **error);

/* references: of all inodes by index. */
gboolean ro_splice_write_exports(ro_splice_writer *writer, const img_tree *tree,
	const guint64 *references, ro_splice_compressor *compressor, guint64 *position,
	GError **error);

/* These two move the stored blocks as they are. */
gboolean ro_splice_copy_ids(
	ro_splice_writer *writer, const img_tree *tree, guint64 *position, GError **error);
gboolean ro_splice_copy_xattrs(
	ro_splice_writer *writer, const img_tree *tree, guint64 *position, GError **error);

#endif
