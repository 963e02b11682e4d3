/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A squashfs image: superblock, tables, attributes, content. */
#include "reorder/ext4_wrapping.h"
#include "reorder/image/data_reader.h"
#include "reorder/image/xattrs.h"
#include "tests/fuzz/fuzz.h"

/* Blocks of content that are read: a few bytes may be a large file. */
enum { BLOCKS = 64 };

static void read_content(const img_tree *tree)
{
	g_autoptr(img_reader) reader = img_reader_new(tree, NULL);
	guint left = BLOCKS;

	for (guint32 i = 0; reader && i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);
		gsize length = inode->type == IMG_FILE;
		img_stream stream;

		img_stream_start(&stream, reader, inode);
		while (length > 0 && left-- > 0) {
			const guint8 *data;
			GError *error = NULL;

			if (!fz_done(img_stream_next(&stream, &data, &length, &error), &error))
				break;
		}
	}
}

static void read_attributes(const img_tree *tree)
{
	GError *error = NULL;
	g_autoptr(img_xattrs) xattrs = img_xattrs_new(tree, &error);

	if (!fz_done(xattrs != NULL, &error))
		return;
	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		g_autoptr(GArray) set = NULL;

		set = img_xattrs_get(xattrs, img_tree_inode(tree, i)->xattr, &error);
		fz_done(set != NULL, &error);
	}
}

/* A name leads to its inode, unless a link is on the way. */
static void look_up(const img_tree *tree)
{
	for (guint32 i = 0; i < img_tree_entry_count(tree); i++) {
		g_autofree char *path = img_tree_entry_path(tree, i);

		g_assert_cmpuint(
			img_tree_resolve(tree, path, FALSE), ==, img_tree_entry(tree, i)->inode);
		img_tree_resolve(tree, path, TRUE);
	}
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_file(data, size);
	img_source source = fz_source(fd);
	GError *error = NULL;
	g_autoptr(img_tree) tree = img_tree_open(&source, &error);

	if (fz_done(tree != NULL, &error)) {
		look_up(tree);
		read_attributes(tree);
		read_content(tree);
		fz_done(ro_ext4_check_wrapping(tree, &error), &error);
		ro_ext4_find_inside(tree);
	}
	close(fd);
	return 0;
}
