/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which tails go into which fragment block.
 *
 * A fragment block stays as it is if it holds none of the plan's tails, or (nearly) nothing else:
 * then all of it moves to the plan's data. The others are taken apart: the plan's tails are packed
 * together in the order of the plan, and what is left is packed together in its old order.
 */
#ifndef RO_SPLICE_FRAGMENTS_H
#define RO_SPLICE_FRAGMENTS_H

#include "reorder/plan/plan.h"
#include "reorder/splice/spans.h"

/* Bytes of an unpacked fragment block that belong to one file or to several equal ones. */
typedef struct {
	ro_span span;   /* (fragment << 32) | offset */
	gboolean hot;   /* one of its files is in the plan */
	guint32 pack;   /* index of the new block, IMG_NONE: stays where it is */
	guint32 offset; /* in the new block */
} ro_splice_tail;

/* A new fragment block. */
typedef struct {
	guint32 size;      /* bytes, unpacked */
	guint32 size_word; /* as img_fragment's, once it is packed */
	guint64 position;  /* in the new image, once it is written */
} ro_splice_pack;

typedef struct {
	const img_tree *tree;
	GArray *tails;     /* of ro_splice_tail, by span */
	GArray *packs;     /* of ro_splice_pack: those with the plan's tails, then the others */
	guint hot_packs;   /* how many of them hold the plan's tails */
	gboolean *kept;    /* for each fragment block: it stays as it is */
	guint32 *new_pack; /* number of each pack in the new fragment table */
	guint32 *new_kept; /* number of each fragment block that stays */
	guint32 count;     /* of fragment blocks in the new image */
} ro_splice_fragments;

ro_splice_fragments *ro_splice_fragments_new(const img_tree *tree, const ro_plan *plan);
void ro_splice_fragments_free(ro_splice_fragments *fragments);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_splice_fragments, ro_splice_fragments_free)

/* Bytes of a file that lie in a fragment block. */
guint32 ro_splice_tail_size(const img_tree *tree, const img_inode *inode);

/* The tail of a file, NULL if it has none. */
ro_splice_tail *ro_splice_fragments_tail(
	const ro_splice_fragments *fragments, const img_inode *inode);

/* The tails of a fragment block: those from *first on up to *end. */
void ro_splice_fragments_members(
	const ro_splice_fragments *fragments, guint32 fragment, guint *first, guint *end);

#endif
