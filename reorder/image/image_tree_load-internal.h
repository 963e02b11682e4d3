/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the reader of squashfs tables share: tables, names and directories
 * (image_tree_load.c), and inodes (image_tree_inodes.c).
 */
#ifndef IMG_IMAGE_TREE_LOAD_INTERNAL_H
#define IMG_IMAGE_TREE_LOAD_INTERNAL_H

#include "reorder/image/image_tree-internal.h"
#include "reorder/image/metadata.h"

/* Bytes in the image of what all inodes begin with. */
enum { IMG_INODE_HEADER = 16 };

/* A directory whose listing is still to be read. */
typedef struct {
	guint32 inode; /* index */
	guint64 reference;
	guint32 size;
	guint32 path_bytes;
} img_listing;

typedef struct {
	img_tree *tree;
	img_metadata inodes, directories;
	guint32 *ids;
	guint32 *by_number; /* index of the inode with that number, or IMG_NONE */
	gsize words_used, words_max;
	/* Inodes and listings that overlap would make few bytes into many: no more is read than is
	 * there. */
	gsize inode_bytes, listing_bytes;
	GArray *listings; /* of img_listing: a stack */
} img_loader;

/* An inode in the image: its bytes, and what the basic and the extended form have in common. */
typedef struct {
	const guint8 *raw;
	gsize size; /* until the end of the table */
	guint type; /* basic */
	gboolean extended;
} img_raw_inode;

/* Sets "LABEL: …; the image is damaged". Always returns FALSE. */
gboolean img_loader_damaged(const img_loader *load, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* Whether stored data lie where data may be. */
gboolean img_loader_check_extent(
	const img_loader *load, guint64 start, guint64 size, GError **error);

/* Whether a size word can be one. */
gboolean img_loader_check_word(const img_loader *load, guint32 word, GError **error);

/* Finds an inode, and fills what all kinds have. */
gboolean img_loader_read_header(
	img_loader *load, guint64 reference, img_raw_inode *raw, img_inode *inode, GError **error);

/* Fills the rest; of a directory, list tells where its listing is. */
gboolean img_loader_read_body(img_loader *load, const img_raw_inode *raw, img_inode *inode,
	img_listing *list, GError **error);

#endif
