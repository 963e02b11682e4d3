/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An image as a layer of an overlay: what it has, and what of the layers below it hides and which
 * of them it renames (Linux: Documentation/filesystems/overlayfs.rst, "whiteouts and opaque
 * directories", "renaming directories").
 */
#ifndef IMG_LAYER_H
#define IMG_LAYER_H

#include "reorder/image/image_tree.h"

typedef struct {
	const char *name;     /* of the image: its path on the ISO; borrowed */
	const img_tree *tree; /* borrowed */
	guint8 *marks;        /* of every inode, how it hides others; NULL: none does */
	/* The squashfs on the ISO that the image is a file of, and that file's inode; borrowed.
	 * NULL: it lies there itself. */
	const img_tree *outer;
	guint32 outer_inode;
	/* Of directories, where the layers below have them: a path from the root of the overlay, or
	 * another name beside it. Inode → char *; NULL: none is. */
	GHashTable *redirects;
} img_layer;

/* RO_ERROR_UNSUITABLE if the attributes of the image are broken. Clear it in either case. */
gboolean img_layer_init(img_layer *layer, const char *name, const img_tree *tree, GError **error);
void img_layer_clear(img_layer *layer);

/* The layer of that name, or NULL. */
const img_layer *img_layer_named(const img_layer *layers, guint count, const char *name);

typedef enum {
	IMG_LAYER_HAS,    /* it is in this one */
	IMG_LAYER_HIDES,  /* neither in this one nor in any below it */
	IMG_LAYER_PASSES, /* the next one below knows */
} img_layer_answer;

/*
 * Resolves as img_tree_resolve does, without following the last component. root: bytes of the path
 * that lead to what is the root of the overlay. inode: where the layer has it; else IMG_NONE.
 * below: if it passes, the path from that root for the next layer, for the caller to free; else
 * NULL.
 */
img_layer_answer img_layer_find(
	const img_layer *layer, const char *path, gsize root, guint32 *inode, char **below);

#endif
