/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directory records and System Use entries of all trees, and the checksum lists; sparse (fuzz.h).
 */
#include "iso/checksums.h"
#include "iso/volume_tree.h"
#include "tests/fuzz/fuzz.h"

static void read_node(int fd, const li_node *node)
{
	guint8 last;
	GError *error = NULL;

	if (node->size > 0)
		fz_done(li_node_read(fd, node, node->size - 1, &last, 1, &error), &error);
}

static void read_tree(int fd, li_vd_kind kind)
{
	GError *error = NULL;
	g_autoptr(li_tree) tree = li_tree_read(fd, kind, "fuzz", &error);

	if (!fz_done(tree != NULL, &error))
		return;
	for (guint i = 0; i < tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(tree->nodes, i);

		g_assert_nonnull(li_tree_find(tree, node->path));
		read_node(fd, node);
	}
	fz_done(li_sums_check(fd, tree, "/live/filesystem.squashfs", &error), &error);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_sparse_file(data, size);

	read_tree(fd, LI_VD_PRIMARY);
	read_tree(fd, LI_VD_JOLIET);
	read_tree(fd, LI_VD_ENHANCED);
	close(fd);
	return 0;
}
