/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/codec.h"

#include <lzo/lzo1x.h>
#include <sqfs/compressor.h>

#include "reorder/util/error.h"

struct img_codec {
	sqfs_compressor_t *library; /* NULL for lzo, which libsquashfs leaves out for its licence */
};

static gboolean use_lzo(const img_super *super, GError **error)
{
	if (lzo_init() != LZO_E_OK)
		return ro_fail(error, RO_ERROR_FAILED, "%s: cannot start liblzo2",
			img_compressor_name(super->compressor));
	return TRUE;
}

static gboolean use_library(img_codec *codec, const img_super *super, GError **error)
{
	sqfs_compressor_config_t config;
	int ret = sqfs_compressor_config_init(&config, (SQFS_COMPRESSOR)super->compressor,
		super->block_size, SQFS_COMP_FLAG_UNCOMPRESS);

	if (ret == 0)
		ret = sqfs_compressor_create(&config, &codec->library);
	if (ret != 0)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: libsquashfs cannot unpack this compressor (error %d)",
			img_compressor_name(super->compressor), ret);
	return TRUE;
}

img_codec *img_codec_new(const img_super *super, GError **error)
{
	g_autoptr(img_codec) codec = g_new0(img_codec, 1);

	if (super->compressor == IMG_COMP_LZO ? !use_lzo(super, error)
					      : !use_library(codec, super, error))
		return NULL;
	return g_steal_pointer(&codec);
}

void img_codec_free(img_codec *codec)
{
	if (!codec)
		return;
	sqfs_destroy(codec->library);
	g_free(codec);
}

static gsize unpack_lzo(const guint8 *in, gsize in_size, guint8 *out, gsize capacity)
{
	lzo_uint size = capacity;

	if (lzo1x_decompress_safe(in, in_size, out, &size, NULL) != LZO_E_OK)
		return 0;
	return size;
}

gsize img_codec_unpack(
	img_codec *codec, const guint8 *in, gsize in_size, guint8 *out, gsize capacity)
{
	sqfs_s32 size;

	if (in_size == 0 || in_size > G_MAXINT32 || capacity > G_MAXINT32)
		return 0;
	if (!codec->library)
		return unpack_lzo(in, in_size, out, capacity);
	size = codec->library->do_block(
		codec->library, in, (sqfs_u32)in_size, out, (sqfs_u32)capacity);
	return size > 0 && (gsize)size <= capacity ? (gsize)size : 0;
}
