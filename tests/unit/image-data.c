/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/squashfs-fixture.h"

#include <string.h>

#include "reorder/image/data_reader.h"
#include "reorder/image/xattrs.h"

static GByteArray *read_file(img_reader *reader, const img_inode *inode)
{
	GByteArray *content = g_byte_array_new();
	g_autoptr(GError) error = NULL;
	const guint8 *data;
	img_stream stream;
	gsize length;

	img_stream_start(&stream, reader, inode);
	do {
		img_stream_next(&stream, &data, &length, &error);
		g_assert_no_error(error);
		g_byte_array_append(content, data, (guint)length);
	} while (length > 0);
	return content;
}

static guint compare_files(const sq_image *image)
{
	g_autoptr(img_reader) reader = img_reader_new(image->tree, NULL);
	guint files = 0;

	for (guint32 i = 0; i < img_tree_inode_count(image->tree); i++) {
		const img_inode *inode = img_tree_inode(image->tree, i);
		g_autofree char *path = img_tree_inode_path(image->tree, i), *bytes = NULL;
		g_autofree char *full = g_build_filename(sq_dir, "tree", path, NULL);
		g_autoptr(GByteArray) content = NULL;
		gsize size;

		if (inode->type != IMG_FILE)
			continue;
		g_assert_true(g_file_get_contents(full, &bytes, &size, NULL));
		content = read_file(reader, inode);
		g_assert_cmpmem(content->data, content->len, bytes, size);
		files++;
	}
	return files;
}

static void test_content(gconstpointer options)
{
	g_auto(sq_image) image = {0};

	sq_run("mksquashfs tree v -noappend -quiet -no-progress %s", (const char *)options);
	sq_open(&image, "v");
	g_assert_cmpuint(compare_files(&image), >, 400);
}

static void test_other_tools(void)
{
	static const char *const commands[] = {
		"gensquashfs -q -D tree v -f -c gzip",
		"gensquashfs -q -T -b 65536 -D tree v -f -c zstd",
		"tar -C tree -cf - --exclude=dev/socket . | tar2sqfs -q -f -c xz v",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
		g_auto(sq_image) image = {0};

		sq_run("%s", commands[i]);
		sq_open(&image, "v");
		g_assert_cmpuint(compare_files(&image), >, 400);
	}
}

static const img_xattr *find_xattr(const GArray *set, const char *name)
{
	for (guint i = 0; i < set->len; i++)
		if (strcmp(g_array_index(set, img_xattr, i).name, name) == 0)
			return &g_array_index(set, img_xattr, i);
	g_error("%s is missing", name);
}

static GArray *read_xattrs(const sq_image *image, const img_xattrs *xattrs, const char *path)
{
	g_autoptr(GError) error = NULL;
	GArray *set = img_xattrs_get(
		xattrs, img_tree_inode(image->tree, sq_inode(image, path))->xattr, &error);

	g_assert_no_error(error);
	return set;
}

/* B2, B6. */
static void test_xattrs(void)
{
	static const guint8 capability[20] = {0, 0, 0, 2, 0, 0x20};
	g_auto(sq_image) image = {0};
	g_autoptr(img_xattrs) xattrs = NULL;
	g_autoptr(GArray) ping = NULL, one = NULL, root = NULL, opaque = NULL, none = NULL;
	const img_xattr *found;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	sq_open(&image, "v");
	xattrs = img_xattrs_new(image.tree, NULL);
	ping = read_xattrs(&image, xattrs, "caps/ping");
	g_assert_cmpuint(ping->len, ==, 1);
	found = find_xattr(ping, "security.capability");
	g_assert_cmpuint(found->size, ==, 20);
	g_assert_cmpmem(found->value + 1, 19, capability + 1, 19);
	one = read_xattrs(&image, xattrs, "data/one");
	g_assert_cmpuint(one->len, ==, 3);
	g_assert_cmpstr(g_array_index(one, img_xattr, 0).name, ==, "user.comment");
	g_assert_cmpuint(find_xattr(one, "user.empty")->size, ==, 0);
	g_assert_cmpuint(find_xattr(one, "user.long")->size, ==, 3000);
	root = read_xattrs(&image, xattrs, "/");
	found = find_xattr(root, "user.on.root");
	g_assert_cmpmem(found->value, found->size, "yes", 3);
	opaque = read_xattrs(&image, xattrs, "opaque");
	g_assert_cmpuint(find_xattr(opaque, "trusted.overlay.opaque")->size, ==, 1);
	none = read_xattrs(&image, xattrs, "data/empty");
	g_assert_cmpuint(none->len, ==, 0);
}

/* What is stored of a file is damaged: an error, never other content without one. */
static void test_damaged(void)
{
	g_autofree char *path = sq_path("v"), *bytes = NULL;
	g_auto(sq_image) image = {0};
	g_autoptr(img_reader) reader = NULL;
	const img_inode *inode;
	g_autoptr(GError) error = NULL;
	const guint8 *data;
	img_stream stream;
	gsize size, length;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp gzip");
	sq_open(&image, "v");
	inode = img_tree_inode(image.tree, sq_inode(&image, "data/text"));
	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	bytes[inode->data_start + inode->blocks[0] / 2] ^= 0x10;
	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
	sq_clear(&image);
	sq_open(&image, "v");
	inode = img_tree_inode(image.tree, sq_inode(&image, "data/text"));
	reader = img_reader_new(image.tree, NULL);
	img_stream_start(&stream, reader, inode);
	g_assert_false(img_stream_next(&stream, &data, &length, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
}

int main(int argc, char **argv)
{
	static const char *const variants[] = {"-comp gzip", "-comp lzo", "-comp xz",
		"-comp xz -Xbcj x86,arm -Xdict-size 50%", "-comp lz4",
		"-comp zstd -Xcompression-level 1", "-b 4096", "-b 1M", "-no-fragments",
		"-always-use-fragments", "-noI -noD -noF -noX -noId"};

	g_test_init(&argc, &argv, NULL);
	if (!sq_start(TRUE))
		return sq_finish(0);
	for (gsize i = 0; i < G_N_ELEMENTS(variants); i++) {
		g_autofree char *name = g_strconcat("/image/data/content/", variants[i], NULL);
		g_test_add_data_func(name, variants[i], test_content);
	}
	g_test_add_func("/image/data/other-tools", test_other_tools);
	g_test_add_func("/image/data/attributes", test_xattrs);
	g_test_add_func("/image/data/damaged-block", test_damaged);
	return sq_finish(g_test_run());
}
