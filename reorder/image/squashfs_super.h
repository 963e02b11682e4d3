/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The superblock of squashfs 4.0 (Linux: fs/squashfs/squashfs_fs.h) and the compressor options
 * behind it.
 */
#ifndef IMG_SQUASHFS_SUPER_H
#define IMG_SQUASHFS_SUPER_H

#include "reorder/image/byte_source.h"

enum { IMG_SUPER_SIZE = 96 };

typedef enum {
	IMG_COMP_GZIP = 1,
	IMG_COMP_LZMA = 2,
	IMG_COMP_LZO = 3,
	IMG_COMP_XZ = 4,
	IMG_COMP_LZ4 = 5,
	IMG_COMP_ZSTD = 6,
} img_compressor;

typedef enum {
	IMG_FLAG_NO_INODE_COMPRESSION = 0x001,
	IMG_FLAG_NO_DATA_COMPRESSION = 0x002,
	IMG_FLAG_NO_FRAGMENT_COMPRESSION = 0x008,
	IMG_FLAG_NO_FRAGMENTS = 0x010,
	IMG_FLAG_ALWAYS_FRAGMENTS = 0x020,
	IMG_FLAG_DUPLICATES = 0x040, /* duplicates were removed */
	IMG_FLAG_EXPORTABLE = 0x080,
	IMG_FLAG_NO_XATTR_COMPRESSION = 0x100,
	IMG_FLAG_NO_XATTRS = 0x200,
	IMG_FLAG_COMPRESSOR_OPTIONS = 0x400,
	IMG_FLAG_NO_ID_COMPRESSION = 0x800,
} img_super_flag;

typedef struct {
	img_compressor compressor;
	guint32 block_size; /* bytes */
	guint32 inode_count;
	guint32 fragment_count;
	guint32 mkfs_time; /* seconds since 1970 */
	guint16 flags;     /* img_super_flag */
	guint16 id_count;
	guint64 root_inode; /* reference, as img_inode.inode_ref */
	guint64 bytes_used; /* from the start of the image; the rest of the file is padding */
	guint64 inode_table, directory_table, fragment_table, id_table, export_table,
		xattr_table; /* positions; ~0 if none */
	guint8 options[64];  /* the decoded option block (its 2-byte header taken off) */
	gsize options_size;  /* 0: none, which means the compressor's defaults */
} img_super;

const char *img_compressor_name(img_compressor compressor);

/*
 * RO_ERROR_UNSUITABLE with the reason for: no squashfs, big-endian, version other than 4.0, unknown
 * compressor or lzma, block size that is no power of two between 4 KiB and 1 MiB, bytes_used past
 * the end of the source, tables out of order or range.
 */
gboolean img_super_read(const img_source *source, img_super *super, GError **error);

#endif
