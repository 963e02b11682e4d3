/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/squashfs-fixture.h"

#include <ftw.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "reorder/image/data_reader.h"
#include "reorder/image/xattrs.h"

/* Images and damage: the reader may refuse, but not hang, crash or read out of bounds. */
enum { FLIPS = 200, FLIPS_PLAIN = 1500 };

static img_type type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return IMG_FILE;
	case S_IFDIR:
		return IMG_DIR;
	case S_IFLNK:
		return IMG_SYMLINK;
	case S_IFBLK:
		return IMG_BLOCK_DEVICE;
	case S_IFCHR:
		return IMG_CHAR_DEVICE;
	case S_IFIFO:
		return IMG_FIFO;
	default:
		return IMG_SOCKET;
	}
}

/* Linux: include/linux/kdev_t.h, new_encode_dev(). */
static guint32 encode_device(dev_t device)
{
	guint32 high = major(device), low = minor(device);

	return (low & 0xff) | high << 8 | (low & ~0xffu) << 12;
}

static void compare_with_disk(const sq_image *image, guint32 index, const char *path)
{
	const img_inode *inode = img_tree_inode(image->tree, index);
	g_autofree char *full = g_build_filename(sq_dir, "tree", path, NULL);
	g_autofree char *target = g_file_read_link(full, NULL);
	struct stat st;

	if (lstat(full, &st) < 0)
		g_error("%s is not in the tree", full);
	g_assert_cmpint(inode->type, ==, type_of(st.st_mode));
	g_assert_cmphex(inode->mode, ==, st.st_mode & 07777);
	g_assert_cmpuint(inode->uid, ==, st.st_uid);
	g_assert_cmpuint(inode->gid, ==, st.st_gid);
	g_assert_cmpint(inode->mtime, ==, st.st_mtime);
	if (inode->type == IMG_FILE)
		g_assert_cmpuint(inode->size, ==, (guint64)st.st_size);
	if (inode->type == IMG_CHAR_DEVICE || inode->type == IMG_BLOCK_DEVICE)
		g_assert_cmphex(inode->rdev, ==, encode_device(st.st_rdev));
	if (inode->type != IMG_DIR)
		g_assert_cmpuint(inode->nlink, ==, st.st_nlink);
	g_assert_cmpstr(inode->target, ==, target);
}

static guint disk_entries;

static int count_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)flag;
	disk_entries += ftw->level > 0;
	return 0;
}

static void compare_all_with_disk(const sq_image *image)
{
	g_autofree char *tree = sq_path("tree");

	disk_entries = 0;
	g_assert_cmpint(nftw(tree, count_entry, 64, FTW_PHYS), ==, 0);
	g_assert_cmpuint(img_tree_entry_count(image->tree), ==, disk_entries);
	compare_with_disk(image, 0, "");
	for (guint32 i = 0; i < img_tree_entry_count(image->tree); i++) {
		g_autofree char *path = img_tree_entry_path(image->tree, i);

		compare_with_disk(image, img_tree_entry(image->tree, i)->inode, path);
	}
}

static void test_variants(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(sq_variants); i++) {
		g_auto(sq_image) image = {0};

		sq_run("mksquashfs tree v -noappend -quiet -no-progress -noD -noF %s",
			sq_variants[i]);
		sq_open(&image, "v");
		compare_all_with_disk(&image);
		g_assert_cmpuint(img_tree_inode_count(image.tree), ==,
			img_tree_super(image.tree)->inode_count);
	}
}

static void test_other_tools(void)
{
	static const char *const commands[] = {
		"gensquashfs -q -k -x -D tree v -f",
		"gensquashfs -q -k -x -e -T -c xz -D tree v -f",
		"tar -C tree --xattrs --xattrs-include='*' -cf - --exclude=dev/socket . | tar2sqfs -q -f -c gzip v",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
		g_auto(sq_image) image = {0};

		sq_run("%s", commands[i]);
		sq_open(&image, "v");
		g_assert_cmpuint(img_tree_entry_count(image.tree), >=, 540);
		for (guint32 e = 0; e < img_tree_entry_count(image.tree); e++) {
			g_autofree char *path = img_tree_entry_path(image.tree, e);
			guint32 found = img_tree_resolve(image.tree, path, FALSE);

			g_assert_cmpuint(found, ==, img_tree_entry(image.tree, e)->inode);
		}
	}
}

/* A foreign reader's list of names. */
static void test_names(void)
{
	g_auto(sq_image) image = {0};
	g_autofree char *listed = sq_shell("unsquashfs -l -quiet -dest / base");
	g_autoptr(GString) ours = g_string_new(listed);
	g_auto(GStrv) lines = NULL;

	sq_open(&image, "base");
	for (guint32 i = 0; i < img_tree_entry_count(image.tree); i++) {
		g_autofree char *path = img_tree_entry_path(image.tree, i);
		g_autofree char *line = g_strconcat("/", path, "\n", NULL);

		if (!strstr(listed, line))
			g_error("%s is not listed by unsquashfs", path);
	}
}

/* A10: hard links are one inode. */
static void test_hard_links(void)
{
	g_auto(sq_image) image = {0};

	sq_open(&image, "base");
	g_assert_cmpuint(sq_inode(&image, "hard/a"), ==, sq_inode(&image, "hard/zz"));
	g_assert_cmpuint(sq_inode(&image, "hard/a"), ==, sq_inode(&image, "deep/elsewhere"));
	g_assert_cmpuint(sq_inode(&image, "hard/fifo"), ==, sq_inode(&image, "hard/fifo-too"));
	g_assert_cmpuint(
		sq_inode(&image, "hard/symlink"), ==, sq_inode(&image, "hard/symlink-too"));
	g_assert_cmpuint(sq_inode(&image, "cold/x"), !=, sq_inode(&image, "hot/x"));
	g_assert_cmpuint(img_tree_inode(image.tree, sq_inode(&image, "cold/x"))->data_start, ==,
		img_tree_inode(image.tree, sq_inode(&image, "hot/x"))->data_start);
}

static void test_blocks(void)
{
	g_auto(sq_image) image = {0};
	const img_inode *inode;

	sq_open(&image, "base");
	inode = img_tree_inode(image.tree, sq_inode(&image, "data/hole"));
	g_assert_cmpuint(inode->block_count, ==, 23); /* 3,000,000 bytes, the tail too is a hole */
	g_assert_cmpuint(inode->data_stored, ==, 0);
	inode = img_tree_inode(image.tree, sq_inode(&image, "data/block"));
	g_assert_cmpuint(inode->block_count, ==, 1);
	g_assert_cmpuint(inode->blocks[0], ==, IMG_BLOCK_UNCOMPRESSED | 131072);
	g_assert_cmpuint(inode->fragment, ==, IMG_NONE);
	inode = img_tree_inode(image.tree, sq_inode(&image, "data/small"));
	g_assert_cmpuint(inode->block_count, ==, 0);
	g_assert_cmpuint(inode->fragment, <, img_tree_fragment_count(image.tree));
	inode = img_tree_inode(image.tree, sq_inode(&image, "data/empty"));
	g_assert_cmpuint(inode->block_count, ==, 0);
	g_assert_cmpuint(inode->fragment, ==, IMG_NONE);
}

/* A6: paths are resolved inside of the image. */
static void test_resolve(void)
{
	static const struct {
		const char *path;
		gboolean follow;
		const char *result; /* NULL: not there */
	} cases[] = {
		{"", TRUE, ""},
		{"/", TRUE, ""},
		{"usr/bin/dash", TRUE, "usr/bin/dash"},
		{"/usr/bin/dash", TRUE, "usr/bin/dash"},
		{"./usr/./bin//dash", TRUE, "usr/bin/dash"},
		{"bin/sh", TRUE, "usr/bin/dash"},
		{"/bin/sh", FALSE, "usr/bin/sh"},
		{"/bin", FALSE, "bin"},
		{"/bin/", TRUE, "usr/bin"},
		{"etcabs/passwd", TRUE, "etc/passwd"},
		{"usr/share/passwd", TRUE, "etc/passwd"},
		{"/../../../etc/passwd", TRUE, "etc/passwd"},
		{"usr/bin/../../etc/passwd", TRUE, "etc/passwd"},
		{"bin/../lib", TRUE, "usr/lib"},
		{"dangling", TRUE, NULL},
		{"dangling", FALSE, "dangling"},
		{"loop-a", TRUE, NULL},
		{"long-link", TRUE, NULL},
		{"etc/passwd/x", TRUE, NULL},
		{"etc/passwd/..", TRUE, NULL},
		{"etc/shadow", TRUE, NULL},
		{"names/new\nline", TRUE, "names/new\nline"},
		{"names/x\x85y", TRUE, "names/x\x85y"},
	};
	g_auto(sq_image) image = {0};

	sq_open(&image, "base");
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		guint32 found = img_tree_resolve(image.tree, cases[i].path, cases[i].follow);
		g_autofree char *path =
			found == IMG_NONE ? NULL : img_tree_inode_path(image.tree, found);

		g_assert_cmpstr(path, ==, cases[i].result);
	}
}

/* Reads all that can be read; what it says does not matter. */
static void read_everything(const img_source *source)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(img_tree) tree = img_tree_open(source, &error);
	g_autoptr(img_reader) reader = NULL;
	g_autoptr(img_xattrs) xattrs = NULL;

	if (!tree) {
		g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
		return;
	}
	reader = img_reader_new(tree, NULL);
	xattrs = img_xattrs_new(tree, NULL);
	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);
		g_autofree char *path = img_tree_inode_path(tree, i);
		const guint8 *data;
		img_stream stream;
		gsize length = 1;

		g_assert_cmpuint(img_tree_resolve(tree, path, FALSE), !=, IMG_NONE);
		if (xattrs && inode->xattr != IMG_NONE) {
			GArray *set = img_xattrs_get(xattrs, inode->xattr, NULL);

			g_clear_pointer(&set, g_array_unref);
		}
		img_stream_start(&stream, reader, inode);
		while (inode->type == IMG_FILE && length > 0)
			if (!img_stream_next(&stream, &data, &length, NULL))
				break;
	}
}

/* An image of some kilobytes, of which every byte matters. */
static char *tiny_image(const char *options, gsize *size)
{
	g_autofree char *path = sq_path("t");
	char *bytes;

	sq_run("mksquashfs tiny t -noappend -quiet -no-progress -nopad -b 4096 %s", options);
	g_assert_true(g_file_get_contents(path, &bytes, size, NULL));
	return bytes;
}

static void test_truncated(void)
{
	gsize size;
	g_autofree char *bytes = tiny_image("", &size);

	for (gsize cut = 0; cut < size; cut += cut < 200 ? 1 : 7) {
		int fd = sq_memory(bytes, cut);
		img_source source = {fd, 0, cut, "cut"};
		g_autoptr(GError) error = NULL;

		g_assert_null(img_tree_open(&source, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
		g_assert_nonnull(strstr(error->message, "truncated"));
		/* The superblock may lie of a file that is longer. */
		source.size = size;
		g_clear_error(&error);
		g_assert_null(img_tree_open(&source, &error));
		close(fd);
	}
}

static void flip_bits(GRand *random, guint8 *bytes, gsize from, gsize to)
{
	static const guint8 values[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
	gsize at = (gsize)g_rand_int_range(random, (gint32)from, (gint32)to);

	if (g_rand_boolean(random))
		bytes[at] ^= (guint8)(1 << g_rand_int_range(random, 0, 8));
	else
		bytes[at] = values[g_rand_int_range(random, 0, G_N_ELEMENTS(values))];
}

static void test_flipped(gconstpointer options)
{
	gsize size;
	g_autofree char *bytes = tiny_image(options, &size);
	g_autofree guint8 *damaged = g_malloc(size);
	g_autoptr(GRand) random = g_rand_new_with_seed(20240101);
	int fd = sq_memory(bytes, size);
	img_source source = {fd, 0, size, "damaged"};
	gint64 start = g_get_monotonic_time();
	/* Where the tables are not packed, each flip reaches the code behind the unpacker. */
	guint count = g_str_has_prefix(options, "-noI") ? FLIPS_PLAIN : FLIPS;

	for (guint i = 0; i < count; i++) {
		memcpy(damaged, bytes, size);
		for (guint n = 0; n < 1 + i % 2 * 3; n++)
			flip_bits(random, damaged, i % 5 == 0 ? 0 : size / 2, size);
		g_assert_cmpint(pwrite(fd, damaged, size, 0), ==, (gssize)size);
		read_everything(&source);
	}
	g_assert_cmpint(g_get_monotonic_time() - start, <, 60 * G_USEC_PER_SEC);
	close(fd);
}

/* Counts that a damaged image makes huge. */
static void test_huge_counts(void)
{
	static const struct {
		gsize at, size;
	} fields[] = {{4, 4}, {16, 4}, {26, 2}, {32, 8}};
	gsize size;
	g_autofree char *bytes = tiny_image("-noI -noX -noId", &size);
	int fd = sq_memory(bytes, size);
	img_source source = {fd, 0, size, "huge"};

	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		for (int value = 0x7f; value <= 0xff; value += 0x80) {
			g_autofree char *damaged = g_memdup2(bytes, size);
			g_autoptr(GError) error = NULL;

			memset(damaged + fields[i].at, value, fields[i].size);
			g_assert_cmpint(pwrite(fd, damaged, size, 0), ==, (gssize)size);
			g_assert_null(img_tree_open(&source, &error));
			g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
		}
	close(fd);
}

static void test_large_directory(void)
{
	g_auto(sq_image) image = {0};
	gint64 start;

	/* Real files: reading tar or pseudo files, the packers take minutes for their sorting. */
	sq_run("mkdir -p files/d; cd files/d;"
	       "python3 -c 'import os\nfor i in range(100000): os.mkfifo(\"%%06d\" %% i)';"
	       "cd ../..; mksquashfs files many -quiet -no-progress; rm -rf files");
	start = g_get_monotonic_time();
	sq_open(&image, "many");
	g_test_message("100,000 files in %.3f s",
		(double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC);
	g_assert_cmpint(g_get_monotonic_time() - start, <, 3 * G_USEC_PER_SEC);
	g_assert_cmpuint(img_tree_inode_count(image.tree), ==, 100002);
	g_assert_cmpuint(img_tree_resolve(image.tree, "d/099999", TRUE), !=, IMG_NONE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (!sq_start(TRUE))
		return sq_finish(0);
	sq_run("mksquashfs tree base -quiet -no-progress; mkdir tiny; cd tree;"
	       "cp -a names hard dev opaque data/one data/small ../tiny;"
	       "rm ../tiny/names/big*;"
	       "cp -a data/small ../tiny/ping; setfattr -n security.capability -v"
	       " 0x0100000200200000000000000000000000000000 ../tiny/ping; head -c 20000 data/text >../tiny/text;"
	       "head -c 9000 data/hole >../tiny/hole");
	g_test_add_func("/image/tree/variants-equal-the-disk", test_variants);
	g_test_add_func("/image/tree/other-tools", test_other_tools);
	g_test_add_func("/image/tree/names-as-unsquashfs-lists-them", test_names);
	g_test_add_func("/image/tree/hard-links", test_hard_links);
	g_test_add_func("/image/tree/blocks", test_blocks);
	g_test_add_func("/image/tree/resolve", test_resolve);
	g_test_add_func("/image/tree/truncated", test_truncated);
	g_test_add_data_func("/image/tree/flipped/plain", "-noI -noX -noId", test_flipped);
	g_test_add_data_func("/image/tree/flipped/gzip", "-comp gzip", test_flipped);
	g_test_add_data_func("/image/tree/flipped/xz", "-comp xz", test_flipped);
	g_test_add_data_func("/image/tree/flipped/lzo", "-comp lzo", test_flipped);
	g_test_add_data_func("/image/tree/flipped/zstd", "-comp zstd", test_flipped);
	g_test_add_data_func("/image/tree/flipped/lz4", "-comp lz4", test_flipped);
	g_test_add_func("/image/tree/huge-counts", test_huge_counts);
	g_test_add_func("/image/tree/100000-files-in-one-directory", test_large_directory);
	return sq_finish(g_test_run());
}
