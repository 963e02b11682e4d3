/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/ext4_facts.h"

#include <string.h>

#include "reorder/image/data_reader.h"
#include "reorder/image/ext4.h"
#include "reorder/util/error.h"

typedef struct {
	guint32 compat, incompat, ro_compat;
	const char *name; /* ext4(5) */
} feature;

static const feature told[] = {
	{EXT3_FEATURE_COMPAT_HAS_JOURNAL, 0, 0, "has_journal"},
	{0, EXT3_FEATURE_INCOMPAT_EXTENTS, 0, "extent"},
	{0, EXT4_FEATURE_INCOMPAT_64BIT, 0, "64bit"},
	{0, EXT4_FEATURE_INCOMPAT_FLEX_BG, 0, "flex_bg"},
	{0, EXT2_FEATURE_INCOMPAT_META_BG, 0, "meta_bg"},
	{0, EXT4_FEATURE_INCOMPAT_INLINE_DATA, 0, "inline_data"},
	{0, 0, EXT4_FEATURE_RO_COMPAT_GDT_CSUM, "uninit_bg"},
	{0, 0, EXT4_FEATURE_RO_COMPAT_METADATA_CSUM, "metadata_csum"},
	{0, EXT3_FEATURE_INCOMPAT_RECOVER, 0, "needs_recovery"},
	{0, EXT3_FEATURE_INCOMPAT_JOURNAL_DEV, 0, "journal_dev"},
	{0, EXT2_FEATURE_INCOMPAT_COMPRESSION, 0, "compression"},
	{0, EXT4_FEATURE_INCOMPAT_ENCRYPT, 0, "encrypt"},
	{0, EXT4_FEATURE_INCOMPAT_CASEFOLD, 0, "casefold"},
	{0, 0, EXT4_FEATURE_RO_COMPAT_BIGALLOC, "bigalloc"},
	{0, 0, EXT4_FEATURE_RO_COMPAT_VERITY, "verity"},
	{0, 0, EXT4_FEATURE_RO_COMPAT_SHARED_BLOCKS, "shared_blocks"},
};

/* What came with ext4 (libblkid tells them apart in the same way). */
enum {
	EXT4_INCOMPAT = EXT3_FEATURE_INCOMPAT_EXTENTS | EXT4_FEATURE_INCOMPAT_64BIT |
			EXT4_FEATURE_INCOMPAT_MMP | EXT4_FEATURE_INCOMPAT_FLEX_BG |
			EXT4_FEATURE_INCOMPAT_EA_INODE | EXT4_FEATURE_INCOMPAT_CSUM_SEED |
			EXT4_FEATURE_INCOMPAT_LARGEDIR | EXT4_FEATURE_INCOMPAT_INLINE_DATA |
			EXT4_FEATURE_INCOMPAT_ENCRYPT | EXT4_FEATURE_INCOMPAT_CASEFOLD,
	EXT3_RO_COMPAT = EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER | EXT2_FEATURE_RO_COMPAT_LARGE_FILE,
};

static const char *type_of(const struct ext2_super_block *super)
{
	if (super->s_feature_incompat & EXT4_INCOMPAT ||
		super->s_feature_ro_compat & ~(guint32)EXT3_RO_COMPAT)
		return "ext4";
	return super->s_feature_compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL ? "ext3" : "ext2";
}

static void add_features(img_ext4_facts *facts, const struct ext2_super_block *super)
{
	facts->features = g_ptr_array_new();
	for (gsize i = 0; i < G_N_ELEMENTS(told); i++)
		if (super->s_feature_compat & told[i].compat ||
			super->s_feature_incompat & told[i].incompat ||
			super->s_feature_ro_compat & told[i].ro_compat)
			g_ptr_array_add(facts->features, (char *)told[i].name);
}

/* source is for the size and the label only. */
static gboolean take(
	img_ext4_facts *facts, const img_source *source, const guint8 *start, GError **error)
{
	g_autoptr(GError) reason = NULL;
	struct ext2_super_block super;

	memcpy(&super, start + IMG_EXT4_SUPER_OFFSET, sizeof(super));
	if (super.s_magic != EXT2_SUPER_MAGIC ||
		super.s_log_block_size > EXT2_MAX_BLOCK_LOG_SIZE - EXT2_MIN_BLOCK_LOG_SIZE)
		return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: no ext2, ext3 or ext4 filesystem",
			source->label);
	facts->type = type_of(&super);
	facts->block_size = 1u << (super.s_log_block_size + EXT2_MIN_BLOCK_LOG_SIZE);
	facts->size = ext2fs_blocks_count(&super) * facts->block_size;
	facts->free = MIN(ext2fs_free_blocks_count(&super) * facts->block_size, facts->size);
	facts->inodes = super.s_inodes_count;
	facts->free_inodes = MIN(super.s_free_inodes_count, super.s_inodes_count);
	add_features(facts, &super);
	if (!img_ext4_check_start(source, start, &reason))
		facts->refusal = g_strdup(reason->message);
	return TRUE;
}

gboolean img_ext4_facts_read(const img_source *source, img_ext4_facts *facts, GError **error)
{
	guint8 start[IMG_EXT4_START_SIZE];

	*facts = (img_ext4_facts){0};
	return img_source_read(source, 0, start, sizeof(start), error) &&
	       take(facts, source, start, error);
}

gboolean img_ext4_facts_read_inside(
	const img_tree *outer, guint32 inode, img_ext4_facts *facts, GError **error)
{
	g_autoptr(img_reader) reader = img_reader_new(outer, error);
	g_autofree char *label = NULL;
	img_source source = {.fd = -1, .size = img_tree_inode(outer, inode)->size};
	const guint8 *start;
	img_stream stream;
	gsize length;

	*facts = (img_ext4_facts){0};
	if (!reader)
		return FALSE;
	facts->path = img_tree_inode_path(outer, inode);
	source.label = label =
		g_strdup_printf("%s:/%s", img_tree_source(outer)->label, facts->path);
	img_stream_start(&stream, reader, img_tree_inode(outer, inode));
	if (!img_stream_next(&stream, &start, &length, error))
		return FALSE;
	if (length < IMG_EXT4_START_SIZE)
		return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: truncated", label);
	return take(facts, &source, start, error);
}

void img_ext4_facts_clear(img_ext4_facts *facts)
{
	g_free(facts->path);
	g_free(facts->refusal);
	g_clear_pointer(&facts->features, g_ptr_array_unref);
	*facts = (img_ext4_facts){0};
}
