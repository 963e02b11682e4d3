/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unpacks the blocks of a squashfs image, with any compressor that the format has but lzma. */
#ifndef IMG_CODEC_H
#define IMG_CODEC_H

#include "reorder/image/squashfs_super.h"

typedef struct img_codec img_codec;

/* One codec serves one thread at a time. */
img_codec *img_codec_new(const img_super *super, GError **error);
void img_codec_free(img_codec *codec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(img_codec, img_codec_free)

/*
 * Unpacks one block. Returns the number of bytes it unpacks to, 0 if it is broken or does not fit
 * into capacity.
 */
gsize img_codec_unpack(
	img_codec *codec, const guint8 *in, gsize in_size, guint8 *out, gsize capacity);

#endif
