/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes of an inode in the new image: those of the old one, with other positions in them. It
 * stays basic or extended as it was, unless a position or size no longer fits into the basic form.
 */
#ifndef RO_SPLICE_INODE_H
#define RO_SPLICE_INODE_H

#include "reorder/splice/listing.h"
#include "reorder/splice/fragments.h"

/* What an inode is made of. */
typedef struct {
	const img_tree *tree;
	const GArray *runs; /* of ro_splice_run */
	const ro_splice_fragments *fragments;
	img_metadata old; /* inode table */
} ro_splice_inode_source;

/* Appends to raw. listing: of directories. */
gboolean ro_splice_inode_make(const ro_splice_inode_source *source, guint32 index,
	const ro_splice_listing *listing, GByteArray *raw, GError **error);

#endif
