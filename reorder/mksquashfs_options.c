/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Option blocks: struct *_comp_opts of squashfs-tools' *_wrapper.h, little-endian. */
#include "reorder/mksquashfs_options.h"

#include <stdio.h>
#include <string.h>

#include "reorder/image/le.h"
#include "reorder/util/error.h"

enum { PADDING = 4096 };

/* The algorithm of lzo that has levels. */
enum { LZO1X_999 = 4 };

enum { LZ4_HC = 1 };

static void append(GPtrArray *argv, const char *word)
{
	g_ptr_array_add(argv, g_strdup(word));
}

static void append_number(GPtrArray *argv, const char *option, guint number)
{
	append(argv, option);
	g_ptr_array_add(argv, g_strdup_printf("%u", number));
}

/* Bits as a list of names; FALSE if there are others. */
static gboolean append_list(
	GPtrArray *argv, const char *option, guint bits, const char *const *names, guint count)
{
	g_autoptr(GString) list = g_string_new(NULL);

	if (bits >> count != 0)
		return FALSE;
	for (guint i = 0; i < count; i++)
		if (bits & 1u << i)
			g_string_append_printf(list, "%s%s", list->len > 0 ? "," : "", names[i]);
	if (list->len > 0) {
		append(argv, option);
		append(argv, list->str);
	}
	return TRUE;
}

static gboolean append_gzip(GPtrArray *argv, const guint8 *options)
{
	static const char *const strategies[] = {
		"default", "filtered", "huffman_only", "run_length_encoded", "fixed"};

	append_number(argv, "-Xcompression-level", img_le32(options));
	append_number(argv, "-Xwindow-size", img_le16(options + 4));
	return append_list(
		argv, "-Xstrategy", img_le16(options + 6), strategies, G_N_ELEMENTS(strategies));
}

static gboolean append_lzo(GPtrArray *argv, const guint8 *options)
{
	static const char *const algorithms[] = {
		"lzo1x_1", "lzo1x_1_11", "lzo1x_1_12", "lzo1x_1_15", "lzo1x_999"};
	guint algorithm = img_le32(options);

	if (algorithm >= G_N_ELEMENTS(algorithms))
		return FALSE;
	append(argv, "-Xalgorithm");
	append(argv, algorithms[algorithm]);
	if (algorithm == LZO1X_999)
		append_number(argv, "-Xcompression-level", img_le32(options + 4));
	return TRUE;
}

static gboolean append_xz(GPtrArray *argv, const guint8 *options)
{
	static const char *const filters[] = {
		"x86", "powerpc", "ia64", "arm", "armthumb", "sparc", "arm64", "riscv"};

	append_number(argv, "-Xdict-size", img_le32(options));
	return append_list(argv, "-Xbcj", img_le32(options + 4), filters, G_N_ELEMENTS(filters));
}

static gboolean append_lz4(GPtrArray *argv, const guint8 *options)
{
	guint version = img_le32(options), flags = img_le32(options + 4);

	if (flags & LZ4_HC)
		append(argv, "-Xhc");
	return version == 1 && (flags & ~(guint)LZ4_HC) == 0;
}

static gboolean append_zstd(GPtrArray *argv, const guint8 *options)
{
	append_number(argv, "-Xcompression-level", img_le32(options));
	return TRUE;
}

static gboolean append_compressor(GPtrArray *argv, const img_super *super, GError **error)
{
	static gboolean (*const functions[])(GPtrArray *, const guint8 *) = {
		[IMG_COMP_GZIP] = append_gzip,
		[IMG_COMP_LZO] = append_lzo,
		[IMG_COMP_XZ] = append_xz,
		[IMG_COMP_LZ4] = append_lz4,
		[IMG_COMP_ZSTD] = append_zstd,
	};

	append(argv, "-comp");
	append(argv, img_compressor_name(super->compressor));
	if (super->options_size == 0 || functions[super->compressor](argv, super->options))
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: compressor options that mksquashfs cannot be told; not supported by this engine",
		img_compressor_name(super->compressor));
}

static void append_flags(GPtrArray *argv, const img_super *super)
{
	static const struct {
		img_super_flag flag;
		gboolean set; /* the option says that the flag is set, or that it is not */
		const char *option;
	} options[] = {
		{IMG_FLAG_NO_INODE_COMPRESSION, TRUE, "-noI"},
		{IMG_FLAG_NO_DATA_COMPRESSION, TRUE, "-noD"},
		{IMG_FLAG_NO_FRAGMENT_COMPRESSION, TRUE, "-noF"},
		{IMG_FLAG_NO_FRAGMENTS, TRUE, "-no-fragments"},
		{IMG_FLAG_ALWAYS_FRAGMENTS, TRUE, "-always-use-fragments"},
		{IMG_FLAG_DUPLICATES, FALSE, "-no-duplicates"},
		{IMG_FLAG_EXPORTABLE, TRUE, "-exports"},
		{IMG_FLAG_EXPORTABLE, FALSE, "-no-exports"},
		{IMG_FLAG_NO_XATTR_COMPRESSION, TRUE, "-noX"},
		{IMG_FLAG_NO_ID_COMPRESSION, TRUE, "-noId"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(options); i++)
		if (((super->flags & options[i].flag) != 0) == options[i].set)
			append(argv, options[i].option);
	/* What the work directory adds by itself (labels) must not come into an image without any.
	 */
	append(argv, super->xattr_table == G_MAXUINT64 ? "-no-xattrs" : "-xattrs");
}

gboolean ro_mksquashfs_options(
	GPtrArray *argv, const img_super *super, guint64 image_size, GError **error)
{
	if (!append_compressor(argv, super, error))
		return FALSE;
	append_number(argv, "-b", super->block_size);
	append_number(argv, "-mkfs-time", super->mkfs_time);
	append_flags(argv, super);
	if (image_size % PADDING != 0)
		append(argv, "-nopad");
	return TRUE;
}

gboolean ro_tool_version_parse(const char *text, ro_tool_version *version)
{
	const char *number = strstr(text, "version ");

	*version = (ro_tool_version){0};
	return number && sscanf(number, "version %3u.%3u.%3u", &version->major, &version->minor,
				 &version->patch) >= 2;
}

static guint version_number(const ro_tool_version *version)
{
	return (version->major * 1000 + version->minor) * 1000 + version->patch;
}

gboolean ro_mksquashfs_check_version(
	const ro_tool_version *version, const img_super *super, gboolean holes, GError **error)
{
	guint number = version_number(version);

	if (number < 4005000 || number >= 5000000)
		return ro_fail(error, RO_ERROR_FAILED,
			"squashfs-tools %u.%u.%u: not a supported version; 4.5 or a later 4.x is needed",
			version->major, version->minor, version->patch);
	if (number == 4006000 && (super->flags & IMG_FLAG_ALWAYS_FRAGMENTS))
		return ro_fail(error, RO_ERROR_FAILED,
			"squashfs-tools 4.6: known to write wrong files into images with tail ends in fragments, as this one has; install 4.6.1 or later");
	if (number >= 4007000 && number <= 4007004 && holes)
		return ro_fail(error, RO_ERROR_FAILED,
			"squashfs-tools %u.%u.%u: known to write sparse files wrongly, and this image has some; install 4.7.5 or later",
			version->major, version->minor, version->patch);
	return TRUE;
}
