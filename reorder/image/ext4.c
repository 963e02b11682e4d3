/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/ext4.h"

#include <string.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

#if G_BYTE_ORDER != G_LITTLE_ENDIAN
#error "libext2fs swaps the bytes of what it hands out on this machine; this code does not expect that"
#endif

/* Numbers below this are errno values. */
enum { FIRST_LIBRARY_ERROR = 256 };

/* What this code understands; everything else is refused. */
enum {
	KNOWN_INCOMPAT = EXT2_FEATURE_INCOMPAT_FILETYPE | EXT2_FEATURE_INCOMPAT_META_BG |
			 EXT3_FEATURE_INCOMPAT_EXTENTS | EXT4_FEATURE_INCOMPAT_64BIT |
			 EXT4_FEATURE_INCOMPAT_MMP | EXT4_FEATURE_INCOMPAT_FLEX_BG |
			 EXT4_FEATURE_INCOMPAT_EA_INODE | EXT4_FEATURE_INCOMPAT_CSUM_SEED |
			 EXT4_FEATURE_INCOMPAT_LARGEDIR | EXT4_FEATURE_INCOMPAT_INLINE_DATA,
	KNOWN_RO_COMPAT = EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER | EXT2_FEATURE_RO_COMPAT_LARGE_FILE |
			  EXT4_FEATURE_RO_COMPAT_HUGE_FILE | EXT4_FEATURE_RO_COMPAT_GDT_CSUM |
			  EXT4_FEATURE_RO_COMPAT_DIR_NLINK | EXT4_FEATURE_RO_COMPAT_EXTRA_ISIZE |
			  EXT4_FEATURE_RO_COMPAT_QUOTA | EXT4_FEATURE_RO_COMPAT_METADATA_CSUM |
			  EXT4_FEATURE_RO_COMPAT_READONLY | EXT4_FEATURE_RO_COMPAT_PROJECT,
};

/* Features that stand in the way and have a name. */
static const struct {
	guint32 incompat, ro_compat;
	const char *reason;
} refused[] = {
	{EXT3_FEATURE_INCOMPAT_RECOVER, 0,
		"its journal has to be replayed first; mount it once or run e2fsck"},
	{EXT3_FEATURE_INCOMPAT_JOURNAL_DEV, 0, "it is the journal of another filesystem"},
	{EXT2_FEATURE_INCOMPAT_COMPRESSION, 0, "it has compressed files; not supported"},
	{EXT4_FEATURE_INCOMPAT_ENCRYPT, 0, "it has encrypted files; not supported"},
	{EXT4_FEATURE_INCOMPAT_CASEFOLD, 0, "it has case-folded names; not supported"},
	{EXT4_FEATURE_INCOMPAT_DIRDATA, 0, "it has data in directory entries; not supported"},
	{0, EXT4_FEATURE_RO_COMPAT_BIGALLOC, "it allocates in clusters (bigalloc); not supported"},
	{0, EXT4_FEATURE_RO_COMPAT_VERITY, "it has sealed files (verity); not supported"},
	{0, EXT4_FEATURE_RO_COMPAT_SHARED_BLOCKS, "files in it share blocks; not supported"},
	{0, EXT4_FEATURE_RO_COMPAT_HAS_SNAPSHOT, "it has snapshots; not supported"},
	{0, EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT,
		"it has deleted files that were still open (orphans); run e2fsck"},
};

gboolean img_ext4_fail(
	const img_ext4 *image, errcode_t code, GError **error, const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	return ro_fail(error, code < FIRST_LIBRARY_ERROR ? RO_ERROR_FAILED : RO_ERROR_UNSUITABLE,
		"%s: %s: %s", image->label, what, error_message(code));
}

gboolean img_ext4_damaged(const img_ext4 *image, GError **error, const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s; the filesystem is damaged, run e2fsck",
		image->label, what);
}

static gboolean unsuitable(const img_source *source, const char *reason, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s", source->label, reason);
}

static guint64 super_blocks(const struct ext2_super_block *super)
{
	guint64 high = super->s_feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT
			       ? super->s_blocks_count_hi
			       : 0;

	return high << 32 | super->s_blocks_count;
}

static gboolean check_features(
	const img_source *source, const struct ext2_super_block *super, GError **error)
{
	guint32 incompat = super->s_feature_incompat, ro_compat = super->s_feature_ro_compat;

	for (gsize i = 0; i < G_N_ELEMENTS(refused); i++)
		if (incompat & refused[i].incompat || ro_compat & refused[i].ro_compat)
			return unsuitable(source, refused[i].reason, error);
	incompat &= ~(guint32)KNOWN_INCOMPAT;
	ro_compat &= ~(guint32)KNOWN_RO_COMPAT;
	if (incompat || ro_compat)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: ext4 features that this program does not know (incompatible %#x, read-only %#x)",
			source->label, incompat, ro_compat);
	return TRUE;
}

static gboolean check_state(
	const img_source *source, const struct ext2_super_block *super, GError **error)
{
	if (super->s_state & EXT2_ERROR_FS || super->s_error_count)
		return unsuitable(source, "errors in it were found at run time; run e2fsck", error);
	if (!(super->s_state & EXT2_VALID_FS))
		return unsuitable(source, "it was not unmounted cleanly; run e2fsck", error);
	if (super->s_last_orphan)
		return unsuitable(source,
			"it has deleted files that were still open (orphans); run e2fsck", error);
	if (super->s_feature_compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL && super->s_journal_inum == 0)
		return unsuitable(source, "its journal is on another device; not supported", error);
	return TRUE;
}

static gboolean check_size(
	const img_source *source, const struct ext2_super_block *super, GError **error)
{
	guint64 blocks = super_blocks(super), bytes;

	if (super->s_log_block_size > EXT2_MAX_BLOCK_LOG_SIZE - EXT2_MIN_BLOCK_LOG_SIZE)
		return unsuitable(source, "blocks of an impossible size; it is damaged", error);
	if (blocks > IMG_EXT4_MAX_BLOCKS)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: %" G_GUINT64_FORMAT " blocks; not more than %d are supported",
			source->label, blocks, IMG_EXT4_MAX_BLOCKS);
	bytes = blocks << (super->s_log_block_size + EXT2_MIN_BLOCK_LOG_SIZE);
	if (bytes > source->size)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: truncated: the filesystem has %" G_GUINT64_FORMAT
			" bytes, the file %" G_GUINT64_FORMAT "; get the file anew",
			source->label, bytes, source->size);
	if ((guint64)super->s_inodes_count * EXT2_GOOD_OLD_INODE_SIZE > bytes)
		return unsuitable(
			source, "more inodes than there is room for; it is damaged", error);
	return TRUE;
}

/* extlinux and GRUB put themselves there, and know by their numbers the blocks that they load. */
static gboolean check_boot_block(const img_source *source, const guint8 *start, GError **error)
{
	for (gsize i = 0; i < IMG_EXT4_SUPER_OFFSET; i++)
		if (start[i])
			return unsuitable(source,
				"there is a boot loader in front of the filesystem, which would not find its files again; not supported",
				error);
	return TRUE;
}

gboolean img_ext4_check_start(const img_source *source, const guint8 *start, GError **error)
{
	struct ext2_super_block super;

	G_STATIC_ASSERT(sizeof(super) == IMG_EXT4_SUPER_SIZE);
	memcpy(&super, start + IMG_EXT4_SUPER_OFFSET, sizeof(super));
	if (super.s_magic != EXT2_SUPER_MAGIC)
		return unsuitable(source, "no ext2, ext3 or ext4 filesystem", error);
	if (super.s_creator_os != EXT2_OS_LINUX)
		return unsuitable(
			source, "made for another system than Linux; not supported", error);
	return check_features(source, &super, error) && check_state(source, &super, error) &&
	       check_size(source, &super, error) && check_boot_block(source, start, error);
}

gboolean img_ext4_check(const img_source *source, GError **error)
{
	guint8 start[IMG_EXT4_START_SIZE];

	return img_source_read(source, 0, start, sizeof(start), error) &&
	       img_ext4_check_start(source, start, error);
}

static img_ext4 *image_new(const img_source *source)
{
	img_ext4 *image = g_new0(img_ext4, 1);

	initialize_ext2_error_table();
	image->label = g_strdup(source->label);
	image->source = *source;
	image->source.label = image->label;
	return image;
}

/* A window of a file that is open already. */
static gboolean open_library(img_ext4 *image, int flags, GError **error)
{
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", image->source.fd);
	g_autofree char *options =
		g_strdup_printf("offset=%" G_GUINT64_FORMAT, image->source.offset);
	errcode_t code = ext2fs_open2(path, image->source.offset ? options : NULL,
		flags | EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0, 0, unix_io_manager, &image->fs);

	if (code)
		return img_ext4_fail(image, code, error, "cannot be opened");
	image->blocks = (guint32)ext2fs_blocks_count(image->fs->super);
	code = ext2fs_check_desc(image->fs);
	if (code)
		return img_ext4_fail(image, code, error, "group descriptors");
	code = ext2fs_read_bitmaps(image->fs);
	return !code || img_ext4_fail(image, code, error, "bitmaps");
}

static void mark(img_ext4 *image, guint64 block, guint32 count)
{
	for (guint32 i = 0; block && i < count && block + i < image->blocks; i++)
		ext2fs_mark_block_bitmap2(image->fixed, block + i);
}

static gboolean find_fixed(img_ext4 *image, GError **error)
{
	ext2_filsys fs = image->fs;
	errcode_t code = ext2fs_allocate_block_bitmap(fs, "fixed blocks", &image->fixed);

	if (code)
		return img_ext4_fail(image, code, error, "bitmap");
	for (dgrp_t group = 0; group < fs->group_desc_count; group++) {
		ext2fs_reserve_super_and_bgd(fs, group, image->fixed);
		mark(image, ext2fs_block_bitmap_loc(fs, group), 1);
		mark(image, ext2fs_inode_bitmap_loc(fs, group), 1);
		mark(image, ext2fs_inode_table_loc(fs, group), fs->inode_blocks_per_group);
	}
	if (ext2fs_has_feature_mmp(fs->super))
		mark(image, fs->super->s_mmp_block, 1);
	return TRUE;
}

img_ext4 *img_ext4_open(const img_source *source, GError **error)
{
	g_autoptr(img_ext4) image = NULL;

	if (!img_ext4_check(source, error))
		return NULL;
	image = image_new(source);
	if (!open_library(image, 0, error) || !find_fixed(image, error))
		return NULL;
	return g_steal_pointer(&image);
}

img_ext4 *img_ext4_open_output(const char *path, int fd, guint64 size, GError **error)
{
	img_source source = {fd, 0, size, path};
	g_autoptr(img_ext4) image = image_new(&source);

	if (!open_library(image, EXT2_FLAG_RW, error))
		return NULL;
	image->fs->flags |= EXT2_FLAG_MASTER_SB_ONLY;
	return g_steal_pointer(&image);
}

gboolean img_ext4_close(img_ext4 *image, GError **error)
{
	errcode_t code = ext2fs_close2(image->fs, EXT2_FLAG_FLUSH_NO_SYNC);

	if (code)
		ext2fs_free(image->fs);
	image->fs = NULL;
	return !code || img_ext4_fail(image, code, error, "write");
}

void img_ext4_free(img_ext4 *image)
{
	if (!image)
		return;
	if (image->fixed)
		ext2fs_free_block_bitmap(image->fixed);
	if (image->fs)
		ext2fs_free(image->fs);
	g_free(image->label);
	g_free(image);
}

gboolean img_ext4_read_block(const img_ext4 *image, guint64 block, void *buffer, GError **error)
{
	errcode_t code;

	if (block < image->fs->super->s_first_data_block || block >= image->blocks)
		return img_ext4_damaged(
			image, error, "block %" G_GUINT64_FORMAT " is not there", block);
	code = io_channel_read_blk64(image->fs->io, block, 1, buffer);
	return !code || img_ext4_fail(image, code, error, "block %" G_GUINT64_FORMAT, block);
}

gboolean img_ext4_is_pinned(const img_ext4 *image, ext2_ino_t ino)
{
	const struct ext2_super_block *super = image->fs->super;

	if (ino == EXT2_ROOT_INO)
		return FALSE;
	return ino < EXT2_FIRST_INO(super) || ino == super->s_journal_inum ||
	       ino == super->s_usr_quota_inum || ino == super->s_grp_quota_inum ||
	       ino == super->s_prj_quota_inum || ino == super->s_orphan_file_inum;
}

static gboolean each_inode(const img_ext4 *image, ext2_inode_scan scan,
	struct ext2_inode_large *inode, int size, img_ext4_visit visit, void *user, GError **error)
{
	while (TRUE) {
		ext2_ino_t ino;
		errcode_t code = ext2fs_get_next_inode_full(scan, &ino, (void *)inode, size);

		if (ro_interrupted(error))
			return FALSE;
		if (code)
			return img_ext4_fail(image, code, error, "inode %u", ino);
		if (ino == 0)
			return TRUE;
		if (ext2fs_test_inode_bitmap2(image->fs->inode_map, ino) &&
			!visit(user, ino, inode, error))
			return FALSE;
	}
}

gboolean img_ext4_each_inode(
	const img_ext4 *image, img_ext4_visit visit, void *user, GError **error)
{
	int size = EXT2_INODE_SIZE(image->fs->super);
	g_autofree struct ext2_inode_large *inode =
		g_malloc0(MAX((gsize)size, sizeof(struct ext2_inode_large)));
	ext2_inode_scan scan;
	errcode_t code = ext2fs_open_inode_scan(image->fs, 0, &scan);
	gboolean ok;

	if (code)
		return img_ext4_fail(image, code, error, "inodes");
	ok = each_inode(image, scan, inode, size, visit, user, error);
	ext2fs_close_inode_scan(scan);
	return ok;
}
