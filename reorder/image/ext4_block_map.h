/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The block map of an inode as it lies on disk: an extent tree (Linux: fs/ext4/ext4_extents.h) or
 * the block numbers and indirect blocks of ext2.
 *
 * A walk meets the blocks in the order in which the kernel reads them: a block that holds a part of
 * the map before what it maps. A walk can also change the map: then every block gets the number
 * that a table has for it, and the tree keeps its shape: the same nodes, an extent more only where
 * one has to be split.
 */
#ifndef IMG_EXT4_BLOCK_MAP_H
#define IMG_EXT4_BLOCK_MAP_H

#include "reorder/image/ext4.h"

/* Consecutive blocks of a file that are consecutive on disk as well. */
typedef struct {
	guint32 logical; /* block of the file */
	guint32 start;   /* block of the filesystem */
	guint32 length;  /* blocks, not 0, inside the filesystem */
	gboolean unwritten;
	/* Free entries of the node that the extent is in: so many splits can be had in all of it.
	 * G_MAXUINT32: may be split anywhere. */
	guint32 room;
	gboolean first_of_node;
} img_ext4_extent;

/* Either may be NULL. FALSE with error set ends the walk. */
typedef struct {
	gboolean (*node)(void *user, guint32 block, GError **error);
	gboolean (*extent)(void *user, const img_ext4_extent *extent, GError **error);
	void *user;
} img_ext4_visitor;

/* Whether the inode's i_block is a map: not for devices, short symlinks, inline data. */
gboolean img_ext4_has_map(const img_ext4 *image, const struct ext2_inode_large *inode);

/* Any damage of the map is RO_ERROR_UNSUITABLE. A map may name a block more than once. */
gboolean img_ext4_walk_map(const img_ext4 *image, ext2_ino_t ino,
	const struct ext2_inode_large *inode, const img_ext4_visitor *visitor, GError **error);

/*
 * Changes the map of an inode that was walked through before: i_block in the struct, nodes in the
 * output, at their new places. new_of: for each block its new number.
 */
gboolean img_ext4_move_map(const img_ext4 *image, ext2_ino_t ino, struct ext2_inode_large *inode,
	const guint32 *new_of, img_ext4 *output, GError **error);

#endif
