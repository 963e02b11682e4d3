/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Option blocks: struct comp_opts of squashfs-tools' *_wrapper.h. */
#include "reorder/splice/compressor.h"

#include <lzo/lzo1x.h>
#include <sqfs/compressor.h>

#include "reorder/image/le.h"
#include "reorder/util/error.h"

/* The smallest xz dictionary of the format; enough for metadata blocks. */
enum { XZ_MIN_DICTIONARY = 8192 };

/* Those that libsquashfs has: x86, powerpc, ia64, arm, armthumb, sparc. */
enum { XZ_FILTERS = 0x3f };

/* Levels of zstd from which on it looks for the best of several matches, and for the best of all;
 * the first is mksquashfs's default. */
enum { ZSTD_TIGHT = 15, ZSTD_TIGHTER = 19 };

/* Algorithms of the lzo option block. */
enum { LZO_1, LZO_1_11, LZO_1_12, LZO_1_15, LZO_999, LZO_DEFAULT_LEVEL = 8, LZO_MAX_LEVEL = 9 };

struct ro_splice_compressor {
	sqfs_compressor_t *library; /* NULL for lzo, which libsquashfs leaves out for its licence */
	guint32 lzo_algorithm;
	int lzo_level;
	void *lzo_memory;
	guint8 *out;
	gsize out_size;
};

static gboolean bad_options(const img_super *super, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"squashfs image: its options for %s make no sense; damaged or not supported",
		img_compressor_name(super->compressor));
}

/* What the option block of the image says, in libsquashfs's terms. */
static void apply_options(sqfs_compressor_config_t *config, const img_super *super)
{
	const guint8 *options = super->options;

	switch (super->compressor) {
	case IMG_COMP_GZIP:
		config->level = img_le32(options);
		config->opt.gzip.window_size = img_le16(options + 4);
		config->flags |= img_le16(options + 6) & SQFS_COMP_FLAG_GZIP_ALL;
		break;
	case IMG_COMP_XZ:
		config->opt.xz.dict_size = img_le32(options);
		/* A block says which filter it was packed with: newer ones may be left out. */
		config->flags |= img_le32(options + 4) & XZ_FILTERS;
		break;
	case IMG_COMP_LZ4:
		config->flags |= img_le32(options + 4) & SQFS_COMP_FLAG_LZ4_ALL;
		break;
	case IMG_COMP_ZSTD:
		config->level = img_le32(options);
		break;
	default:
		break;
	}
}

/*
 * A block never refers back further than to its own start, so a larger dictionary has no effect but
 * the time to set it up; and the kernel has only the room that the image's options promise.
 */
static void limit_dictionary(sqfs_compressor_config_t *config, guint32 block_size)
{
	config->opt.xz.dict_size =
		MIN(config->opt.xz.dict_size, MAX(block_size, XZ_MIN_DICTIONARY));
}

/* Settings that no reader of the blocks needs to know. */
static void tighten(sqfs_compressor_config_t *config, const img_super *super)
{
	switch (super->compressor) {
	case IMG_COMP_GZIP:
		config->level = SQFS_GZIP_MAX_LEVEL;
		break;
	case IMG_COMP_LZ4:
		config->flags |= SQFS_COMP_FLAG_LZ4_HC;
		break;
	case IMG_COMP_ZSTD:
		config->level = config->level < ZSTD_TIGHT ? ZSTD_TIGHT : ZSTD_TIGHTER;
		break;
	default:
		break;
	}
}

static gboolean use_library(ro_splice_compressor *compressor, const img_super *super,
	guint32 block_size, gboolean tight, GError **error)
{
	sqfs_compressor_config_t config;

	if (sqfs_compressor_config_init(
		    &config, (SQFS_COMPRESSOR)super->compressor, super->block_size, 0) != 0)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: libsquashfs on this system cannot pack with it; use --engine mksquashfs",
			img_compressor_name(super->compressor));
	if (super->options_size > 0)
		apply_options(&config, super);
	if (super->compressor == IMG_COMP_ZSTD &&
		(config.level < SQFS_ZSTD_MIN_LEVEL || config.level > SQFS_ZSTD_MAX_LEVEL))
		return bad_options(super, error);
	if (super->compressor == IMG_COMP_XZ)
		limit_dictionary(&config, block_size);
	if (tight)
		tighten(&config, super);
	if (sqfs_compressor_create(&config, &compressor->library) != 0)
		return bad_options(super, error);
	return TRUE;
}

static gsize lzo_memory(guint32 algorithm)
{
	const gsize sizes[] = {LZO1X_1_MEM_COMPRESS, LZO1X_1_11_MEM_COMPRESS,
		LZO1X_1_12_MEM_COMPRESS, LZO1X_1_15_MEM_COMPRESS, LZO1X_999_MEM_COMPRESS};

	return sizes[algorithm];
}

static gboolean use_lzo(
	ro_splice_compressor *compressor, const img_super *super, gboolean tight, GError **error)
{
	guint32 algorithm = LZO_999, level = LZO_DEFAULT_LEVEL;

	if (super->options_size > 0) {
		algorithm = img_le32(super->options);
		level = img_le32(super->options + 4);
	}
	if (algorithm > LZO_999 || level > LZO_MAX_LEVEL)
		return bad_options(super, error);
	if (tight) {
		algorithm = LZO_999;
		level = LZO_MAX_LEVEL;
	}
	if (lzo_init() != LZO_E_OK)
		return ro_fail(error, RO_ERROR_FAILED, "lzo: cannot start liblzo2");
	compressor->lzo_algorithm = algorithm;
	/* The level is meant for this algorithm only, and liblzo2 counts from 1. */
	compressor->lzo_level = algorithm == LZO_999 ? (int)MAX(level, 1) : 0;
	compressor->lzo_memory = g_malloc0(lzo_memory(algorithm));
	return TRUE;
}

static ro_splice_compressor *compressor_new(
	const img_super *super, guint32 block_size, gboolean tight, GError **error)
{
	g_autoptr(ro_splice_compressor) compressor = g_new0(ro_splice_compressor, 1);

	/* Room for a result that is larger than the input, with every compressor: some give an
	 * error instead of a size when there is none. */
	compressor->out_size = (gsize)block_size * 2 + 4096;
	compressor->out = g_malloc(compressor->out_size);
	if (super->compressor == IMG_COMP_LZO
			? !use_lzo(compressor, super, tight, error)
			: !use_library(compressor, super, block_size, tight, error))
		return NULL;
	return g_steal_pointer(&compressor);
}

ro_splice_compressor *ro_splice_compressor_new(
	const img_super *super, guint32 block_size, GError **error)
{
	return compressor_new(super, block_size, FALSE, error);
}

/* By more than half a percent, as measured: not xz, and none that is at its best by itself. */
static gboolean can_be_tighter(const img_super *super)
{
	gboolean options = super->options_size > 0;

	switch (super->compressor) {
	case IMG_COMP_GZIP:
		return options && img_le32(super->options) < SQFS_GZIP_MAX_LEVEL;
	case IMG_COMP_LZO:
		return options && (img_le32(super->options) != LZO_999 ||
					  img_le32(super->options + 4) < LZO_DEFAULT_LEVEL);
	case IMG_COMP_LZ4:
		return !options || !(img_le32(super->options + 4) & SQFS_COMP_FLAG_LZ4_HC);
	case IMG_COMP_ZSTD:
		return !options || img_le32(super->options) < ZSTD_TIGHTER;
	default:
		return FALSE;
	}
}

ro_splice_compressor *ro_splice_compressor_new_tight(
	const img_super *super, guint32 block_size, GError **error)
{
	return can_be_tighter(super) ? compressor_new(super, block_size, TRUE, error) : NULL;
}

void ro_splice_compressor_free(ro_splice_compressor *compressor)
{
	if (!compressor)
		return;
	sqfs_destroy(compressor->library);
	g_free(compressor->lzo_memory);
	g_free(compressor->out);
	g_free(compressor);
}

/* The size of the result, negative on failure. */
static gint64 pack_lzo(ro_splice_compressor *c, const guint8 *in, gsize size)
{
	lzo_uint packed = c->out_size;
	int ret;

	switch (c->lzo_algorithm) {
	case LZO_1:
		ret = lzo1x_1_compress(in, size, c->out, &packed, c->lzo_memory);
		break;
	case LZO_1_11:
		ret = lzo1x_1_11_compress(in, size, c->out, &packed, c->lzo_memory);
		break;
	case LZO_1_12:
		ret = lzo1x_1_12_compress(in, size, c->out, &packed, c->lzo_memory);
		break;
	case LZO_1_15:
		ret = lzo1x_1_15_compress(in, size, c->out, &packed, c->lzo_memory);
		break;
	default:
		ret = lzo1x_999_compress_level(
			in, size, c->out, &packed, c->lzo_memory, NULL, 0, NULL, c->lzo_level);
		break;
	}
	return ret == LZO_E_OK ? (gint64)packed : -1;
}

gboolean ro_splice_compress(ro_splice_compressor *compressor, const guint8 *in, gsize size,
	const guint8 **packed, gsize *packed_size, GError **error)
{
	gint64 ret;

	g_assert(size > 0 && size <= compressor->out_size / 2);
	if (compressor->library)
		ret = compressor->library->do_block(compressor->library, in, (sqfs_u32)size,
			compressor->out, (sqfs_u32)compressor->out_size);
	else
		ret = pack_lzo(compressor, in, size);
	if (ret < 0)
		return ro_fail(
			error, RO_ERROR_FAILED, "packing a block failed (error %d)", (int)ret);
	*packed = compressor->out;
	/* libsquashfs hands out lz4 blocks that have grown. */
	*packed_size = (gsize)ret < size ? (gsize)ret : 0;
	return TRUE;
}
