/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/squashfs-fixture.h"

#include <string.h>

/* Options of mksquashfs, and the option block that they give (C1, C2). */
static const struct {
	const char *options;
	img_compressor compressor;
	gsize size;
	const char bytes[8];
} blocks[] = {
	{"-comp gzip", IMG_COMP_GZIP, 0, ""},
	{"-comp gzip -Xcompression-level 1 -Xwindow-size 12", IMG_COMP_GZIP, 8, "\1\0\0\0\14\0\0"},
	{"-comp lzo", IMG_COMP_LZO, 0, ""},
	{"-comp lzo -Xalgorithm lzo1x_1_15", IMG_COMP_LZO, 8, "\3\0\0\0\0\0\0"},
	{"-comp xz", IMG_COMP_XZ, 0, ""},
	{"-comp xz -Xbcj x86,arm -Xdict-size 50%", IMG_COMP_XZ, 8, "\0\0\1\0\11\0\0"},
	{"-comp lz4", IMG_COMP_LZ4, 8, "\1\0\0\0\0\0\0"},
	{"-comp lz4 -Xhc", IMG_COMP_LZ4, 8, "\1\0\0\0\1\0\0"},
	{"-comp zstd", IMG_COMP_ZSTD, 0, ""},
	{"-comp zstd -Xcompression-level 22", IMG_COMP_ZSTD, 4, "\26\0\0"},
};

static void test_option_blocks(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(blocks); i++) {
		g_auto(sq_image) image = {0};
		g_autoptr(GError) error = NULL;
		img_super super;

		sq_run("mksquashfs one i -noappend -quiet -no-progress %s", blocks[i].options);
		sq_open_file(&image, "i");
		img_super_read(&image.source, &super, &error);
		g_assert_no_error(error);
		g_assert_cmpint(super.compressor, ==, blocks[i].compressor);
		g_assert_cmpmem(super.options, super.options_size, blocks[i].bytes, blocks[i].size);
		g_assert_cmpint(
			(super.flags & IMG_FLAG_COMPRESSOR_OPTIONS) != 0, ==, blocks[i].size != 0);
	}
}

/* C5. */
static const struct {
	const char *options;
	guint flags;
} flags[] = {
	{"", 0xc0},
	{"-no-exports", 0x40},
	{"-no-duplicates", 0x80},
	{"-no-fragments", 0xd0},
	{"-always-use-fragments", 0xe0},
	{"-noI", 0xc1},
	{"-noD", 0xc2},
	{"-noF", 0xc8},
	{"-noX", 0x1c0},
	{"-noId", 0x8c0},
	{"-no-xattrs", 0x2c0},
};

static void test_flags(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(flags); i++) {
		g_auto(sq_image) image = {0};
		img_super super;

		sq_run("mksquashfs one i -noappend -quiet -no-progress %s", flags[i].options);
		sq_open_file(&image, "i");
		g_assert_true(img_super_read(&image.source, &super, NULL));
		g_assert_cmphex(super.flags, ==, flags[i].flags);
	}
}

static void test_fields(void)
{
	g_auto(sq_image) image = {0};
	img_super super;

	sq_run("mksquashfs one i -noappend -quiet -no-progress -b 64K -mkfs-time 1234567890");
	sq_open_file(&image, "i");
	g_assert_true(img_super_read(&image.source, &super, NULL));
	g_assert_cmpuint(super.block_size, ==, 65536);
	g_assert_cmpuint(super.inode_count, ==, 2);
	g_assert_cmpuint(super.fragment_count, ==, 1);
	g_assert_cmpuint(super.mkfs_time, ==, 1234567890);
	g_assert_cmpuint(super.id_count, ==, 1);
	g_assert_cmpuint(super.bytes_used, <, image.source.size);
	g_assert_cmpuint(super.xattr_table, ==, G_MAXUINT64);
}

/* A squashfs at an offset in a larger file. */
static void test_window(void)
{
	g_auto(sq_image) image = {0};
	g_autoptr(img_tree) tree = NULL;

	sq_run("mksquashfs one i -noappend -quiet -no-progress;"
	       "{ head -c 6144 /dev/urandom; cat i; head -c 999 /dev/urandom; } >w");
	sq_open_file(&image, "w");
	image.source.offset = 6144;
	image.source.size -= 6144 + 999;
	tree = img_tree_open(&image.source, NULL);
	g_assert_nonnull(tree);
	g_assert_cmpuint(img_tree_resolve(tree, "/file", TRUE), ==, 1);
}

/* An image with some bytes replaced, and what is said of it (C3, C4). */
static const struct {
	const char *name;
	gsize at, size;
	const char bytes[8];
	const char *message;
} broken[] = {
	{"compressor 9", 20, 2, "\11", "unknown squashfs compressor 9"},
	{"compressor lzma", 20, 2, "\2", "compressed with lzma"},
	{"version 3.1", 28, 4, "\3\0\1", "squashfs version 3.1"},
	{"block size 2 MiB", 12, 4, "\0\0\40\0", "block size 2097152"},
	{"block size 3000", 12, 4, "\270\13\0\0", "block size 3000"},
	{"block size and its logarithm differ", 22, 2, "\22", "block size 131072"},
	{"big endian", 0, 4, "sqsh", "big-endian"},
	{"other magic", 0, 4, "shsq", "not a squashfs image"},
	{"longer than the file", 40, 8, "\0\0\0\1", "truncated"},
	{"impossible size", 40, 8, "\377\377\377\377\377\377\377\377", "impossible size"},
	{"size 0", 40, 8, "", "impossible size"},
	{"no inodes", 4, 4, "", "no inodes"},
	{"inode table at 0", 64, 8, "", "tables out of order"},
	{"directory table before the inodes", 72, 8, "\140", "tables out of order"},
	{"id table missing", 48, 8, "\377\377\377\377\377\377\377\377", "tables out of order"},
	{"options that are not there", 24, 2, "\300\4", "compressor options"},
};

static void test_broken(gconstpointer data)
{
	gsize i = GPOINTER_TO_SIZE(data);
	g_autofree char *path = sq_path("plain"), *bytes = NULL;
	g_autoptr(GError) error = NULL;
	img_super super;
	gsize size;

	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	memcpy(bytes + broken[i].at, broken[i].bytes, broken[i].size);
	img_source source = {sq_memory(bytes, size), 0, size, "x"};
	g_assert_false(img_super_read(&source, &super, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_nonnull(strstr(error->message, broken[i].message));
	close(source.fd);
}

/* D3: other things under the name of a squashfs. */
static void test_other_formats(void)
{
	static const struct {
		const char *command, *name;
	} formats[] = {
		{"mkfs.erofs x one >/dev/null 2>&1", "EROFS"},
		{"truncate -s 1M x; mke2fs -q -t ext4 x", "ext2/3/4"},
		{"xorriso -as mkisofs -quiet -o x one 2>/dev/null", "ISO 9660"},
		{"truncate -s 64K x", "not a squashfs image; only"},
		{"printf hsqs >x", "truncated"},
		{": >x", "truncated"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_auto(sq_image) image = {0};
		g_autoptr(GError) error = NULL;
		img_super super;

		sq_run("rm -f x; %s", formats[i].command);
		sq_open_file(&image, "x");
		g_assert_false(img_super_read(&image.source, &super, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
		g_assert_nonnull(strstr(error->message, formats[i].name));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	sq_start(FALSE);
	sq_run("mkdir one; echo x >one/file; mksquashfs one plain -quiet -no-progress");
	g_test_add_func("/image/super/option-blocks", test_option_blocks);
	g_test_add_func("/image/super/flags", test_flags);
	g_test_add_func("/image/super/fields", test_fields);
	g_test_add_func("/image/super/window-of-a-file", test_window);
	for (gsize i = 0; i < G_N_ELEMENTS(broken); i++) {
		g_autofree char *name = g_strconcat("/image/super/refuses/", broken[i].name, NULL);
		g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_broken);
	}
	g_test_add_func("/image/super/refuses/other-formats", test_other_formats);
	return sq_finish(g_test_run());
}
