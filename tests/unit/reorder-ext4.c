/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Relocation inside ext2, ext3 and ext4, on images of tests/images/ext4-variants: on some of them,
 * and with -m slow on the others.
 */
#include <string.h>

#include "reorder/ext4/relocate.h"
#include "reorder/ext4/spaces.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/verify_ext4.h"
#include "tests/unit/squashfs-fixture.h"

#define SOME                                                                                       \
	"ext2 ext3 ext4 csum inline fragmented-1k fragmented-ext3 unwritten full "                 \
	"shared-attributes small-groups padded"

/* In the order that is wanted; some images have only some of them. */
static const char *const wanted_paths[] = {"usr/share/deep", "/", "many", "usr/symlink-900",
	"symlink-200", "symlink-60", "usr/share/file-40", "usr/share/file-4", "usr/share/file-9",
	"usr/share/file-5", "usr/large", "sparse", "in-pieces", "usr/share/file-31", "preallocated",
	"far", "usr/share/file-1"};

static char *top;

static GArray *wanted_of(const img_tree *tree)
{
	GArray *wanted = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (gsize i = 0; i < G_N_ELEMENTS(wanted_paths); i++) {
		guint32 index = img_tree_resolve(tree, wanted_paths[i], FALSE);

		if (index != IMG_NONE)
			g_array_append_val(wanted, img_tree_inode(tree, index)->number);
	}
	return wanted;
}

static void open_tree(sq_image *image, const char *name)
{
	g_autoptr(GError) error = NULL;

	sq_open_file(image, name);
	image->tree = img_ext4_tree_open(&image->source, &error);
	g_assert_no_error(error);
}

static gboolean relocate(const sq_image *image, const GArray *wanted, ro_layout layout,
	const char *name, GError **error)
{
	g_autofree char *path = sq_path(name);
	ro_ext4_job job = {&image->source, path, layout, (const guint32 *)(void *)wanted->data,
		wanted->len, NULL};

	unlink(path);
	return ro_ext4_relocate(&job, error);
}

static gboolean verify(const sq_image *old, const char *name, const GArray *wanted,
	ro_verify_result *result, GError **error)
{
	g_auto(sq_image) new = {0};

	sq_open_file(&new, name);
	return ro_ext4_verify(&old->source, &new.source, (const guint32 *)(void *)wanted->data,
		wanted->len, NULL, result, error);
}

/* Opens an image and relocates in it. */
static GArray *relocated(sq_image *image, const char *name, ro_layout layout, const char *out)
{
	g_autoptr(GError) error = NULL;
	GArray *wanted;

	open_tree(image, name);
	wanted = wanted_of(image->tree);
	relocate(image, wanted, layout, out, &error);
	g_assert_no_error(error);
	return wanted;
}

static void check_layout(const char *name, ro_layout layout)
{
	g_auto(sq_image) image = {0};
	g_autoptr(GArray) wanted = relocated(&image, name, layout, "out");
	g_autoptr(GError) error = NULL;
	ro_verify_result result;

	verify(&image, "out", wanted, &result, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(result.planned, >, 0);
	/* There no space between the groups' own blocks is large enough for the large files. */
	if (strstr(name, "small-groups"))
		g_assert_cmpuint(result.planned - result.in_place, <=, 2);
	else
		g_assert_cmpuint(result.in_place, ==, result.planned);
	if (layout == RO_LAYOUT_END && !g_str_has_prefix(name, "full"))
		g_assert_cmpuint(result.hot_foreign, ==, 0);
}

static void test_both_layouts(gconstpointer name)
{
	check_layout(name, RO_LAYOUT_FRONT);
	check_layout(name, RO_LAYOUT_END);
}

/* The same bytes again, and of the result itself. */
static void test_repeated(gconstpointer name)
{
	g_auto(sq_image) image = {0}, moved = {0};
	g_autoptr(GArray) wanted = relocated(&image, name, RO_LAYOUT_FRONT, "out");
	g_autoptr(GArray) once_more = NULL;
	g_autoptr(GError) error = NULL;

	relocate(&image, wanted, RO_LAYOUT_FRONT, "again", &error);
	g_assert_no_error(error);
	sq_run("cmp out again");
	once_more = relocated(&moved, "out", RO_LAYOUT_FRONT, "moved");
	sq_run("cmp out moved");
}

/* e2fsck, dumpe2fs, debugfs and the kernel; what could not be asked is in the test's output. */
static void test_foreign(gconstpointer name)
{
	g_auto(sq_image) image = {0};
	g_autoptr(GArray) wanted = relocated(&image, name, RO_LAYOUT_END, "out");
	g_autofree char *said =
		sq_shell("%s/tests/images/same-ext4 %s out 2>&1", top, (const char *)name);

	if (said[0])
		g_test_message("%s", g_strchomp(said));
}

/* As debugfs sees them, the blocks of the wanted follow each other. */
static void test_order(void)
{
	g_auto(sq_image) image = {0};
	g_autoptr(GArray) wanted = relocated(&image, "fragmented-ext3.img", RO_LAYOUT_FRONT, "out");
	gint64 last = 0;
	guint jumps = 0;

	for (guint i = 0; i < wanted->len; i++) {
		g_autofree char *blocks = sq_shell("debugfs -R 'blocks <%u>' out 2>/dev/null",
			g_array_index(wanted, guint32, i));
		g_auto(GStrv) numbers = g_strsplit(g_strstrip(blocks), " ", -1);

		for (gsize n = 0; numbers[n] && numbers[n][0]; n++) {
			gint64 block = g_ascii_strtoll(numbers[n], NULL, 10);

			/* Attributes are no part of the list, nor are holes. */
			if (block == 0)
				continue;
			g_assert_cmpint(block, >, last);
			jumps += last && block - last > 2;
			last = block;
		}
	}
	/* Over the journal. */
	g_assert_cmpuint(jumps, <=, 1);
}

/* ---- the tree ---- */

static const img_inode *inode_at(const sq_image *image, const char *path)
{
	return img_tree_inode(image->tree, sq_inode(image, path));
}

static void test_tree(void)
{
	g_auto(sq_image) image = {0};
	const img_inode *inode;
	g_autofree char *stat = NULL, *expected = NULL;

	open_tree(&image, "ext4.img");
	g_assert_cmpuint(img_tree_inode(image.tree, 0)->number, ==, 2);
	inode = inode_at(&image, "usr/share/file-2");
	g_assert_cmpuint(inode->type, ==, IMG_FILE);
	g_assert_cmpuint(inode->size, ==, 2 * 397);
	g_assert_cmpuint(inode->mode, ==, 04755);
	g_assert_cmpuint(inode->data_stored, ==, 4096);
	stat = sq_shell("debugfs -R 'bmap /usr/share/file-2 0' ext4.img 2>/dev/null");
	g_assert_cmpuint(inode->data_start, ==, g_ascii_strtoull(stat, NULL, 10) * 4096);
	inode = inode_at(&image, "usr/share/file-1");
	g_assert_cmpuint(inode->uid, ==, 4000000);
	g_assert_cmpuint(inode->gid, ==, 3000000);
	g_assert_cmpuint(inode_at(&image, "usr/large")->mtime, ==, 1);
	g_assert_cmpuint(inode_at(&image, "usr/other")->nlink, ==, 2);
	g_assert_cmpuint(sq_inode(&image, "hard-link"), ==, sq_inode(&image, "usr/other"));
	g_assert_cmpuint(inode_at(&image, "fifo")->type, ==, IMG_FIFO);
	g_assert_cmpuint(inode_at(&image, "null")->type, ==, IMG_CHAR_DEVICE);
	g_assert_cmpuint(inode_at(&image, "null")->rdev, ==, 0x103);
	g_assert_cmpuint(inode_at(&image, "disk")->type, ==, IMG_BLOCK_DEVICE);
	g_assert_cmpuint(inode_at(&image, "hole")->data_stored, ==, 0);
	g_assert_cmpuint(inode_at(&image, "hole")->size, ==, 600000);
	g_assert_cmpstr(inode_at(&image, "share")->target, ==, "usr/share");
	expected = g_strdup_printf("%0900d", 0);
	g_assert_cmpstr(inode_at(&image, "usr/symlink-900")->target, ==, expected);
	g_assert_cmpuint(img_tree_resolve(image.tree, "share/file-3", TRUE), ==,
		sq_inode(&image, "usr/share/file-3"));
	sq_inode(&image, "new\nline");
	sq_inode(&image, "latin\xe9\x85");
}

static void test_inline_tree(void)
{
	g_auto(sq_image) image = {0};

	open_tree(&image, "inline.img");
	g_assert_cmpuint(inode_at(&image, "usr/tiny")->data_stored, ==, 0);
	g_assert_cmpuint(inode_at(&image, "usr/tiny")->size, ==, 30);
	g_assert_cmpuint(strlen(inode_at(&image, "symlink-60")->target), ==, 60);
	sq_inode(&image, "usr/share/deep/er/and/deeper/file");
}

/* An image that begins somewhere inside a file. */
static void test_window(void)
{
	g_auto(sq_image) image = {0}, whole = {0};
	g_autoptr(GArray) wanted = NULL;
	g_autoptr(GError) error = NULL;
	ro_verify_result result;

	sq_run("head -c 10240 /dev/urandom >shifted; cat csum.img >>shifted; echo tail >>shifted");
	sq_open_file(&whole, "csum.img");
	sq_open_file(&image, "shifted");
	image.source.offset = 10240;
	image.source.size = whole.source.size;
	image.tree = img_ext4_tree_open(&image.source, &error);
	g_assert_no_error(error);
	wanted = wanted_of(image.tree);
	relocate(&image, wanted, RO_LAYOUT_END, "out", &error);
	g_assert_no_error(error);
	verify(&whole, "out", wanted, &result, &error);
	g_assert_no_error(error);
}

/* ---- verification finds what is wrong ---- */

/* What a change to a relocated image is answered with. */
static void assert_found(const char *base, const char *change, const char *message)
{
	g_auto(sq_image) image = {0};
	g_autoptr(GArray) wanted = relocated(&image, base, RO_LAYOUT_FRONT, "out");
	g_autoptr(GError) error = NULL;
	ro_verify_result result;

	sq_run("%s", change);
	g_assert_false(verify(&image, "out", wanted, &result, &error));
	if (!g_pattern_match_simple(message, error->message))
		g_error("%s: %s", change, error->message);
}

#define DEBUGFS(command) "debugfs -w -R '" command "' out >/dev/null 2>&1"
#define FLIP(byte)                                                                                 \
	"printf '\\x5a\\xa5' | dd of=out bs=1 conv=notrunc status=none seek=$((" byte "))"
#define BLOCK_OF(path) "$(debugfs -R 'bmap " path " 0' out 2>/dev/null)"

static void test_differences(void)
{
	assert_found("ext4.img", DEBUGFS("sif /usr/large mtime 77"), "out: inode * differs");
	assert_found(
		"ext4.img", DEBUGFS("sif /usr/share/file-2 mode 0100755"), "out: inode * differs");
	assert_found(
		"ext4.img", DEBUGFS("sif /usr/share/file-2 crtime 99"), "out: inode * differs");
	assert_found("ext4.img", DEBUGFS("ea_set /usr/share/file-4 user.comment other"),
		"out: inode * differs");
	assert_found("ext4.img", FLIP(BLOCK_OF("/usr/large") " * 4096 + 50"),
		"out: inode *: content differs");
	assert_found("ext4.img", DEBUGFS("ssv mtime 5"), "out: superblock differs");
	assert_found("ext4.img", DEBUGFS("rm /usr/share/file-30"), "out: *differs*");
	assert_found("padded.img", FLIP("$(stat -c %s out) - 9"),
		"out: data behind the filesystem differs");
	assert_found("ext3.img",
		FLIP("$(debugfs -R \"stat /usr/share/file-5\" out 2>/dev/null | "
		     "sed -n \"s/.*File ACL: //p\") * 1024 + 900"),
		"out: inode *: attributes differ");
	assert_found("ext4.img", "cp ext4.img out", "out: only * reordering had no effect");
	assert_found("ext4.img", "truncate -s +1 out", "out: size differs*");
}

/* ---- refusals ---- */

static const struct {
	const char *name, *message;
} refusals[] = {
	{"bigalloc", "*clusters (bigalloc)*"},
	{"encrypt", "*encrypted files*"},
	{"verity", "*verity*"},
	{"casefold", "*case-folded names*"},
	{"needs-recovery", "*journal has to be replayed first*"},
	{"shared-blocks", "*share blocks*"},
	{"errors", "*errors in it were found*"},
	{"unclean", "*not unmounted cleanly*"},
	{"orphans", "*(orphans)*"},
	{"external-journal", "*journal is on another device*"},
	{"other-system", "*another system than Linux*"},
	{"unknown-incompatible", "*(incompatible 0x40000000, read-only 0)"},
	{"unknown-read-only", "*(incompatible 0, read-only 0x40000000)"},
	{"boot-loader", "*a boot loader in front*"},
	{"not-ext", "*no ext2, ext3 or ext4 filesystem"},
	{"truncated", "*truncated: the filesystem has 16777216 bytes, the file 15728640*"},
	{"two-owners", "*which has another owner; the filesystem is damaged*"},
	{"marked-free", "*which is marked as free*"},
	{"own-block", "*block 3, which is the filesystem's own*"},
	{"no-block", "*the map of its blocks makes no sense*"},
	{"no-tree", "*the map of its blocks makes no sense*"},
	{"bad-attributes", "*attributes of inode*"},
};

static void test_refused(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
		g_autofree char *name = g_strdup_printf("refused/%s.img", refusals[i].name);
		g_auto(sq_image) image = {0};
		g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(guint32));
		g_autoptr(GError) error = NULL, relocation = NULL;
		g_autofree char *out = sq_path("out");

		sq_open_file(&image, name);
		g_assert_null(img_ext4_tree_open(&image.source, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
		if (!g_pattern_match_simple(refusals[i].message, error->message))
			g_error("%s: %s", name, error->message);
		g_assert_true(g_str_has_prefix(error->message, name));
		g_assert_false(relocate(&image, none, RO_LAYOUT_END, "out", &relocation));
		g_assert_cmpstr(relocation->message, ==, error->message);
		g_assert_false(g_file_test(out, G_FILE_TEST_EXISTS));
	}
}

/* ---- broken images ---- */

/* Damage of any kind: no crash, and what is relocated all the same is verified. */
static void damage(GRand *random, GByteArray *bytes)
{
	guint count = (guint)g_rand_int_range(random, 1, 20);

	for (guint i = 0; i < count; i++) {
		/* Mostly where the metadata is. */
		gint32 limit = g_rand_boolean(random) ? 200 * 1024 : (gint32)bytes->len;

		bytes->data[g_rand_int_range(random, 1024, limit)] = (guint8)g_rand_int(random);
	}
}

static void try_damaged(const GByteArray *bytes)
{
	g_auto(sq_image) image = {.source = {.size = bytes->len, .label = "damaged"}};
	g_autoptr(GArray) wanted = NULL;
	g_autoptr(GError) error = NULL;
	ro_verify_result result;

	image.source.fd = sq_memory(bytes->data, bytes->len);
	image.tree = img_ext4_tree_open(&image.source, &error);
	if (!image.tree)
		return;
	wanted = wanted_of(image.tree);
	if (!relocate(&image, wanted, RO_LAYOUT_FRONT, "out", &error))
		return;
	verify(&image, "out", wanted, &result, &error);
	g_assert_no_error(error);
}

static void test_damaged(gconstpointer options)
{
	guint rounds = g_test_slow() ? 3000 : 200;
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_autofree char *path = NULL, *content = NULL;
	g_autoptr(GRand) random = g_rand_new_with_seed(5);
	gsize size;

	sq_run("rm -rf tree; mkdir -p tree/usr/share/deep tree/many; cd tree; "
	       "seq 9000 >usr/large; seq 300 >usr/share/file-4; ln -s $(printf %%0200d 0) symlink-200; "
	       "for i in $(seq 60); do echo $i >many/a-long-enough-name-for-some-blocks-$i; done; "
	       "truncate -s 500k sparse; echo end >>sparse; cd ..; "
	       "rm -f small.img; mke2fs -q -d tree -b 1024 -N 128 %s small.img 1M >/dev/null",
		(const char *)options);
	path = sq_path("small.img");
	g_assert_true(g_file_get_contents(path, &content, &size, NULL));
	for (guint i = 0; i < rounds; i++) {
		g_byte_array_set_size(bytes, 0);
		g_byte_array_append(bytes, (const guint8 *)content, (guint)size);
		if (i > 0)
			damage(random, bytes);
		try_damaged(bytes);
	}
}

/* A directory whose blocks the survey has not seen. */
static void test_free_inode(void)
{
	g_auto(sq_image) image = {0};
	g_autoptr(GError) error = NULL;

	sq_run("rm -rf tree named.img; mkdir -p tree/free; echo x >tree/free/x; "
	       "mke2fs -q -d tree -b 1024 -N 32 named.img 1M >/dev/null; "
	       "debugfs -w -R 'set_inode_field free links_count 0' named.img 2>/dev/null");
	sq_open_file(&image, "named.img");
	g_assert_null(img_ext4_tree_open(&image.source, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_nonnull(strstr(error->message, "has a name, but is free"));
}

/* ---- spaces ---- */

static void test_spaces(void)
{
	/* Free are 1-2, 5-9, 11. */
	static const guint8 fixed[12] = {1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0};
	g_autoptr(ro_ext4_spaces) spaces = ro_ext4_spaces_new(fixed, 0, 12);

	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 0, 1), ==, 0);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 0, 3), ==, 1);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 1, 2), ==, 1);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 2, 1), ==, 2);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 2, 2), ==, RO_EXT4_NO_SPACE);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 3, 1), ==, RO_EXT4_NO_SPACE);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 0, 6), ==, RO_EXT4_NO_SPACE);
	g_assert_cmpuint(ro_ext4_spaces_take(spaces, 1, 4), ==, 5);
	g_assert_cmpuint(ro_ext4_spaces_left(spaces, 1), ==, 1);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 1, 2), ==, RO_EXT4_NO_SPACE);
	g_assert_cmpuint(ro_ext4_spaces_take(spaces, 0, 2), ==, 1);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 0, 1), ==, 1);
	g_assert_cmpuint(ro_ext4_spaces_take(spaces, 1, 1), ==, 9);
	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 0, 1), ==, 2);
}

static void test_no_space(void)
{
	static const guint8 fixed[2] = {1, 1};
	g_autoptr(ro_ext4_spaces) spaces = ro_ext4_spaces_new(fixed, 0, 2);

	g_assert_cmpuint(ro_ext4_spaces_find(spaces, 0, 1), ==, RO_EXT4_NO_SPACE);
}

static void add_tests(const char *test, char **names, GTestDataFunc function)
{
	for (gsize i = 0; names[i]; i++) {
		g_autofree char *base = g_strndup(names[i], strlen(names[i]) - strlen(".img"));
		g_autofree char *path = g_strdup_printf("/ext4/%s/%s", test, base);

		g_test_add_data_func(path, names[i], function);
	}
}

static void add_single_tests(void)
{
	g_test_add_func("/ext4/spaces", test_spaces);
	g_test_add_func("/ext4/no-space", test_no_space);
	g_test_add_func("/ext4/tree", test_tree);
	g_test_add_func("/ext4/inline-tree", test_inline_tree);
	g_test_add_func("/ext4/window", test_window);
	g_test_add_func("/ext4/order", test_order);
	g_test_add_func("/ext4/differences", test_differences);
	g_test_add_func("/ext4/refused", test_refused);
	g_test_add_func("/ext4/free-inode", test_free_inode);
}

int main(int argc, char **argv)
{
	g_autofree char *listing = NULL;
	g_auto(GStrv) names = NULL;
	g_autoptr(GString) refused = g_string_new(NULL);

	g_test_init(&argc, &argv, NULL);
	top = g_get_current_dir();
	if (!sq_start(FALSE))
		return 0;
	for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++)
		g_string_append_printf(refused, " %s", refusals[i].name);
	listing = sq_shell("%s/tests/images/ext4-variants . %s " SOME " >&2; ls *.img", top,
		g_test_slow() ? "but" : "");
	sq_run("%s/tests/images/ext4-variants . %s >&2", top, refused->str);
	names = g_strsplit(g_strchomp(listing), "\n", -1);
	g_assert_cmpuint(g_strv_length(names), >=, g_test_slow() ? 28 : 12);
	if (!g_test_slow())
		add_single_tests();
	g_test_add_data_func(
		"/ext4/damaged/ext4", "-t ext4 -O ^metadata_csum,^has_journal", test_damaged);
	g_test_add_data_func("/ext4/damaged/ext2", "-t ext2", test_damaged);
	g_test_add_data_func("/ext4/damaged/inline",
		"-t ext4 -I 256 -O inline_data,^metadata_csum,^has_journal", test_damaged);
	add_tests("layouts", names, test_both_layouts);
	add_tests("repeated", names, test_repeated);
	add_tests("other-programs-agree", names, test_foreign);
	return sq_finish(g_test_run());
}
