/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the superblock of an ext2, ext3 or ext4 filesystem tells, for people. */
#ifndef IMG_EXT4_FACTS_H
#define IMG_EXT4_FACTS_H

#include "reorder/image/image_tree.h"

typedef struct {
	char *path;       /* of the filesystem in the squashfs around it; NULL: there is none */
	const char *type; /* "ext2", "ext3" or "ext4": the oldest that has its features */
	guint32 block_size;
	guint64 size, free; /* bytes */
	guint32 inodes, free_inodes;
	GPtrArray *features; /* of const char *, as e2fsprogs names them: how it is laid out, and
				what stands in the way */
	char *refusal;       /* why it can't be relocated; NULL: the superblock says nothing */
} img_ext4_facts;

/* The filesystem that a source is. Clear the facts in either case. */
gboolean img_ext4_facts_read(const img_source *source, img_ext4_facts *facts, GError **error);

/* One that is a file of a squashfs; no more of it is unpacked than its first block. */
gboolean img_ext4_facts_read_inside(
	const img_tree *outer, guint32 inode, img_ext4_facts *facts, GError **error);

void img_ext4_facts_clear(img_ext4_facts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(img_ext4_facts, img_ext4_facts_clear)

#endif
