/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ext2, ext3 or ext4 image; sparse (fuzz.h): what its superblock says, its tree, where the data
 * of its files lie. */
#include "reorder/image/ext4_facts.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/util/ranges.h"
#include "tests/fuzz/fuzz.h"
#include "trace/data_map.h"

static void look_at_facts(const img_source *source)
{
	g_auto(img_ext4_facts) facts = {0};
	GError *error = NULL;

	if (!fz_done(img_ext4_facts_read(source, &facts, &error), &error))
		return;
	g_assert_cmpuint(facts.free, <=, facts.size);
	g_assert_cmpuint(facts.free_inodes, <=, facts.inodes);
}

static void look_at_data(const img_tree *tree)
{
	const img_layer layer = {.name = "/i", .tree = tree};
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(tr_piece));
	guint64 size = img_tree_source(tree)->size;
	GError *error = NULL;
	g_autoptr(tr_data_map) map = tr_data_map_new(&layer, &error);

	g_assert_no_error(error);
	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		if (img_tree_inode(tree, i)->type != IMG_FILE)
			continue;
		tr_data_map_pieces(map, i, pieces);
		for (guint j = 0; j < pieces->len; j++) {
			const tr_piece *piece = &g_array_index(pieces, tr_piece, j);

			g_assert_cmpuint(piece->start + piece->stored, <=, size);
		}
	}
	g_autoptr(GArray) metadata = tr_data_map_metadata(map);
	for (guint i = 0; i < metadata->len; i++)
		g_assert_cmpuint(g_array_index(metadata, ro_range, i).end, <=, size);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_sparse_file(data, size);
	img_source source = fz_source(fd);
	GError *error = NULL;
	g_autoptr(img_tree) tree = img_ext4_tree_open(&source, &error);

	look_at_facts(&source);
	if (fz_done(tree != NULL, &error)) {
		look_at_data(tree);
		for (guint32 i = 0; i < img_tree_entry_count(tree); i++) {
			g_autofree char *path = img_tree_entry_path(tree, i);

			g_assert_cmpuint(img_tree_resolve(tree, path, FALSE), ==,
				img_tree_entry(tree, i)->inode);
		}
	}
	close(fd);
	return 0;
}
