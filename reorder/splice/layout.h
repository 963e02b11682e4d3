/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of the data area of the new image.
 *
 * Cold data keeps its order. The plan's data follows (layout end) or precedes it (front): the
 * blocks of its files in the order of the plan, and among them each new fragment block right behind
 * the blocks of the file whose tail is the first in it, for that is when a boot asks for it.
 */
#ifndef RO_SPLICE_LAYOUT_H
#define RO_SPLICE_LAYOUT_H

#include "reorder/splice/fragments.h"

typedef enum { RO_SPLICE_RUN, RO_SPLICE_PACK } ro_splice_kind;

typedef struct {
	ro_splice_kind kind;
	guint index; /* into the runs or the packs */
} ro_splice_item;

/* Every run and every pack once: array of ro_splice_item. */
GArray *ro_splice_order(
	const GArray *runs, const ro_splice_fragments *fragments, const ro_plan *plan);

/* Starts of blocks are multiples of this in the old image (1 if they are not aligned at all). */
guint64 ro_splice_alignment(const img_tree *tree);

#endif
