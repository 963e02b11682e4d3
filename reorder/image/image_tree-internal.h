/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMG_IMAGE_TREE_INTERNAL_H
#define IMG_IMAGE_TREE_INTERNAL_H

#include "reorder/image/image_tree.h"

/* The entries of a directory. */
typedef struct {
	guint32 first, count;
} img_children;

struct img_tree {
	img_source source;
	char *label;
	img_super super;
	GArray *inodes;   /* of img_inode */
	GArray *children; /* of img_children, beside inodes; empty for what is no directory */
	GArray *entries;  /* of img_entry */
	img_fragment *fragments;
	guint32 *words; /* the size words of all files, one file after the other */
	GStringChunk *strings;
};

/* An empty one. */
img_tree *img_tree_new(const img_source *source);

/* Fills a tree that has its source and superblock. */
gboolean img_tree_load(img_tree *tree, GError **error);

#endif
