/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/squashfs-fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "reorder/engine.h"
#include "reorder/mksquashfs_options.h"
#include "reorder/util/interrupt.h"
#include "reorder/verify.h"

/* Where the image starts in what stands for the ISO. */
enum { ISO_OFFSET = 34 * 2048 };

/* An image in an ISO, a plan, and a work directory. */
typedef struct {
	sq_image image;
	ro_plan plan;
	ro_engine_job job;
	char *iso, *workdir, *out;
} rebuild_job;

static void rebuild_clear(rebuild_job *r)
{
	sq_clear(&r->image);
	g_array_unref(r->plan.files);
	g_assert_true(ro_remove_tree(r->workdir, NULL));
	g_free(r->iso);
	g_free(r->workdir);
	g_free(r->out);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rebuild_job, rebuild_clear)

static void plan_path(rebuild_job *r, const char *path)
{
	ro_plan_item item = {
		.inode = sq_inode(&r->image, path), .rank = r->plan.files->len, .reason = "open"};

	g_array_append_val(r->plan.files, item);
}

/* The image is the file "v". */
static void rebuild_init(rebuild_job *r, ro_layout layout)
{
	memset(r, 0, sizeof(*r));
	sq_run("{ head -c %d /dev/urandom; cat v; head -c 3000 /dev/urandom; } >in.iso; mkdir work",
		ISO_OFFSET);
	sq_open_file(&r->image, "in.iso");
	r->image.source.offset = ISO_OFFSET;
	r->image.source.size -= ISO_OFFSET + 3000;
	r->image.tree = img_tree_open(&r->image.source, NULL);
	g_assert_nonnull(r->image.tree);
	r->plan.files = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	r->plan.layout = layout;
	r->iso = sq_path("in.iso");
	r->workdir = sq_path("work");
	r->out = sq_path("work/out");
	r->job = (ro_engine_job){
		.iso_path = r->iso,
		.tree = r->image.tree,
		.plan = &r->plan,
		.workdir = r->workdir,
		.out_path = r->out,
	};
}

/* Files of every kind, in an order that is not that of the image. */
static void plan_hot(rebuild_job *r)
{
	static const char *const first[] = {"usr/bin/dash", "names/big\nnew line", "hot/b2",
		"hard/zz", "names/new\nline", "names/a b", "names/back\\slash", "names/x\x85y",
		"data/text", "hot/b1", "hot/x", "hot/s", "data/sparse", "names/*", "data/one"};

	for (gsize i = 0; i < G_N_ELEMENTS(first); i++)
		plan_path(r, first[i]);
	for (guint i = 40; i > 0; i--) {
		g_autofree char *path = g_strdup_printf("hot/f%u", i);

		plan_path(r, path);
	}
}

static void check(const rebuild_job *r)
{
	ro_engine_job before = r->job;
	g_autoptr(GError) error = NULL;

	before.plan = NULL;
	ro_engine_mksquashfs.check(&before, &error);
	g_assert_no_error(error);
}

/* Rebuilds into work/out and compares; the result counts. */
static ro_verify_result rebuild(const rebuild_job *r)
{
	ro_verify_result result;
	g_auto(sq_image) out = {0};
	g_autoptr(GError) error = NULL;

	check(r);
	ro_engine_mksquashfs.rebuild(&r->job, &error);
	g_assert_no_error(error);
	sq_open(&out, "work/out");
	ro_verify_image(r->image.tree, out.tree, &r->plan, NULL, &result, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(result.inodes, ==, img_tree_inode_count(r->image.tree));
	return result;
}

static guint64 shell_number(const char *command)
{
	g_autofree char *out = sq_shell("%s", command);

	return g_ascii_strtoull(out, NULL, 10);
}

/* mksquashfs can be told each format: the trial of check() compares superblocks (C1, C2, C4, C5).
 */
static void test_formats(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(sq_variants); i++) {
		g_auto(rebuild_job) r;

		g_test_message("%s", sq_variants[i]);
		sq_run("mksquashfs tree/names v -noappend -quiet -no-progress %s", sq_variants[i]);
		rebuild_init(&r, RO_LAYOUT_END);
		check(&r);
	}
}

/* Each format is rebuilt in itself: C1, C2, C4, C5, B2, B6, B7, B10; foreign checkers agree. */
static void test_variant(gconstpointer options)
{
	g_auto(rebuild_job) r;
	ro_verify_result result;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress %s", (const char *)options);
	rebuild_init(&r, RO_LAYOUT_END);
	plan_hot(&r);
	result = rebuild(&r);
	g_assert_cmpuint(result.planned, ==, r.plan.files->len);
	g_assert_cmpuint(result.in_place, ==, result.planned);
	sq_run("sqfsdiff -a v -b work/out >diff 2>&1 || { grep -v 'lzo' diff | head -3; grep -q lzo diff; }");
	sq_run("unsquashfs -lln -UTC v >a; unsquashfs -lln -UTC work/out >b;"
	       "diff <(grep -v ^d a) <(grep -v ^d b)");
	g_assert_cmpint(r.image.source.size % 4096 == 0, ==,
		shell_number("stat -c %s work/out") % 4096 == 0);
}

static void test_front(void)
{
	g_auto(rebuild_job) r;
	ro_verify_result result;
	g_auto(sq_image) out = {0};
	const img_inode *inode;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress");
	rebuild_init(&r, RO_LAYOUT_FRONT);
	plan_path(&r, "hot/b3");
	plan_path(&r, "hot/x");
	plan_path(&r, "hot/b1");
	result = rebuild(&r);
	sq_open(&out, "work/out");
	inode = img_tree_inode(out.tree, sq_inode(&out, "hot/b3"));
	g_assert_cmpuint(inode->data_start, ==, IMG_SUPER_SIZE);
	g_assert_cmpuint(result.hot_start, ==, IMG_SUPER_SIZE);
	/* A12: the twin has the same data, at the front. */
	g_assert_cmpuint(img_tree_inode(out.tree, sq_inode(&out, "cold/x"))->data_start, ==,
		img_tree_inode(out.tree, sq_inode(&out, "hot/x"))->data_start);
	g_assert_cmpuint(result.planned, ==, 3);
}

/* A13: small files that are hot lie in few fragment blocks, at the end. */
static void test_fragments(void)
{
	g_auto(rebuild_job) r;
	ro_verify_result result;
	g_auto(sq_image) out = {0};
	guint32 first, last;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -b 16K");
	rebuild_init(&r, RO_LAYOUT_END);
	for (guint i = 1; i <= 40; i++) {
		g_autofree char *path = g_strdup_printf("hot/f%u", i);

		plan_path(&r, path);
	}
	result = rebuild(&r);
	g_assert_cmpuint(result.in_place, ==, 40);
	sq_open(&out, "work/out");
	first = img_tree_inode(out.tree, sq_inode(&out, "hot/f1"))->fragment;
	last = img_tree_inode(out.tree, sq_inode(&out, "hot/f40"))->fragment;
	g_assert_cmpuint(last, ==, img_tree_fragment_count(out.tree) - 1);
	g_assert_cmpuint(last - first, <=, 3); /* 34,340 bytes */
	g_assert_cmpuint(result.hot_end, ==, img_tree_metadata_start(out.tree));
}

/* Without a plan the image is the same in every inode, and in its order. */
static void test_empty_plan(void)
{
	g_auto(rebuild_job) r;
	ro_verify_result result;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	rebuild_init(&r, RO_LAYOUT_END);
	result = rebuild(&r);
	g_assert_cmpuint(result.planned, ==, 0);
	sq_run("cmp v work/out");
}

static void test_same_bytes_again(void)
{
	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp zstd -Xcompression-level 1");
	for (guint i = 0; i < 2; i++) {
		g_auto(rebuild_job) r;

		rebuild_init(&r, RO_LAYOUT_END);
		plan_hot(&r);
		rebuild(&r);
		sq_run("mv work/out out%u", i);
	}
	sq_run("cmp out0 out1");
}

static void test_other_tools(void)
{
	static const char *const commands[] = {
		"gensquashfs -q -k -x -D tree v -f -c gzip",
		"gensquashfs -q -k -x -e -T -c xz -b 65536 -D tree v -f",
		"tar -C tree --xattrs --xattrs-include='*' -cf - --exclude=dev/socket . |"
		"tar2sqfs -q -f -c zstd v",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
		g_auto(rebuild_job) r;
		ro_verify_result result;

		sq_run("%s", commands[i]);
		rebuild_init(&r, RO_LAYOUT_END);
		plan_hot(&r);
		result = rebuild(&r);
		g_assert_cmpuint(result.in_place, ==, result.planned);
	}
}

/* SOURCE_DATE_EPOCH would clamp the files' times. */
static void test_environment(void)
{
	g_auto(rebuild_job) r;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	rebuild_init(&r, RO_LAYOUT_END);
	g_setenv("SOURCE_DATE_EPOCH", "86400", TRUE);
	rebuild(&r);
	g_unsetenv("SOURCE_DATE_EPOCH");
}

static void expect_failure(const rebuild_job *r, gboolean ok, GError *error, const char *text)
{
	g_assert_false(ok);
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	if (!strstr(error->message, text))
		g_error("\"%s\" is not in: %s", text, error->message);
	g_assert_false(g_file_test(r->out, G_FILE_TEST_EXISTS));
}

/* K1, B1: any failure of a child is one, and leaves no image. */
static void test_no_space(void)
{
	g_auto(rebuild_job) r;
	g_autoptr(GError) error = NULL;
	gboolean ok;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	rebuild_init(&r, RO_LAYOUT_END);
	sq_run("mkdir small");
	g_autofree char *small = sq_path("small");
	g_autofree char *mount =
		g_strdup_printf("mount -t tmpfs -o size=1m none %s 2>/dev/null", small);
	if (system(mount) != 0) {
		g_test_skip("cannot mount a tmpfs");
		return;
	}
	r.job.workdir = small;
	ok = ro_engine_mksquashfs.rebuild(&r.job, &error);
	sq_run("umount small");
	expect_failure(&r, ok, error, "unsquashfs failed");
}

/* K7: an image that is damaged inside of its data. */
static void test_damaged_data(void)
{
	g_auto(rebuild_job) r;
	g_autoptr(GError) error = NULL;
	gboolean ok;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp gzip");
	rebuild_init(&r, RO_LAYOUT_END);
	sq_run("printf '\\377\\377\\377\\377\\377\\377' | dd of=in.iso bs=1 conv=notrunc status=none seek=%" G_GUINT64_FORMAT,
		ISO_OFFSET +
			img_tree_inode(r.image.tree, sq_inode(&r.image, "data/text"))->data_start +
			10);
	ok = ro_engine_mksquashfs.rebuild(&r.job, &error);
	expect_failure(&r, ok, error, "unsquashfs failed");
}

/* B5. */
static void test_overlay(void)
{
	g_auto(rebuild_job) r;
	g_autoptr(GError) error = NULL;
	g_autofree char *merged = sq_path("overlay/merged");
	gboolean ok;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	rebuild_init(&r, RO_LAYOUT_END);
	sq_run("mkdir -p overlay/lower overlay/upper overlay/work overlay/merged");
	g_autofree char *mount = g_strdup_printf(
		"cd %s/overlay && mount -t overlay none -o lowerdir=lower,upperdir=upper,workdir=work merged 2>/dev/null",
		sq_dir);
	if (system(mount) != 0) {
		g_test_skip("cannot mount an overlay");
		return;
	}
	r.job.workdir = merged;
	ok = ro_engine_mksquashfs.check(&r.job, &error);
	sq_run("umount overlay/merged");
	expect_failure(&r, ok, error, "overlayfs");
}

/* Runs check() as another user in a child; the exit code is the error's code. */
static int check_as_user(const rebuild_job *r, uid_t uid)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		g_autoptr(GError) error = NULL;

		if (setresuid(uid, uid, uid) < 0)
			_exit(99);
		_exit(ro_engine_mksquashfs.check(&r->job, &error) ? 0 : error->code);
	}
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	return WEXITSTATUS(status);
}

/* B1: not root is said at once. */
static void test_not_root(void)
{
	g_auto(rebuild_job) r;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	rebuild_init(&r, RO_LAYOUT_END);
	g_assert_cmpint(check_as_user(&r, 65534), ==, RO_ERROR_FAILED);
}

/* Tools in front of the real ones. */
static void with_tool(const char *name, const char *script)
{
	g_autofree char *path = g_strdup_printf("%s:%s", sq_dir, g_getenv("PATH"));

	sq_run("printf '#!/bin/sh\\n%s\\n' >%s; chmod +x %s", script, name, name);
	g_setenv("PATH", path, TRUE);
}

static void without_tool(const char *name)
{
	const char *path = g_getenv("PATH");

	g_setenv("PATH", path + strlen(sq_dir) + 1, TRUE);
	sq_run("rm %s", name);
}

/* B4: what the work directory's filesystem adds must not come into an image without attributes. */
static void test_no_labels(void)
{
	g_auto(rebuild_job) r;
	g_auto(sq_image) out = {0};
	g_autofree char *script = g_strdup_printf(
		"/usr/bin/unsquashfs \"$@\" && { [ ! -d %s/work/tree ] || setfattr -n user.label -v x %s/work/tree/f; }",
		sq_dir, sq_dir);

	sq_run("mkdir -p plain; echo x >plain/f; mksquashfs plain v -noappend -quiet -no-progress");
	rebuild_init(&r, RO_LAYOUT_END);
	plan_path(&r, "f");
	check(&r);
	with_tool("unsquashfs", script);
	g_assert_true(ro_engine_mksquashfs.rebuild(&r.job, NULL));
	without_tool("unsquashfs");
	sq_open(&out, "work/out");
	g_assert_cmpuint(img_tree_super(out.tree)->xattr_table, ==, G_MAXUINT64);
	g_assert_cmphex(img_tree_super(out.tree)->flags, ==, 0xc0);
}

/* C3, A15: found out before the long work. */
static void test_tools(void)
{
	static const struct {
		const char *tool, *script, *message;
	} cases[] = {
		{"mksquashfs", "echo mksquashfs version 4.3", "4.3.0: not a supported version"},
		{"mksquashfs", "echo mksquashfs version 4.7.2", "sparse files"},
		{"unsquashfs", "echo unsquashfs version 3.1", "3.1.0: not a supported version"},
		{"unsquashfs", "echo garbage", "cannot be found out"},
		{"mksquashfs",
			"[ \"$1\" = -version ] && exec echo mksquashfs version 4.5.1;"
			"echo FATAL ERROR: Compressor \\\\\\\"zstd\\\\\\\" is not supported! >&2; exit 1",
			"is not supported!"},
		{"mksquashfs",
			"[ \"$1\" = -version ] && exec echo mksquashfs version 4.5.1;"
			"exec /usr/bin/mksquashfs \"$1\" \"$2\" -noappend -comp gzip",
			"does not write the compressor options"},
	};
	g_auto(rebuild_job) r;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp zstd -Xcompression-level 3");
	rebuild_init(&r, RO_LAYOUT_END);
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		gboolean ok;

		with_tool(cases[i].tool, cases[i].script);
		ok = ro_engine_mksquashfs.check(&r.job, &error);
		without_tool(cases[i].tool);
		expect_failure(&r, ok, error, cases[i].message);
	}
	g_assert_cmpuint(shell_number("ls -A work | wc -l"), ==, 0);
}

/* K9: the tool is told what a container allows, and its death is explained. */
static void test_killed(void)
{
	g_auto(rebuild_job) r;
	g_autoptr(GError) error = NULL;
	g_autofree char *script = g_strdup_printf(
		"echo \"$@\" >%s/words; [ \"$1\" = -version ] && exec /usr/bin/mksquashfs -version; kill -9 $$",
		sq_dir);
	g_autofree char *words = NULL;
	gboolean ok;

	sq_run("mksquashfs tree/names v -noappend -quiet -no-progress -comp lz4");
	rebuild_init(&r, RO_LAYOUT_END);
	with_tool("mksquashfs", script);
	ok = ro_engine_mksquashfs.rebuild(&r.job, &error);
	without_tool("mksquashfs");
	expect_failure(&r, ok, error, "want of memory");
	words = sq_shell("cat words");
	g_assert_nonnull(strstr(words, " -processors "));
	g_assert_nonnull(strstr(words, " -mem "));
}

/* K4: a signal ends the children and removes the half image. */
static void test_interrupted(void)
{
	static const char *const phases[] = {"unsquashfs", "mksquashfs"};
	g_auto(rebuild_job) r;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	for (gsize i = 0; i < G_N_ELEMENTS(phases); i++) {
		g_autofree char *script = g_strdup_printf(
			"/usr/bin/%s \"$@\" || exit 1; touch %s/reached; exec sleep 98765",
			phases[i], sq_dir);
		int status;
		pid_t pid;

		rebuild_init(&r, RO_LAYOUT_END);
		with_tool(phases[i], script);
		pid = fork();
		if (pid == 0) {
			g_autoptr(GError) error = NULL;

			ro_interrupt_install();
			_exit(ro_engine_mksquashfs.rebuild(&r.job, &error) ? 0 : error->code);
		}
		sq_run("for i in $(seq 200); do [ -e reached ] && break; sleep 0.05; done; rm reached");
		kill(pid, SIGTERM);
		g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
		without_tool(phases[i]);
		g_assert_cmpint(WEXITSTATUS(status), ==, RO_ERROR_INTERRUPTED);
		g_assert_false(g_file_test(r.out, G_FILE_TEST_EXISTS));
		g_assert_cmpuint(shell_number("pgrep -fx 'sleep 98765' | wc -l"), ==, 0);
		if (i == 0)
			rebuild_clear(&r);
	}
}

static void test_known_bad_versions(void)
{
	static const struct {
		ro_tool_version version;
		guint flags;
		gboolean holes, good;
	} cases[] = {
		{{4, 4, 0}, 0, FALSE, FALSE},
		{{4, 5, 0}, IMG_FLAG_ALWAYS_FRAGMENTS, TRUE, TRUE},
		{{4, 5, 1}, 0, TRUE, TRUE},
		{{4, 6, 0}, 0, TRUE, TRUE},
		{{4, 6, 0}, IMG_FLAG_ALWAYS_FRAGMENTS, FALSE, FALSE},
		{{4, 6, 1}, IMG_FLAG_ALWAYS_FRAGMENTS, FALSE, TRUE},
		{{4, 7, 0}, 0, TRUE, FALSE},
		{{4, 7, 0}, 0, FALSE, TRUE},
		{{4, 7, 4}, 0, TRUE, FALSE},
		{{4, 7, 5}, 0, TRUE, TRUE},
		{{5, 0, 0}, 0, FALSE, FALSE},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		img_super super = {.flags = (guint16)cases[i].flags};

		g_assert_cmpint(ro_mksquashfs_check_version(
					&cases[i].version, &super, cases[i].holes, NULL),
			==, cases[i].good);
	}
}

static void test_version_texts(void)
{
	ro_tool_version version;

	g_assert_true(ro_tool_version_parse("mksquashfs version 4.5.1 (2022/03/17)\n", &version));
	g_assert_cmpuint(version.patch, ==, 1);
	g_assert_true(ro_tool_version_parse("mksquashfs version 4.6-git", &version));
	g_assert_cmpuint(version.minor, ==, 6);
	g_assert_cmpuint(version.patch, ==, 0);
	g_assert_false(ro_tool_version_parse("mksquashfs version x", &version));
	g_assert_false(ro_tool_version_parse("", &version));
}

/* K1: enough, and not absurdly more; holes take no space. */
static void test_space(void)
{
	g_auto(rebuild_job) r;
	guint64 tree, estimate;

	sq_run("mksquashfs tree v -noappend -quiet -no-progress -comp lz4");
	rebuild_init(&r, RO_LAYOUT_END);
	estimate = ro_engine_mksquashfs.space(&r.job);
	tree = shell_number("cat <(du -sB1 tree | cut -f1) <(stat -c %s v) | paste -sd+ | bc");
	g_test_message("estimate %" G_GUINT64_FORMAT ", used %" G_GUINT64_FORMAT, estimate, tree);
	g_assert_cmpuint(estimate, >=, tree);
	g_assert_cmpuint(estimate, <, tree + tree / 2);
}

int main(int argc, char **argv)
{
	static const char *const variants[] = {
		"-comp gzip -Xcompression-level 1 -Xwindow-size 12",
		"-comp lzo -Xalgorithm lzo1x_1_15 -no-exports",
		"-comp xz -Xbcj x86,arm -Xdict-size 50%",
		"-comp lz4 -Xhc -b 1M -always-use-fragments",
		"-comp zstd -Xcompression-level 1 -b 4096",
		"-comp lz4 -no-fragments -nopad -mkfs-time 1",
		"-comp lz4 -no-duplicates -no-xattrs",
		"-noI -noD -noF -noX -noId -b 8192",
	};

	g_test_init(&argc, &argv, NULL);
	if (!sq_start(TRUE))
		return sq_finish(0);
	g_test_add_func("/reorder/engine-mksquashfs/formats", test_formats);
	for (gsize i = 0; i < G_N_ELEMENTS(variants); i++) {
		g_autofree char *name =
			g_strconcat("/reorder/engine-mksquashfs/rebuild/", variants[i], NULL);
		g_test_add_data_func(name, variants[i], test_variant);
	}
	g_test_add_func("/reorder/engine-mksquashfs/front", test_front);
	g_test_add_func("/reorder/engine-mksquashfs/fragments", test_fragments);
	g_test_add_func("/reorder/engine-mksquashfs/empty-plan", test_empty_plan);
	g_test_add_func("/reorder/engine-mksquashfs/same-bytes-again", test_same_bytes_again);
	g_test_add_func("/reorder/engine-mksquashfs/images-of-other-tools", test_other_tools);
	g_test_add_func("/reorder/engine-mksquashfs/source-date-epoch", test_environment);
	g_test_add_func("/reorder/engine-mksquashfs/no-labels", test_no_labels);
	g_test_add_func("/reorder/engine-mksquashfs/no-space", test_no_space);
	g_test_add_func("/reorder/engine-mksquashfs/damaged-data", test_damaged_data);
	g_test_add_func("/reorder/engine-mksquashfs/overlay-work-directory", test_overlay);
	g_test_add_func("/reorder/engine-mksquashfs/not-root", test_not_root);
	g_test_add_func("/reorder/engine-mksquashfs/tools", test_tools);
	g_test_add_func("/reorder/engine-mksquashfs/killed", test_killed);
	g_test_add_func("/reorder/engine-mksquashfs/interrupted", test_interrupted);
	g_test_add_func("/reorder/engine-mksquashfs/known-bad-versions", test_known_bad_versions);
	g_test_add_func("/reorder/engine-mksquashfs/version-texts", test_version_texts);
	g_test_add_func("/reorder/engine-mksquashfs/space", test_space);
	return sq_finish(g_test_run());
}
