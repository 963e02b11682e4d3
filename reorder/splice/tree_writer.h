/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the inode table and the directory table.
 *
 * What the plan names, and every directory on the way to it, lies together at the end of both
 * tables, next to the small tables that a mount reads; the rest lies before it in the order of the
 * tree. The format wants each inode before the listings that name it, and so the root last.
 * Inodes keep their numbers.
 */
#ifndef RO_SPLICE_TREE_WRITER_H
#define RO_SPLICE_TREE_WRITER_H

#include "reorder/splice/inode.h"

typedef struct {
	ro_splice_metadata inodes, directories;
	guint64 *references; /* of all inodes, by index */
} ro_splice_tables;

void ro_splice_tables_clear(ro_splice_tables *tables);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ro_splice_tables, ro_splice_tables_clear)

/* compressor: borrowed, NULL to store the tables as they are. */
gboolean ro_splice_tables_write(ro_splice_tables *tables, const ro_splice_inode_source *source,
	const ro_plan *plan, ro_splice_compressor *compressor, GError **error);

#endif
