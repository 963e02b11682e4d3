/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the data of files lie in an image as it is on the medium: in a squashfs, in an ext4, in an
 * ext4 in a squashfs.
 */
#ifndef TR_DATA_MAP_H
#define TR_DATA_MAP_H

#include "reorder/image/layer.h"

typedef struct tr_data_map tr_data_map;

/* What has to be read whole of the image to have some bytes of a file. */
typedef struct {
	guint64 start, stored; /* bytes of the image; stored is not 0 */
	guint64 bytes;         /* of the file that are in it */
	guint32 rest;          /* where they start in it when it is unpacked */
	gboolean fragment;     /* a fragment block of a squashfs, which other files share */
} tr_piece;

/* The layer is borrowed. An ext4 is looked through once; what is refused there is
 * RO_ERROR_UNSUITABLE. */
tr_data_map *tr_data_map_new(const img_layer *layer, GError **error);
void tr_data_map_free(tr_data_map *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_data_map, tr_data_map_free)

/* Bytes of the image on the medium. */
guint64 tr_data_map_size(const tr_data_map *map);

/*
 * Fills a list (of tr_piece) with those of a regular file, in its order; holes have none. Whether
 * the file has blocks of its own, and not only a share of a fragment block, or none at all.
 */
gboolean tr_data_map_pieces(tr_data_map *map, guint32 inode, GArray *pieces);

/*
 * What is of no regular file and in use: superblocks, tables, directories, journal, block maps. Of
 * an ext4 in a squashfs: that of both. A list of ro_range (bytes of the image), not normalised;
 * owned by the caller.
 */
GArray *tr_data_map_metadata(const tr_data_map *map);

#endif
