/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ext2, ext3 or ext4 filesystem in a file, read where it lies with libext2fs: no mount, no root.
 *
 * Block numbers have 32 bits here; larger filesystems are refused. The image is untrusted.
 */
#ifndef IMG_EXT4_H
#define IMG_EXT4_H

#include <ext2fs/ext2fs.h>

#include "reorder/image/byte_source.h"

/* 256 GiB of 4 KiB blocks: what is kept for each block has to fit into memory. */
enum { IMG_EXT4_MAX_BLOCKS = 1 << 26 };

/* Where the superblock lies, and its size. */
enum { IMG_EXT4_SUPER_OFFSET = 1024, IMG_EXT4_SUPER_SIZE = 1024 };
/* From the first byte to the superblock's last. */
enum { IMG_EXT4_START_SIZE = IMG_EXT4_SUPER_OFFSET + IMG_EXT4_SUPER_SIZE };

typedef struct {
	ext2_filsys fs; /* both bitmaps are loaded */
	img_source source;
	char *label;
	guint32 blocks;            /* of the whole filesystem */
	ext2fs_block_bitmap fixed; /* superblocks, group descriptors, bitmaps, inode tables */
} img_ext4;

/*
 * Opens read-only. The source's fd has to stay open. RO_ERROR_UNSUITABLE with the reason for
 * whatever can't be relocated: damaged or truncated, errors flagged, not unmounted cleanly, a
 * journal to be replayed or outside of the image, orphan inodes, bigalloc, encryption, verity,
 * case-folded names, shared blocks, snapshots, a boot loader in the first sectors (it knows blocks
 * by their numbers), features that this program does not know.
 */
img_ext4 *img_ext4_open(const img_source *source, GError **error);

/* Opens a copy whose blocks are to be moved, for writing. Backups are not written. */
img_ext4 *img_ext4_open_output(const char *path, int fd, guint64 size, GError **error);

/* Flushes what was written. */
gboolean img_ext4_close(img_ext4 *image, GError **error);

/* Accepts NULL. */
void img_ext4_free(img_ext4 *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(img_ext4, img_ext4_free)

/* The refusals that the superblock alone can tell, without reading more. */
gboolean img_ext4_check(const img_source *source, GError **error);
/* The same of its first IMG_EXT4_START_SIZE bytes; source is for the size and the label only. */
gboolean img_ext4_check_start(const img_source *source, const guint8 *start, GError **error);

/*
 * Sets "LABEL: WHAT: what libext2fs says": RO_ERROR_FAILED for an error of the system, otherwise
 * the image is damaged (RO_ERROR_UNSUITABLE). Always returns FALSE.
 */
gboolean img_ext4_fail(const img_ext4 *image, errcode_t code, GError **error, const char *format,
	...) G_GNUC_PRINTF(4, 5);

/* Sets "LABEL: …; the filesystem is damaged, run e2fsck". Always returns FALSE. */
gboolean img_ext4_damaged(const img_ext4 *image, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* Reads one block; the number is checked. */
gboolean img_ext4_read_block(const img_ext4 *image, guint64 block, void *buffer, GError **error);

/*
 * Inodes that stay where they are: the reserved ones but the root directory, the journal, quota
 * files, the orphan file.
 */
gboolean img_ext4_is_pinned(const img_ext4 *image, ext2_ino_t ino);

/*
 * Calls visit for every inode in use, by number. The buffer has the inode's size on disk, and at
 * least that of struct ext2_inode_large, the rest zero.
 */
typedef gboolean (*img_ext4_visit)(
	void *user, ext2_ino_t ino, struct ext2_inode_large *inode, GError **error);
gboolean img_ext4_each_inode(
	const img_ext4 *image, img_ext4_visit visit, void *user, GError **error);

#endif
