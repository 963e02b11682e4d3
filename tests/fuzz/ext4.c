/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ext2, ext3 or ext4 image; sparse (fuzz.h). */
#include "reorder/image/ext4_tree.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_sparse_file(data, size);
	img_source source = fz_source(fd);
	GError *error = NULL;
	g_autoptr(img_tree) tree = img_ext4_tree_open(&source, &error);

	if (fz_done(tree != NULL, &error))
		for (guint32 i = 0; i < img_tree_entry_count(tree); i++) {
			g_autofree char *path = img_tree_entry_path(tree, i);

			g_assert_cmpuint(img_tree_resolve(tree, path, FALSE), ==,
				img_tree_entry(tree, i)->inode);
		}
	close(fd);
	return 0;
}
