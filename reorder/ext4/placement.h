/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives every block that may move its new place.
 *
 * The wanted inodes follow each other in their order: each with its attributes, its map and its
 * data in one piece. Where the filesystem's own blocks are in the way, the next one starts behind
 * them, and the gap is filled with what is not wanted, which otherwise keeps its order. Everything
 * moves together towards the front; what is free comes to lie at the end.
 */
#ifndef RO_EXT4_PLACEMENT_H
#define RO_EXT4_PLACEMENT_H

#include "reorder/image/ext4_survey.h"
#include "reorder/plan/plan.h"

/*
 * wanted: inode numbers in order; those without blocks and repeated ones are passed over. Returns
 * the new number of every block, 0 for those that stay; owned by the caller. RO_ERROR_UNSUITABLE if
 * the filesystem is so full and in such pieces that there is no way to do it.
 */
guint32 *ro_ext4_place(const img_ext4 *image, img_ext4_survey *survey, ro_layout layout,
	const ext2_ino_t *wanted, gsize count, GError **error);

#endif
