/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ext4 engine: filesystems by themselves and in a squashfs. */
#include <string.h>

#include "reorder/engines.h"
#include "reorder/ext4/relocate.h"
#include "reorder/ext4_wrapping.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/verify_ext4.h"
#include "tests/unit/squashfs-fixture.h"

static char *top;

static const char *const hot_paths[] = {"etc", "usr/symlink-900", "usr/large", "usr/share/file-9",
	"usr/share/file-50", "usr/share/file-3"};

static ro_plan *plan_new(const img_tree *tree)
{
	ro_plan_options options = {RO_ORDER_ACCESS, RO_LAYOUT_END, 0, NULL, NULL};
	g_autoptr(GError) error = NULL;
	ro_plan *plan = ro_plan_new(tree, NULL, &options, &error);

	g_assert_no_error(error);
	for (gsize i = 0; i < G_N_ELEMENTS(hot_paths); i++) {
		ro_plan_item item = {.inode = img_tree_resolve(tree, hot_paths[i], FALSE)};
		img_type type;

		g_assert_cmpuint(item.inode, !=, IMG_NONE);
		type = img_tree_inode(tree, item.inode)->type;
		g_array_append_val(type == IMG_DIR       ? plan->dirs
				   : type == IMG_SYMLINK ? plan->symlinks
							 : plan->files,
			item);
	}
	return plan;
}

static void open_inside(sq_image *inside, const char *name)
{
	g_autoptr(GError) error = NULL;

	sq_open_file(inside, name);
	inside->tree = img_ext4_tree_open(&inside->source, &error);
	g_assert_no_error(error);
}

/* A squashfs like those of Fedora's live images, of that filesystem. */
static void make_outer(const char *name, const char *filesystem, const char *options)
{
	sq_run("rm -rf outer %s; mkdir -p outer/LiveOS; cp --sparse=always %s outer/LiveOS/%s; "
	       "echo text >outer/LiveOS/info; ln -s LiveOS/info outer/link; chmod 750 outer; "
	       "chmod 640 outer/LiveOS/info; touch -h -d @1000000000 outer/link outer/LiveOS/*; "
	       "touch -d @1100000000 outer/LiveOS; touch -d @1200000000 outer; "
	       "mksquashfs outer %s -quiet -no-progress -noappend %s",
		name, filesystem, strstr(filesystem, "ext3") ? "ext3fs.img" : "rootfs.img", name,
		options);
}

static void verify_inside(const ro_engine_job *job, const char *name)
{
	g_auto(sq_image) inside = {0};
	g_autoptr(GArray) wanted = ro_ext4_wanted(job->tree, job->plan);
	g_autoptr(GError) error = NULL;
	ro_verify_result result;

	sq_open_file(&inside, name);
	ro_ext4_verify(img_tree_source(job->tree), &inside.source,
		(const guint32 *)(void *)wanted->data, wanted->len, NULL, &result, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(result.in_place, ==, G_N_ELEMENTS(hot_paths));
	g_assert_cmpuint(result.planned, ==, G_N_ELEMENTS(hot_paths));
}

/* All that the user sees of both. */
#define LIST(image) "TZ=UTC unsquashfs -lln -d '' " image "; unsquashfs -s " image " | tail -n +4"

static void check_wrapped(const char *filesystem, const char *options)
{
	g_auto(sq_image) outer = {0}, inside = {0};
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *out = sq_path("out.squashfs"), *found = sq_path("inside"),
			*made = sq_path(RO_EXT4_NEW_NAME), *before = NULL, *after = NULL;
	ro_engine_job job = {.workdir = sq_dir, .out_path = out};
	const ro_engine *engine;

	sq_run("rm -f inside " RO_EXT4_NEW_NAME " out.squashfs");
	make_outer("outer.squashfs", filesystem, options);
	sq_open(&outer, "outer.squashfs");
	job.outer = outer.tree;
	job.outer_inode = ro_ext4_find_inside(outer.tree);
	g_assert_true(ro_ext4_unwrap(outer.tree, job.outer_inode, found, NULL, &error));
	sq_run("cmp inside %s", filesystem);
	open_inside(&inside, "inside");
	plan = plan_new(inside.tree);
	job.tree = inside.tree;
	job.plan = plan;
	engine = ro_engine_choose("auto", &job, &error);
	g_assert_no_error(error);
	g_assert_true(engine == &ro_engine_ext4);
	engine->rebuild(&job, &error);
	g_assert_no_error(error);
	ro_ext4_wrap_job wrap = {outer.tree, job.outer_inode, made, sq_dir, out, NULL};
	ro_ext4_verify_wrapping(&wrap, &error);
	g_assert_no_error(error);
	sq_run("unsquashfs -cat out.squashfs 'LiveOS/*.img' >taken-out; cmp taken-out %s", made);
	verify_inside(&job, "taken-out");
	before = sq_shell(LIST("outer.squashfs") " | grep -v '^Number of'");
	after = sq_shell(LIST("out.squashfs") " | grep -v '^Number of'");
	g_assert_cmpstr(after, ==, before);
}

static void test_wrapped(void)
{
	check_wrapped("ext4.img", "-comp zstd -Xcompression-level 3");
	check_wrapped("ext3.img", "-comp xz -Xbcj x86 -b 256K");
	check_wrapped("ext4.img", "-comp gzip -no-exports -no-xattrs -all-root -mkfs-time 77");
}

/* An owner of the root directory, and of the image, that is not the user. */
static void test_owners(void)
{
	if (geteuid() != 0) {
		g_test_skip("only root can set owners");
		return;
	}
	check_wrapped("ext4.img", "-force-uid 70000 -force-gid 5");
}

static void test_plain(void)
{
	g_auto(sq_image) image = {0};
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *out = sq_path("out");
	ro_engine_job job = {.workdir = sq_dir, .out_path = out};

	sq_run("rm -f out");
	open_inside(&image, "ext4.img");
	plan = plan_new(image.tree);
	job.tree = image.tree;
	job.plan = plan;
	g_assert_true(ro_engine_choose("ext4", &job, &error) == &ro_engine_ext4);
	ro_engine_ext4.rebuild(&job, &error);
	g_assert_no_error(error);
	verify_inside(&job, "out");
}

static void test_other_engines(void)
{
	g_auto(sq_image) image = {0}, squashfs = {0};
	g_autoptr(GError) error = NULL;
	ro_engine_job job = {0};

	open_inside(&image, "ext4.img");
	job.tree = image.tree;
	g_assert_null(ro_engine_choose("splice", &job, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	g_clear_error(&error);
	make_outer("outer.squashfs", "ext4.img", "");
	sq_open(&squashfs, "outer.squashfs");
	job.tree = squashfs.tree;
	g_assert_null(ro_engine_choose("ext4", &job, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	g_assert_true(ro_engine_choose("auto", &job, NULL) == &ro_engine_splice);
}

/* What is in the outer tree beside the image, and why that cannot be done. */
static void assert_refused(const char *command, const char *message)
{
	g_auto(sq_image) outer = {0};
	g_autoptr(GError) error = NULL;

	sq_run("rm -rf o o.squashfs; mkdir -p o/LiveOS; touch o/LiveOS/rootfs.img; cd o; %s; cd ..; "
	       "mksquashfs o o.squashfs -quiet -no-progress",
		command);
	sq_open(&outer, "o.squashfs");
	g_assert_false(ro_ext4_check_wrapping(outer.tree, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	if (!g_pattern_match_simple(message, error->message))
		g_error("%s: %s", command, error->message);
}

static void test_refused(void)
{
	assert_refused("ln LiveOS/rootfs.img b", "o.squashfs: /*has hard links*");
	assert_refused("mkfifo f", "o.squashfs: /f is a device, fifo or socket*");
	assert_refused("touch 'a b'", "o.squashfs: /a b has a name with special characters*");
	assert_refused("ln -s '$(x)' l", "o.squashfs: /l has a name with special characters*");
	assert_refused("setfattr -n user.a -v b LiveOS/rootfs.img",
		"o.squashfs: /LiveOS/rootfs.img has extended attributes*");
}

static void test_differences(void)
{
	g_auto(sq_image) outer = {0};
	g_autofree char *out = sq_path("changed.squashfs"), *content = sq_path("ext4.img");
	static const struct {
		const char *change, *message;
	} changes[] = {
		{"chmod 600 outer/LiveOS/info", "/LiveOS/info: mode differs*"},
		{"touch -d @5 outer/LiveOS/rootfs.img", "/LiveOS/rootfs.img: modification*"},
		{"printf x | dd of=outer/LiveOS/rootfs.img bs=1 seek=9 conv=notrunc status=none; "
		 "touch -d @1000000000 outer/LiveOS/rootfs.img",
			"/LiveOS/rootfs.img: content differs*"},
		{"rm outer/link; ln -s other outer/link; touch -h -d @1000000000 outer/link; "
		 "touch -d @1200000000 outer",
			"/link: symlink target differs*"},
		{"touch outer/more; touch -d @1200000000 outer", "*number of inodes differs*"},
	};

	make_outer("outer.squashfs", "ext4.img", "");
	sq_open(&outer, "outer.squashfs");
	ro_ext4_wrap_job wrap = {
		outer.tree, ro_ext4_find_inside(outer.tree), content, sq_dir, out, NULL};
	for (gsize i = 0; i < G_N_ELEMENTS(changes); i++) {
		g_autoptr(GError) error = NULL;

		make_outer("other.squashfs", "ext4.img", "");
		sq_run("%s; mksquashfs outer changed.squashfs -noappend -quiet -no-progress",
			changes[i].change);
		g_assert_false(ro_ext4_verify_wrapping(&wrap, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
		if (!g_pattern_match_simple(changes[i].message, error->message))
			g_error("%s: %s", changes[i].change, error->message);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	top = g_get_current_dir();
	if (!sq_start(FALSE))
		return 0;
	sq_run("%s/tests/images/ext4-variants . ext4 ext3 >&2", top);
	g_test_add_func("/ext4-engine/plain", test_plain);
	g_test_add_func("/ext4-engine/wrapped", test_wrapped);
	g_test_add_func("/ext4-engine/owners", test_owners);
	g_test_add_func("/ext4-engine/other-engines", test_other_engines);
	g_test_add_func("/ext4-engine/refused", test_refused);
	g_test_add_func("/ext4-engine/differences", test_differences);
	return sq_finish(g_test_run());
}
