/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/squashfs_super.h"

#include "reorder/image/le.h"
#include "reorder/util/error.h"

#define MAGIC 0x73717368u /* "hsqs" */
#define MAGIC_BIG_ENDIAN 0x68737173u
#define TABLE_NONE G_MAXUINT64

enum { MIN_BLOCK_LOG = 12, MAX_BLOCK_LOG = 20 };

/* The bit in the header of a metadata block that says: not compressed. */
enum { META_UNCOMPRESSED = 0x8000 };

/* What else is found under the name of a squashfs image. */
static const struct {
	guint64 position;
	guint size;
	const char bytes[8];
	const char *name;
} other_formats[] = {
	{1024, 4, "\xe2\xe1\xf5\xe0", "EROFS"},
	{1080, 2, "\x53\xef", "ext2/3/4"},
	{32769, 5, "CD001", "ISO 9660"},
	{0, 4, "\x45\x3d\xcd\x28", "cramfs"},
	{0, 4, "XFSB", "XFS"},
	{65600, 8, "_BHRfS_M", "Btrfs"},
};

const char *img_compressor_name(img_compressor compressor)
{
	static const char *const names[] = {NULL, "gzip", "lzma", "lzo", "xz", "lz4", "zstd"};

	return compressor < G_N_ELEMENTS(names) ? names[compressor] : NULL;
}

static const char *other_format(const img_source *source)
{
	guint8 bytes[8];

	for (gsize i = 0; i < G_N_ELEMENTS(other_formats); i++)
		if (img_source_read(source, other_formats[i].position, bytes, other_formats[i].size,
			    NULL) &&
			memcmp(bytes, other_formats[i].bytes, other_formats[i].size) == 0)
			return other_formats[i].name;
	return NULL;
}

static gboolean check_format(const img_source *source, const guint8 *raw, GError **error)
{
	guint32 magic = img_le32(raw);
	const char *other;

	if (magic == MAGIC_BIG_ENDIAN)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: big-endian squashfs of an old version; only squashfs 4.0 is supported",
			source->label);
	if (magic != MAGIC) {
		other = other_format(source);
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: not a squashfs image%s%s; only squashfs 4.0 is supported",
			source->label, other ? " but " : "", other ? other : "");
	}
	if (img_le16(raw + 28) != 4 || img_le16(raw + 30) != 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: squashfs version %u.%u; only squashfs 4.0 is supported", source->label,
			img_le16(raw + 28), img_le16(raw + 30));
	return TRUE;
}

static guint64 table_or_none(guint64 position, gboolean present)
{
	return present ? position : TABLE_NONE;
}

static void decode(const guint8 *raw, img_super *super)
{
	super->inode_count = img_le32(raw + 4);
	super->mkfs_time = img_le32(raw + 8);
	super->block_size = img_le32(raw + 12);
	super->fragment_count = img_le32(raw + 16);
	super->compressor = (img_compressor)img_le16(raw + 20);
	super->flags = img_le16(raw + 24);
	super->id_count = img_le16(raw + 26);
	super->root_inode = img_le64(raw + 32);
	super->bytes_used = img_le64(raw + 40);
	super->id_table = img_le64(raw + 48);
	super->xattr_table = img_le64(raw + 56);
	super->inode_table = img_le64(raw + 64);
	super->directory_table = img_le64(raw + 72);
	super->fragment_table = table_or_none(img_le64(raw + 80), super->fragment_count > 0);
	super->export_table = img_le64(raw + 88);
}

static gboolean check_compressor(const char *label, const img_super *super, GError **error)
{
	const char *name = img_compressor_name(super->compressor);

	if (super->compressor == IMG_COMP_LZMA)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: compressed with lzma, which no Linux kernel reads; not supported",
			label);
	if (!name)
		return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: unknown squashfs compressor %u",
			label, super->compressor);
	return TRUE;
}

static gboolean check_sizes(
	const img_source *source, const img_super *super, guint block_log, GError **error)
{
	guint8 last;

	if (block_log < MIN_BLOCK_LOG || block_log > MAX_BLOCK_LOG ||
		super->block_size != 1u << block_log)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: block size %u is not a power of two from 4096 to 1048576; damaged or not supported",
			source->label, super->block_size);
	if (super->bytes_used < IMG_SUPER_SIZE || super->bytes_used > G_MAXINT64)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: impossible size in the superblock; damaged", source->label);
	if (super->bytes_used > source->size)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: truncated: the superblock says %" G_GUINT64_FORMAT
			" bytes, %" G_GUINT64_FORMAT " are there; get the file anew",
			source->label, super->bytes_used, source->size);
	if (!img_source_read(source, super->bytes_used - 1, &last, 1, error))
		return FALSE;
	if (super->inode_count == 0 || super->id_count == 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: no inodes or no ids in the superblock; damaged", source->label);
	return TRUE;
}

/* The tables follow each other in this order; those that are not there are ~0. */
static gboolean check_tables(const char *label, const img_super *super, GError **error)
{
	const guint64 tables[] = {super->inode_table, super->directory_table, super->fragment_table,
		super->export_table, super->id_table, super->xattr_table};
	guint64 last = IMG_SUPER_SIZE - 1;

	for (gsize i = 0; i < G_N_ELEMENTS(tables); i++) {
		gboolean optional = i >= 2 && i != 4;

		if (optional && tables[i] == TABLE_NONE)
			continue;
		if (tables[i] <= last || tables[i] >= super->bytes_used)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: tables out of order or past the end; damaged", label);
		last = tables[i];
	}
	return TRUE;
}

/* Sizes as squashfs-tools write them: struct comp_opts of each *_wrapper.c. */
static gsize options_size(img_compressor compressor)
{
	return compressor == IMG_COMP_ZSTD ? 4 : 8;
}

static gboolean read_options(const img_source *source, img_super *super, GError **error)
{
	guint8 header[2];
	gsize size;

	if (!(super->flags & IMG_FLAG_COMPRESSOR_OPTIONS))
		return TRUE;
	if (!img_source_read(source, IMG_SUPER_SIZE, header, sizeof(header), error))
		return FALSE;
	size = img_le16(header) & (META_UNCOMPRESSED - 1);
	if (!(img_le16(header) & META_UNCOMPRESSED) || size != options_size(super->compressor))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: compressor options of a kind that %s does not have; damaged or not supported",
			source->label, img_compressor_name(super->compressor));
	super->options_size = size;
	return img_source_read(
		source, IMG_SUPER_SIZE + sizeof(header), super->options, size, error);
}

gboolean img_super_read(const img_source *source, img_super *super, GError **error)
{
	guint8 raw[IMG_SUPER_SIZE];
	img_super read = {0};

	if (!img_source_read(source, 0, raw, sizeof(raw), error) ||
		!check_format(source, raw, error))
		return FALSE;
	decode(raw, &read);
	if (!check_compressor(source->label, &read, error) ||
		!check_sizes(source, &read, img_le16(raw + 22), error) ||
		!check_tables(source->label, &read, error) || !read_options(source, &read, error))
		return FALSE;
	*super = read;
	return TRUE;
}
