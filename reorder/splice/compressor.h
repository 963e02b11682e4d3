/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packs blocks as the tool that made an image packed them: with the compressor and the options that
 * the image's superblock names. Options that an image does not record are the tool's defaults.
 */
#ifndef RO_SPLICE_COMPRESSOR_H
#define RO_SPLICE_COMPRESSOR_H

#include "reorder/image/squashfs_super.h"

typedef struct ro_splice_compressor ro_splice_compressor;

/*
 * block_size: of the largest block it will pack, at most the image's. One compressor serves one
 * thread at a time. RO_ERROR_UNSUITABLE for options that make no sense.
 */
ro_splice_compressor *ro_splice_compressor_new(
	const img_super *super, guint32 block_size, GError **error);
/* As above, but takes more time for smaller blocks of the same format. NULL without an error if
 * there is no such way for the image, or none that is worth it. */
ro_splice_compressor *ro_splice_compressor_new_tight(
	const img_super *super, guint32 block_size, GError **error);
void ro_splice_compressor_free(ro_splice_compressor *compressor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_splice_compressor, ro_splice_compressor_free)

/*
 * Packs size bytes. *packed is where the result is, valid until the next call, and *packed_size its
 * size; 0 if it would not be smaller than the input, which is then to be stored as it is.
 */
gboolean ro_splice_compress(ro_splice_compressor *compressor, const guint8 *in, gsize size,
	const guint8 **packed, gsize *packed_size, GError **error);

#endif
