/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The extended attributes of a squashfs image. */
#ifndef IMG_XATTRS_H
#define IMG_XATTRS_H

#include "reorder/image/image_tree.h"

typedef struct img_xattrs img_xattrs;

/* An image without attributes gives an empty table. */
img_xattrs *img_xattrs_new(const img_tree *tree, GError **error);
void img_xattrs_free(img_xattrs *xattrs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(img_xattrs, img_xattrs_free)

typedef struct {
	char *name; /* with its prefix: "security.capability" */
	const guint8 *value;
	guint32 size;
} img_xattr;

/*
 * The attributes with that index (img_inode.xattr), sorted by name: an array of img_xattr, for the
 * caller to unref; empty for IMG_NONE; NULL with error set if they are broken. The values belong to
 * xattrs.
 */
GArray *img_xattrs_get(const img_xattrs *xattrs, guint32 index, GError **error);

#endif
