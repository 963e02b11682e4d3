/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/data_map.h"

#include "reorder/image/ext4_block_map.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/util/ranges.h"

struct tr_data_map {
	const img_layer *layer;
	/* Of an ext4; else NULL. */
	img_ext4 *ext4;
	ext2fs_block_bitmap own; /* blocks in use that have no data of regular files */
	/* Where the blocks of an ext4 in a squashfs are stored, by number, and the last one's end;
	 * else NULL. */
	guint64 *outer_blocks;
};

static const img_tree *on_medium(const tr_data_map *map)
{
	return map->layer->outer ? map->layer->outer : map->layer->tree;
}

guint64 tr_data_map_size(const tr_data_map *map)
{
	return img_tree_source(on_medium(map))->size;
}

/* ---- squashfs ---- */

/* A block that goes on in the file where the last piece ends is the same piece. */
static void add_piece(GArray *pieces, const tr_piece *piece)
{
	tr_piece *last = pieces->len ? &g_array_index(pieces, tr_piece, pieces->len - 1) : NULL;

	if (piece->stored == 0)
		return;
	if (last && last->start == piece->start && last->rest + last->bytes == piece->rest)
		last->bytes += piece->bytes;
	else
		g_array_append_vals(pieces, piece, 1);
}

/* Of a block of a file or of its tail, the bytes [from, to). */
static void add_fragment(
	GArray *pieces, const img_tree *tree, const img_inode *inode, guint64 from, guint64 to)
{
	if (inode->fragment >= img_tree_fragment_count(tree))
		return;
	const img_fragment *fragment = img_tree_fragment(tree, inode->fragment);
	tr_piece piece = {fragment->start, IMG_BLOCK_STORED_SIZE(fragment->size_word), to - from,
		inode->fragment_offset + (guint32)from, TRUE};

	add_piece(pieces, &piece);
}

static gboolean squashfs_pieces(const img_tree *tree, const img_inode *inode, GArray *pieces)
{
	guint64 block_size = img_tree_super(tree)->block_size;
	guint64 rest = inode->size, at = inode->data_start;

	for (guint32 i = 0; i < inode->block_count; i++) {
		guint64 stored = IMG_BLOCK_STORED_SIZE(inode->blocks[i]);
		tr_piece piece = {at, stored, MIN(rest, block_size), 0, FALSE};

		add_piece(pieces, &piece);
		at += stored;
		rest -= piece.bytes;
	}
	add_fragment(pieces, tree, inode, 0, rest);
	return inode->block_count > 0;
}

static void squashfs_metadata(const img_tree *tree, GArray *ranges)
{
	ro_ranges_add(ranges, 0, IMG_SUPER_SIZE);
	ro_ranges_add(ranges, img_tree_metadata_start(tree), img_tree_super(tree)->bytes_used);
}

/* ---- a filesystem in a squashfs ---- */

static const img_inode *outer_inode(const tr_data_map *map)
{
	return img_tree_inode(map->layer->outer, map->layer->outer_inode);
}

static void find_outer_blocks(tr_data_map *map)
{
	const img_inode *inode = outer_inode(map);

	map->outer_blocks = g_new(guint64, inode->block_count + 1);
	map->outer_blocks[0] = inode->data_start;
	for (guint32 i = 0; i < inode->block_count; i++)
		map->outer_blocks[i + 1] =
			map->outer_blocks[i] + IMG_BLOCK_STORED_SIZE(inode->blocks[i]);
}

/* Of one block of the outer file. */
static void add_part(
	const tr_data_map *map, guint64 block, guint64 from, guint64 to, GArray *pieces)
{
	const img_inode *inode = outer_inode(map);

	if (block >= inode->block_count) {
		add_fragment(pieces, map->layer->outer, inode, from, to);
		return;
	}
	guint64 start = map->outer_blocks[block];
	tr_piece piece = {
		start, map->outer_blocks[block + 1] - start, to - from, (guint32)from, FALSE};

	add_piece(pieces, &piece);
}

/* ---- ext4 ---- */

/* Bytes [from, to) of the filesystem, which are all in one piece of the image if it lies there
 * itself. */
static void add_bytes(const tr_data_map *map, guint64 from, guint64 to, GArray *pieces)
{
	if (!map->outer_blocks) {
		tr_piece piece = {from, to - from, to - from, 0, FALSE};

		add_piece(pieces, &piece);
		return;
	}
	guint64 size = img_tree_super(map->layer->outer)->block_size;

	while (from < to) {
		guint64 block = from / size, end = MIN(to, (block + 1) * size);

		add_part(map, block, from - block * size, end - block * size, pieces);
		from = end;
	}
}

typedef struct {
	const tr_data_map *map;
	guint64 size; /* of the file */
	GArray *pieces;
} collector;

static gboolean collect(void *user, const img_ext4_extent *extent, GError **error)
{
	const collector *c = user;
	guint64 block_size = c->map->ext4->fs->blocksize;

	(void)error;
	for (guint32 i = 0; !extent->unwritten && i < extent->length; i++) {
		guint64 at = (extent->logical + (guint64)i) * block_size;
		guint64 from = (extent->start + (guint64)i) * block_size;

		if (at < c->size)
			add_bytes(c->map, from, from + MIN(block_size, c->size - at), c->pieces);
	}
	return TRUE;
}

static gboolean ext4_pieces(const tr_data_map *map, const img_inode *file, GArray *pieces)
{
	collector c = {map, file->size, pieces};
	const img_ext4_visitor visitor = {NULL, collect, &c};
	struct ext2_inode_large inode = {0};

	if (file->data_stored == 0 ||
		ext2fs_read_inode(map->ext4->fs, file->number, EXT2_INODE(&inode)) != 0)
		return FALSE;
	/* It was sound when the map was made. */
	return img_ext4_walk_map(map->ext4, file->number, &inode, &visitor, NULL);
}

static gboolean disown(void *user, const img_ext4_extent *extent, GError **error)
{
	tr_data_map *map = user;

	(void)error;
	ext2fs_unmark_block_bitmap_range2(map->own, extent->start, extent->length);
	return TRUE;
}

static gboolean disown_file(
	void *user, ext2_ino_t ino, struct ext2_inode_large *inode, GError **error)
{
	tr_data_map *map = user;
	const img_ext4_visitor visitor = {NULL, disown, map};

	if (!LINUX_S_ISREG(inode->i_mode) || inode->i_links_count == 0 ||
		inode->i_flags & EXT4_EA_INODE_FL || img_ext4_is_pinned(map->ext4, ino) ||
		!img_ext4_has_map(map->ext4, inode))
		return TRUE;
	return img_ext4_walk_map(map->ext4, ino, inode, &visitor, error);
}

static gboolean find_own(tr_data_map *map, GError **error)
{
	errcode_t code = ext2fs_copy_bitmap(map->ext4->fs->block_map, &map->own);

	if (code)
		return img_ext4_fail(map->ext4, code, error, "bitmap");
	return img_ext4_each_inode(map->ext4, disown_file, map, error);
}

/* The next blocks of its own from *end on. */
static gboolean next_own(const tr_data_map *map, guint64 *start, guint64 *end)
{
	guint64 last = map->ext4->blocks - 1;
	blk64_t found;

	if (*end > last || ext2fs_find_first_set_block_bitmap2(map->own, *end, last, &found) != 0)
		return FALSE;
	*start = found;
	*end = ext2fs_find_first_zero_block_bitmap2(map->own, found, last, &found) == 0 ? found
											: last + 1;
	return TRUE;
}

static void ext4_metadata(const tr_data_map *map, GArray *ranges)
{
	guint64 block_size = map->ext4->fs->blocksize;
	guint64 start, end = map->ext4->fs->super->s_first_data_block;
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(tr_piece));

	while (next_own(map, &start, &end))
		add_bytes(map, start * block_size, end * block_size, pieces);
	for (guint i = 0; i < pieces->len; i++) {
		const tr_piece *piece = &g_array_index(pieces, tr_piece, i);

		ro_ranges_add(ranges, piece->start, piece->start + piece->stored);
	}
}

/* ---- */

tr_data_map *tr_data_map_new(const img_layer *layer, GError **error)
{
	g_autoptr(tr_data_map) map = g_new0(tr_data_map, 1);

	map->layer = layer;
	if (layer->outer)
		find_outer_blocks(map);
	if (!img_ext4_is_tree(layer->tree))
		return g_steal_pointer(&map);
	map->ext4 = img_ext4_open(img_tree_source(layer->tree), error);
	if (!map->ext4 || !find_own(map, error))
		return NULL;
	return g_steal_pointer(&map);
}

void tr_data_map_free(tr_data_map *map)
{
	if (!map)
		return;
	if (map->own)
		ext2fs_free_block_bitmap(map->own);
	img_ext4_free(map->ext4);
	g_free(map->outer_blocks);
	g_free(map);
}

gboolean tr_data_map_pieces(tr_data_map *map, guint32 inode, GArray *pieces)
{
	const img_inode *file = img_tree_inode(map->layer->tree, inode);

	g_array_set_size(pieces, 0);
	if (map->ext4)
		return ext4_pieces(map, file, pieces);
	return squashfs_pieces(map->layer->tree, file, pieces);
}

GArray *tr_data_map_metadata(const tr_data_map *map)
{
	GArray *ranges = ro_ranges_new();

	if (map->ext4)
		ext4_metadata(map, ranges);
	if (!map->ext4 || map->layer->outer)
		squashfs_metadata(on_medium(map), ranges);
	return ranges;
}
