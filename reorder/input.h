/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every verb but inspect starts from: the ISO, the images that are reordered, and their trees.
 */
#ifndef RO_INPUT_H
#define RO_INPUT_H

#include <sys/stat.h>

#include "iso/live_iso.h"
#include "reorder/image/layer.h"

/* An image that the root is made of; owned by the input. */
typedef struct {
	const li_image *image; /* of iso */
	img_tree *tree;        /* of the root: a squashfs, or an ext4 */
	/* Where an ext4 is in a squashfs: that one, and the index of its inode; else NULL. It is
	 * unpacked to a file without a name. */
	img_tree *outer;
	guint32 outer_inode;
	int inside_fd;
} ro_root;

typedef struct {
	li_iso *iso;      /* owned */
	GArray *roots;    /* of ro_root, by path: one, or those that may be layers of the root */
	GArray *layers;   /* of img_layer: the same, in the same order */
	struct stat stat; /* of the ISO when it was opened */
} ro_input;

#define RO_INPUT_ROOT(input, index) (&g_array_index((input)->roots, ro_root, index))

/* Refusals are RO_ERROR_UNSUITABLE. Clear it in either case. */
gboolean ro_input_open(ro_input *input, const char *path, GError **error);
void ro_input_clear(ro_input *input);

/* RO_ERROR_FAILED if the file was written to since it was opened: the result would be of neither.
 */
gboolean ro_input_unchanged(const ro_input *input, GError **error);

#endif
