/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/ext4_block_map.h"

#include <ext2fs/ext3_extents.h>
#include <string.h>

/* EXT4_MAX_EXTENT_DEPTH; indirect blocks have three levels. */
enum { MAX_DEPTH = 5 };

enum { ENTRY_SIZE = sizeof(struct ext3_extent), HEADER_SIZE = sizeof(struct ext3_extent_header) };

typedef struct {
	const img_ext4 *image;
	ext2_ino_t ino;
	const img_ext4_visitor *visitor;
	guint8 *buffers[MAX_DEPTH]; /* one for each level below the inode */
	/* Where the map is changed; else NULL. */
	const guint32 *new_of;
	img_ext4 *output;
} walk;

static void walk_clear(walk *w)
{
	for (guint i = 0; i < MAX_DEPTH; i++)
		g_free(w->buffers[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(walk, walk_clear)

static gboolean damaged(const walk *w, GError **error)
{
	return img_ext4_damaged(
		w->image, error, "inode %u: the map of its blocks makes no sense", w->ino);
}

static gboolean check_range(const walk *w, guint64 start, guint32 length, GError **error)
{
	if (start < MAX(1, w->image->fs->super->s_first_data_block) || start >= w->image->blocks ||
		length > w->image->blocks - start)
		return damaged(w, error);
	return TRUE;
}

static gboolean visit_extent(walk *w, const img_ext4_extent *extent, GError **error)
{
	return !w->visitor->extent || w->visitor->extent(w->visitor->user, extent, error);
}

/* Reads a node to the buffer of its level. */
static gboolean enter_node(walk *w, guint64 block, guint level, guint8 **node, GError **error)
{
	if (!check_range(w, block, 1, error) ||
		(w->visitor->node && !w->visitor->node(w->visitor->user, (guint32)block, error)))
		return FALSE;
	if (!w->buffers[level])
		w->buffers[level] = g_malloc(w->image->fs->blocksize);
	*node = w->buffers[level];
	return img_ext4_read_block(w->image, block, *node, error);
}

static gboolean write_node(walk *w, guint32 old, const guint8 *node, GError **error)
{
	errcode_t code = io_channel_write_blk64(w->output->fs->io, w->new_of[old], 1, node);

	return !code || img_ext4_fail(w->output, code, error, "block %u", w->new_of[old]);
}

/* ---- indirect blocks ---- */

static gboolean visit_block(walk *w, guint32 logical, guint32 block, GError **error)
{
	img_ext4_extent extent = {logical, block, 1, FALSE, G_MAXUINT32, FALSE};

	return check_range(w, block, 1, error) && visit_extent(w, &extent, error);
}

static gboolean walk_pointers(
	walk *w, guint32 *pointers, guint count, guint level, guint64 *logical, GError **error);

static gboolean walk_indirect(walk *w, guint32 block, guint level, guint64 *logical, GError **error)
{
	guint8 *node;

	if (!enter_node(w, block, level - 1, &node, error) ||
		!walk_pointers(w, (guint32 *)(void *)node, w->image->fs->blocksize / 4, level - 1,
			logical, error))
		return FALSE;
	return !w->new_of || write_node(w, block, node, error);
}

/* level 0: the pointers are to data. Moves *logical behind what they map. */
static gboolean walk_pointers(
	walk *w, guint32 *pointers, guint count, guint level, guint64 *logical, GError **error)
{
	guint64 span = 1;

	for (guint i = 0; i < level; i++)
		span *= w->image->fs->blocksize / 4;
	for (guint i = 0; i < count; i++) {
		guint64 at = *logical;

		*logical += span;
		if (pointers[i] == 0)
			continue;
		if (at > G_MAXUINT32)
			return damaged(w, error);
		if (level == 0 ? !visit_block(w, (guint32)at, pointers[i], error)
			       : !walk_indirect(w, pointers[i], level, &at, error))
			return FALSE;
		if (w->new_of)
			pointers[i] = w->new_of[pointers[i]];
	}
	return TRUE;
}

static gboolean walk_block_numbers(walk *w, guint32 *i_block, GError **error)
{
	guint64 logical = 0;

	if (!walk_pointers(w, i_block, EXT2_NDIR_BLOCKS, 0, &logical, error))
		return FALSE;
	for (guint level = 1; level <= EXT2_N_BLOCKS - EXT2_NDIR_BLOCKS; level++)
		if (!walk_pointers(
			    w, i_block + EXT2_NDIR_BLOCKS + level - 1, 1, level, &logical, error))
			return FALSE;
	return TRUE;
}

/* ---- extent trees ---- */

static guint64 extent_start(const struct ext3_extent *extent)
{
	return (guint64)extent->ee_start_hi << 32 | extent->ee_start;
}

static gboolean is_unwritten(const struct ext3_extent *extent)
{
	return extent->ee_len > EXT_INIT_MAX_LEN;
}

static guint32 extent_length(const struct ext3_extent *extent)
{
	return is_unwritten(extent) ? extent->ee_len - EXT_INIT_MAX_LEN : extent->ee_len;
}

static gboolean check_header(const walk *w, const struct ext3_extent_header *header, gsize size,
	guint depth, GError **error)
{
	if (header->eh_magic != EXT3_EXT_MAGIC || header->eh_depth != depth ||
		header->eh_max > (size - HEADER_SIZE) / ENTRY_SIZE ||
		header->eh_entries > header->eh_max)
		return damaged(w, error);
	return TRUE;
}

static gboolean visit_leaf(walk *w, const struct ext3_extent_header *header, GError **error)
{
	const struct ext3_extent *extents = EXT_FIRST_EXTENT(header);
	guint64 next = 0;

	for (guint i = 0; i < header->eh_entries; i++) {
		const struct ext3_extent *e = &extents[i];
		img_ext4_extent extent = {e->ee_block, e->ee_start, extent_length(e),
			is_unwritten(e), header->eh_max - header->eh_entries, i == 0};

		if (!check_range(w, extent_start(e), extent.length, error))
			return FALSE;
		if (extent.length == 0 || e->ee_block < next)
			return damaged(w, error);
		next = (guint64)e->ee_block + extent.length;
		if (next > EXT_MAX_EXTENT_LBLK + 1)
			return damaged(w, error);
		if (!visit_extent(w, &extent, error))
			return FALSE;
	}
	return TRUE;
}

/* The first part of an extent that stays together; shortens the extent by it. */
static struct ext3_extent split_off(struct ext3_extent *extent, const guint32 *new_of)
{
	guint32 start = extent->ee_start, length = extent_length(extent), n = 1;
	struct ext3_extent part = *extent;

	while (n < length && new_of[start + n] == new_of[start] + n)
		n++;
	part.ee_start = new_of[start];
	part.ee_len = (guint16)(is_unwritten(extent) ? n + EXT_INIT_MAX_LEN : n);
	extent->ee_start += n;
	extent->ee_block += n;
	extent->ee_len = (guint16)(extent->ee_len - n);
	return part;
}

static gboolean move_leaf(const walk *w, struct ext3_extent_header *header, GError **error)
{
	struct ext3_extent *extents = EXT_FIRST_EXTENT(header);
	guint count = header->eh_entries, moved = 0;
	g_autofree struct ext3_extent *old = g_memdup2(extents, (gsize)count * ENTRY_SIZE);

	for (guint i = 0; i < count; i++)
		for (guint32 left = extent_length(&old[i]); left > 0;) {
			if (moved == header->eh_max)
				return damaged(w, error);
			extents[moved] = split_off(&old[i], w->new_of);
			left -= extent_length(&extents[moved++]);
		}
	header->eh_entries = (guint16)moved;
	return TRUE;
}

static gboolean walk_tree(walk *w, void *node, guint depth, GError **error);

static gboolean write_tree_node(walk *w, guint32 block, void *node, GError **error)
{
	errcode_t code = ext2fs_extent_block_csum_set(w->output->fs, w->ino, node);

	if (code)
		return img_ext4_fail(w->output, code, error, "inode %u", w->ino);
	return write_node(w, block, node, error);
}

static gboolean walk_child(walk *w, struct ext3_extent_idx *index, guint depth, GError **error)
{
	guint64 block = (guint64)index->ei_leaf_hi << 32 | index->ei_leaf;
	guint8 *node;

	if (!enter_node(w, block, depth - 1, &node, error))
		return FALSE;
	if (!check_header(w, (void *)node, w->image->fs->blocksize, depth - 1, error))
		return FALSE;
	if (!ext2fs_extent_block_csum_verify(w->image->fs, w->ino, (void *)node))
		return img_ext4_damaged(w->image, error,
			"inode %u: a checksum in its extent tree is wrong", w->ino);
	if (!walk_tree(w, node, depth - 1, error))
		return FALSE;
	if (!w->new_of)
		return TRUE;
	index->ei_leaf = w->new_of[block];
	return write_tree_node(w, (guint32)block, node, error);
}

static gboolean walk_tree(walk *w, void *node, guint depth, GError **error)
{
	struct ext3_extent_header *header = node;
	struct ext3_extent_idx *indexes = EXT_FIRST_INDEX(header);

	if (depth == 0)
		return visit_leaf(w, header, error) && (!w->new_of || move_leaf(w, header, error));
	for (guint i = 0; i < header->eh_entries; i++)
		if (!walk_child(w, &indexes[i], depth, error))
			return FALSE;
	return TRUE;
}

/* ---- */

static gboolean walk_map(walk *w, guint32 flags, guint32 *i_block, GError **error)
{
	guint depth;

	if (!(flags & EXT4_EXTENTS_FL))
		return walk_block_numbers(w, i_block, error);
	depth = ((struct ext3_extent_header *)(void *)i_block)->eh_depth;
	if (depth > MAX_DEPTH)
		return damaged(w, error);
	return check_header(w, (void *)i_block, EXT2_N_BLOCKS * 4, depth, error) &&
	       walk_tree(w, i_block, depth, error);
}

gboolean img_ext4_has_map(const img_ext4 *image, const struct ext2_inode_large *inode)
{
	return ext2fs_inode_has_valid_blocks2(
		       image->fs, EXT2_INODE((struct ext2_inode_large *)inode)) &&
	       !(inode->i_flags & EXT4_INLINE_DATA_FL);
}

gboolean img_ext4_walk_map(const img_ext4 *image, ext2_ino_t ino,
	const struct ext2_inode_large *inode, const img_ext4_visitor *visitor, GError **error)
{
	g_auto(walk) w = {.image = image, .ino = ino, .visitor = visitor};
	guint32 copy[EXT2_N_BLOCKS];

	memcpy(copy, inode->i_block, sizeof(copy));
	return walk_map(&w, inode->i_flags, copy, error);
}

gboolean img_ext4_move_map(const img_ext4 *image, ext2_ino_t ino, struct ext2_inode_large *inode,
	const guint32 *new_of, img_ext4 *output, GError **error)
{
	static const img_ext4_visitor none = {NULL, NULL, NULL};
	g_auto(walk) w = {
		.image = image, .ino = ino, .visitor = &none, .new_of = new_of, .output = output};

	return walk_map(&w, inode->i_flags, inode->i_block, error);
}
