/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Squashfs metadata: a run of blocks that unpack to 8 KiB each (the last one to less), unpacked as
 * a whole.
 *
 * A position in it is a reference (block << 16) | offset: the block's distance in stored bytes from
 * the start of the run, and the distance in unpacked bytes from the start of that block.
 */
#ifndef IMG_METADATA_H
#define IMG_METADATA_H

#include "reorder/image/codec.h"

enum { IMG_METADATA_BLOCK = 8192 };

typedef struct {
	guint8 *data; /* unpacked */
	gsize size;
	guint64 *blocks; /* block_count distances from the start, ascending */
	gsize block_count;
} img_metadata;

/* Where the metadata is. */
typedef struct {
	const img_source *source;
	img_codec *codec;
	const char *what; /* for messages: "inode table" */
} img_metadata_place;

/* The run that fills the image from start to end. */
gboolean img_metadata_load(img_metadata *metadata, const img_metadata_place *place, guint64 start,
	guint64 end, GError **error);

/*
 * A table of size bytes whose index (an array of block positions) is at the position index and
 * whose blocks lie at or after lower. *first, if not NULL, is set to the position of its first
 * block.
 */
gboolean img_metadata_load_table(img_metadata *metadata, const img_metadata_place *place,
	guint64 index, guint64 lower, gsize size, guint64 *first, GError **error);

/* The bytes from a reference on, and in *available how many there are; NULL if it points at
 * nothing. */
const guint8 *img_metadata_at(const img_metadata *metadata, guint64 reference, gsize *available);

void img_metadata_clear(img_metadata *metadata);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(img_metadata, img_metadata_clear)

#endif
