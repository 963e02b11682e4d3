/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/squashfs-fixture.h"

#include <string.h>

#include "reorder/verify.h"

/* Two images, and a plan for the first one. */
typedef struct {
	sq_image old, new;
	ro_plan plan;
	ro_verify_result result;
} comparison;

static void comparison_init(comparison *c, const char *old, const char *new)
{
	memset(c, 0, sizeof(*c));
	sq_open(&c->old, old);
	sq_open(&c->new, new);
	c->plan.files = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
}

static void comparison_clear(comparison *c)
{
	sq_clear(&c->old);
	sq_clear(&c->new);
	g_array_unref(c->plan.files);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(comparison, comparison_clear)

static void plan_path(comparison *c, const char *path)
{
	ro_plan_item item = {
		.inode = sq_inode(&c->old, path), .rank = c->plan.files->len, .reason = "open"};

	g_array_append_val(c->plan.files, item);
}

static gboolean compare(comparison *c, GError **error)
{
	return ro_verify_image(c->old.tree, c->new.tree, &c->plan, NULL, &c->result, error);
}

static void pack(const char *name, const char *options)
{
	sq_run("mksquashfs tree %s -noappend -quiet -no-progress -comp lz4 -mkfs-time 9 %s", name,
		options);
}

/* Other order, other fragments, the same files. */
static void test_equal(void)
{
	static const char *const sorts[] = {"usr/bin/dash 9\ndata/text 8\ndata/small 7\nhot -4\n",
		"hot/x -1\nhot/f3 -2\ncold/b1 5\n", "hard/a 3\nowners/high 2\ndata/one 1\n"};

	for (gsize i = 0; i < G_N_ELEMENTS(sorts); i++) {
		g_auto(comparison) c;
		g_autoptr(GError) error = NULL;

		sq_run("printf '%s' >sort", sorts[i]);
		pack("b", "-sort sort");
		comparison_init(&c, "a", "b");
		compare(&c, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(c.result.inodes, ==, img_tree_inode_count(c.old.tree));
		g_assert_cmpuint(c.result.bytes, >, 6 * 1000 * 1000);
		g_assert_cmpuint(c.result.planned, ==, 0);
	}
}

/* Blocks that are stored in other ways have to be unpacked to be compared. */
static void test_equal_in_other_packing(void)
{
	static const char *const commands[] = {
		"mksquashfs tree b -noappend -quiet -no-progress -comp lz4 -noD -noF -mkfs-time 9",
		"mksquashfs tree b -noappend -quiet -no-progress -comp lz4 -always-use-fragments -mkfs-time 9",
		"mksquashfs tree b -noappend -quiet -no-progress -comp lz4 -no-fragments -no-sparse -mkfs-time 9",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
		g_auto(comparison) c;
		g_autoptr(GError) error = NULL;

		sq_run("%s", commands[i]);
		/* The superblock is made to agree: it is not what is looked at here. */
		sq_run("dd if=a of=b bs=1 skip=8 seek=8 count=4 conv=notrunc status=none;"
		       "dd if=a of=b bs=1 skip=24 seek=24 count=2 conv=notrunc status=none");
		comparison_init(&c, "a", "b");
		compare(&c, &error);
		g_assert_no_error(error);
	}
}

/* A change of the tree, and what is said of it. */
static const struct {
	const char *name, *change, *message;
} changes[] = {
	{"content of a large file",
		"printf x | dd of=data/random bs=1 seek=200000 conv=notrunc status=none; touch -r ../tree/data/random data/random",
		"/data/random: content differs"},
	{"content of a small file",
		"printf x | dd of=data/small bs=1 seek=50 conv=notrunc status=none; touch -r ../tree/data/small data/small",
		"/data/small: content differs"},
	{"last byte of a tail",
		"printf x | dd of=data/block-and-one bs=1 seek=131072 conv=notrunc status=none; touch -r ../tree/data/block-and-one data/block-and-one",
		"/data/block-and-one: content differs"},
	{"byte in a hole",
		"printf x | dd of=data/hole bs=1 seek=1500000 conv=notrunc status=none; touch -r ../tree/data/hole data/hole",
		"/data/hole: content differs"},
	{"size", "truncate -s 99 data/small; touch -r ../tree/data/small data/small",
		"/data/small: size differs: 100 before, 99 after"},
	{"mode", "chmod 4711 owners/setuid",
		"/owners/setuid: mode differs: 4755 before, 4711 after"},
	{"mode of a directory", "chmod 700 owners/sticky", "/owners/sticky: mode differs"},
	{"mode of the root", "chmod 700 .", "/: mode differs: 0755 before, 0700 after"},
	{"owner over 65535", "chown 65535 owners/high", "/owners/high: owner differs: 4000000"},
	{"group", "chgrp 7 owners/high", "/owners/high: group differs: 3000000 before, 7 after"},
	{"owner of a symlink", "chown -h 9 usr/bin/sh", "/usr/bin/sh: owner differs: 5 before, 9"},
	{"time", "touch -d @1 data/small", "/data/small: modification time differs: 0 before, 1"},
	{"time of a symlink", "touch -h -d @5 dangling", "/dangling: modification time differs"},
	{"capability",
		"setfattr -n security.capability -v 0x0100000200240000000000000000000000000000 caps/ping",
		"/caps/ping: extended attributes differ (1 before, 1 after)"},
	{"capability lost", "setfattr -x security.capability caps/ping",
		"/caps/ping: extended attributes differ (1 before, 0 after)"},
	{"opaque directory", "setfattr -x trusted.overlay.opaque opaque",
		"/opaque: extended attributes differ"},
	{"attribute of the root", "setfattr -n user.on.root -v no .",
		"/: extended attributes differ"},
	{"attribute of a symlink", "setfattr -h -x security.selinux usr/bin/sh",
		"/usr/bin/sh: extended attributes differ"},
	{"hard link broken", "cp -a hard/zz x; mv x hard/zz", "number of links differs"},
	{"hard link moved", "ln -f hard/fifo dev/fifo; rm hard/fifo-too; mkfifo hard/fifo-too",
		"hard"},
	{"symlink target", "ln -sfn elsewhere dangling; touch -h -d @1000000000 dangling",
		"/dangling: symlink target differs"},
	{"device number", "rm dev/null; mknod -m 666 dev/null c 1 5; touch -d @1706933106 dev/null",
		"/dev/null: device number differs"},
	{"whiteout lost", "rm opaque/whiteout; touch -d @1706933106 opaque",
		"/opaque/whiteout: only in the old image"},
	{"type", "rm dev/socket; mkfifo dev/socket",
		"/dev/socket: type differs: socket before, fifo after"},
	{"file lost", "rm data/empty", "/data/empty: only in the old image"},
	{"file too many", ": >data/emptz", "/data/emptz: only in the new image"},
	{"file with an odd name lost", "rm names/new*",
		"/names/new\\012line: only in the old image"},
};

static void test_change(gconstpointer data)
{
	gsize i = GPOINTER_TO_SIZE(data);
	g_auto(comparison) c;
	g_autoptr(GError) error = NULL;

	sq_run("rm -rf changed; cp -a tree changed; cd changed; %s;"
	       "for d in data names hard dev opaque usr/bin .; do touch -r ../tree/$d $d; done;"
	       "sleep 0.02; find . -type l -printf %%l >/dev/null;"
	       "cd ..; mksquashfs changed b -noappend -quiet -no-progress -comp lz4 -mkfs-time 9",
		changes[i].change);
	comparison_init(&c, "a", "b");
	g_assert_false(compare(&c, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	if (!strstr(error->message, changes[i].message))
		g_error("\"%s\" is not in: %s", changes[i].message, error->message);
}

static const struct {
	const char *name, *options, *message;
} formats[] = {
	{"compressor", "-comp gzip", "superblock: compressor differs: lz4 before, gzip after"},
	{"compressor options", "-Xhc", "superblock: compressor options differ"},
	{"block size", "-b 64K", "superblock: block size differs: 131072 before, 65536 after"},
	{"export table", "-no-exports", "superblock: flags differ: 0x4c0 before, 0x440 after"},
	{"time", "", "superblock: time differs: 9 before, 8 after"},
};

static void test_format(gconstpointer data)
{
	gsize i = GPOINTER_TO_SIZE(data);
	g_auto(comparison) c;
	g_autoptr(GError) error = NULL;

	sq_run("mksquashfs tree b -noappend -quiet -no-progress %s %s -mkfs-time %d",
		i == 0 ? "" : "-comp lz4", formats[i].options,
		g_str_equal(formats[i].name, "time") ? 8 : 9);
	comparison_init(&c, "a", "b");
	g_assert_false(compare(&c, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_assert_nonnull(strstr(error->message, formats[i].message));
}

static void flip_byte(const char *name, guint64 position)
{
	g_autofree char *path = sq_path(name), *bytes = NULL;
	gsize size;

	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	bytes[position] ^= 1;
	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
}

/* A15: one byte of the new image flips, wherever it is in the data. */
static void test_flipped_byte(void)
{
	static const char *const options[] = {"", "-noD -noF"};
	guint caught = 0, tried = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(options); i++) {
		guint64 end;

		pack("old", options[i]);
		sq_run("printf 'hot -5\\n' >sort");
		{
			g_auto(sq_image) image = {0};

			sq_open(&image, "old");
			end = img_tree_metadata_start(image.tree);
		}
		for (guint64 at = 300; at < end; at += end / 12) {
			g_auto(comparison) c;
			g_autoptr(GError) error = NULL;

			sq_run("mksquashfs tree b -noappend -quiet -no-progress -comp lz4 -mkfs-time 9 %s -sort sort",
				options[i]);
			flip_byte("b", at);
			comparison_init(&c, "old", "b");
			tried++;
			if (compare(&c, &error))
				continue;
			g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
			g_assert_nonnull(strstr(error->message, "content differs"));
			caught++;
		}
	}
	g_assert_cmpuint(caught, ==, tried);
}

/* Packs by a sort file and reads the order of a plan back. */
static void check_order(ro_layout layout, const char *options, const char *sort,
	const char *const *plan, guint in_place)
{
	g_auto(comparison) c;
	g_autoptr(GError) error = NULL;

	sq_run("printf '%s' >sort", sort);
	sq_run("mksquashfs tree a2 -noappend -quiet -no-progress -comp lz4 -mkfs-time 9 %s;"
	       "mksquashfs tree b -noappend -quiet -no-progress -comp lz4 -mkfs-time 9 %s -sort sort",
		options, options);
	comparison_init(&c, "a2", "b");
	c.plan.layout = layout;
	for (guint i = 0; plan[i]; i++)
		plan_path(&c, plan[i]);
	if (compare(&c, &error) != (in_place * 2 >= c.plan.files->len))
		g_error("%s", error ? error->message : "no error");
	g_assert_cmpuint(c.result.planned, ==, c.plan.files->len);
	g_assert_cmpuint(c.result.in_place, ==, in_place);
	if (error)
		g_assert_nonnull(strstr(error->message, "reordering had no effect"));
}

static const char *const big[] = {
	"hot/b2", "data/random", "hot/b1", "data/block-less-one", "hot/b3", NULL};

static void test_in_place(void)
{
	check_order(RO_LAYOUT_END, "",
		"hot/b2 -1\ndata/random -2\nhot/b1 -3\ndata/block-less-one -4\nhot/b3 -5\n", big,
		5);
	check_order(RO_LAYOUT_FRONT, "-no-fragments",
		"hot/b2 9\ndata/random 8\nhot/b1 7\ndata/block-less-one 6\nhot/b3 5\n", big, 5);
}

/* A11: nothing was sorted, or to the other end. */
static void test_no_effect(void)
{
	check_order(RO_LAYOUT_END, "", "nope/hot/b2 -1\n", big, 0);
	check_order(RO_LAYOUT_END, "",
		"hot/b2 9\ndata/random 8\nhot/b1 7\ndata/block-less-one 6\nhot/b3 5\n", big, 0);
}

/* A9: one priority for all gives the reverse of the directory order. */
static void test_reversed(void)
{
	static const char *const plan[] = {"hot/b1", "hot/b2", "hot/b3", NULL};

	check_order(RO_LAYOUT_END, "-no-fragments", "hot/b1 -1\nhot/b2 -1\nhot/b3 -1\n", plan, 1);
}

static void test_one_misplaced(void)
{
	check_order(RO_LAYOUT_END, "-no-fragments",
		"hot/b2 -1\ndata/random -2\nhot/b1 -3\ndata/block-less-one -4\n", big, 4);
	check_order(RO_LAYOUT_END, "-no-fragments",
		"hot/b2 -5\ndata/random -2\nhot/b1 -3\ndata/block-less-one -4\nhot/b3 -6\n", big,
		4);
}

/* A12: the data of twins lies where the first of them is written. */
static void test_twins(void)
{
	static const char *const plan[] = {"hot/b1", "hot/x", "hot/b2", NULL};
	static const char *const both[] = {"hot/x", "hot/b1", "cold/x", "hot/b2", NULL};

	check_order(RO_LAYOUT_END, "", "hot/b1 -1\nhot/x -2\ncold/x -2\nhot/b2 -3\n", plan, 3);
	check_order(RO_LAYOUT_END, "", "hot/b1 -1\nhot/x -2\nhot/b2 -3\n", plan, 2);
	check_order(RO_LAYOUT_END, "", "hot/x -1\nhot/b1 -2\ncold/x -3\nhot/b2 -4\n", both, 4);
}

/* A13: small files count by their fragment block. */
static void test_fragments(void)
{
	static const char *const plan[] = {"hot/f30", "hot/f4", "hot/f17", "hot/f9", NULL};

	check_order(RO_LAYOUT_END, "-b 4096", "hot/f30 -1\nhot/f4 -2\nhot/f17 -3\nhot/f9 -4\n",
		plan, 4);
	check_order(
		RO_LAYOUT_END, "-b 4096", "hot/f30 9\nhot/f4 8\nhot/f17 7\nhot/f9 6\n", plan, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (!sq_start(TRUE))
		return sq_finish(0);
	pack("a", "");
	g_test_add_func("/reorder/verify/equal", test_equal);
	g_test_add_func("/reorder/verify/equal-in-other-packing", test_equal_in_other_packing);
	for (gsize i = 0; i < G_N_ELEMENTS(changes); i++) {
		g_autofree char *name =
			g_strconcat("/reorder/verify/differs/", changes[i].name, NULL);
		g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_change);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_autofree char *name =
			g_strconcat("/reorder/verify/superblock/", formats[i].name, NULL);
		g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_format);
	}
	g_test_add_func("/reorder/verify/one-byte-flipped", test_flipped_byte);
	g_test_add_func("/reorder/verify/order/in-place", test_in_place);
	g_test_add_func("/reorder/verify/order/no-effect", test_no_effect);
	g_test_add_func("/reorder/verify/order/reversed", test_reversed);
	g_test_add_func("/reorder/verify/order/one-misplaced", test_one_misplaced);
	g_test_add_func("/reorder/verify/order/twins", test_twins);
	g_test_add_func("/reorder/verify/order/fragments", test_fragments);
	return sq_finish(g_test_run());
}
