/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which blocks of a filesystem may move, and whose they are.
 *
 * Made once by a pass over all inodes, which proves on the way that the filesystem is sound enough
 * to be relocated: every block has one owner (extended attribute blocks may have several), is
 * marked as used, and is none of the fixed ones. Memory: 4 bytes a block, and what the maps need.
 */
#ifndef IMG_EXT4_SURVEY_H
#define IMG_EXT4_SURVEY_H

#include "reorder/image/ext4.h"

/* Blocks that lie together and had better stay so, in the order in which they are read. */
typedef struct {
	guint32 start, length;
	guint32 node; /* index into nodes: a split costs room there; IMG_EXT4_NO_NODE: costs nothing
		       */
} img_ext4_run;

#define IMG_EXT4_NO_NODE G_MAXUINT32

/* An inode that has blocks which may move. */
typedef struct {
	ext2_ino_t ino;
	guint32 first_run, run_count;
	guint32 blocks;      /* in all its runs */
	guint32 data_start;  /* the first block with data, 0 if there is none */
	guint32 data_blocks; /* without those of the map */
	guint32 xattr_block; /* not in the runs, as it may be shared; 0: none */
} img_ext4_owner;

typedef struct {
	GArray *owners;  /* of img_ext4_owner, by inode number */
	GArray *runs;    /* of img_ext4_run */
	GArray *nodes;   /* of guint32: free entries in the nodes of extent trees */
	guint8 *movable; /* for every block: whether it has an owner here */
	guint32 moving;  /* how many have */
} img_ext4_survey;

/* RO_ERROR_UNSUITABLE if the filesystem is damaged. */
img_ext4_survey *img_ext4_survey_new(const img_ext4 *image, GError **error);
void img_ext4_survey_free(img_ext4_survey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(img_ext4_survey, img_ext4_survey_free)

/* NULL for an inode without blocks. */
const img_ext4_owner *img_ext4_survey_find(const img_ext4_survey *survey, ext2_ino_t ino);

#endif
