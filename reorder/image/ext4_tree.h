/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of an ext2, ext3 or ext4 filesystem, in the form in which the planner takes it.
 *
 * What is meant differently than for squashfs: an inode's number is its number; data_start is the
 * position of its first block with data, data_stored the bytes of all of them, wherever they lie;
 * blocks is NULL, there are no fragments and no xattr indexes, mtime is cut to 32 bits; of the
 * superblock only block_size, inode_count and bytes_used are set, and there is no region of
 * metadata.
 */
#ifndef IMG_EXT4_TREE_H
#define IMG_EXT4_TREE_H

#include "reorder/image/image_tree.h"

/*
 * The source's fd has to stay open as long as the tree is used; label is copied.
 * RO_ERROR_UNSUITABLE for what img_ext4_open refuses and for a damaged filesystem.
 */
img_tree *img_ext4_tree_open(const img_source *source, GError **error);

/* Whether a tree is one of these and not a squashfs. */
gboolean img_ext4_is_tree(const img_tree *tree);

#endif
