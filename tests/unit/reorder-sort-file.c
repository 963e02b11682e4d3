/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real mksquashfs and gensquashfs are run with what is written for them, and their order is
 * read back. */
#include "tests/unit/image-fixture.h"

#include <stdlib.h>

#include "reorder/plan/plan.h"
#include "reorder/sort_file.h"
#include "reorder/util/error.h"

enum { KIB3 = 3000, LONG_NAME = 255 };

static ro_plan *make_plan(const img_tree *tree, const tr_trace *trace, ro_layout layout)
{
	ro_plan_options options = {.layout = layout};
	g_autoptr(GError) error = NULL;
	ro_plan *plan = ro_plan_new(tree, trace, &options, &error);

	g_assert_no_error(error);
	return plan;
}

/* A4: 4000 bytes, in components of at most 250. */
static char *long_path(gsize length)
{
	GString *path = g_string_new("long");

	while (path->len < length)
		g_string_append_c(path, path->len % 250 == 0 ? '/' : 'p');
	if (path->str[length - 1] == '/')
		path->str[length - 1] = 'q';
	return g_string_free(path, FALSE);
}

/* A1, A3, A4: names that break sort files, in an order that is neither theirs nor the reverse. */
static GPtrArray *odd_names(void)
{
	static const char *const names[] = {"usr/plain", "a b", " lead", "trail ", "tab\t",
		"\tlead", "back\\slash", "back\\", "#hash", "d/#hash", "d/*", "*", "d/?", "d/[x]",
		"[x] y", "\"quoted\"", "quote\"", "'", "new\nline", "\n", "end\n", "cr\r", "\vvt\v",
		"ff\f", "-5", "x 5", "x\x85y", "l\xe9", "nbsp\xa0z", "\xc3\xa9t\xc3\xa9",
		"\x01\x7f\xff", "~", "...", "..x", "d/.hidden", "d d/e ", "$(x)", "a,b", "12"};
	GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
	guint64 state = 5;

	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		g_ptr_array_add(all, g_strdup(names[i]));
	g_ptr_array_add(all, g_strnfill(LONG_NAME, 'n'));
	g_ptr_array_add(all, g_strnfill(LONG_NAME, ' '));
	g_ptr_array_add(all, long_path(3071));
	g_ptr_array_add(all, long_path(4000));
	for (guint i = all->len; i > 1; i--) {
		guint j = (guint)ro_random_below(&state, i);
		gpointer swap = all->pdata[i - 1];

		all->pdata[i - 1] = all->pdata[j];
		all->pdata[j] = swap;
	}
	return all;
}

/* Hard links for the files whose names the syntax cannot hold. */
static void make_aliases(const fixture *fx, const img_tree *tree, const char *dir, GArray *aliases)
{
	int target = open(dir, O_RDONLY | O_DIRECTORY);

	for (guint i = 0; i < aliases->len; i++) {
		g_autofree char *path =
			img_tree_inode_path(tree, g_array_index(aliases, guint32, i));
		g_autofree char *name = g_strdup_printf("%u", i);
		const char *last;
		int parent = fx_parent(fx, path, &last);

		g_assert_cmpint(linkat(parent, last, target, name, 0), ==, 0);
		close(parent);
	}
	close(target);
}

static void add_cold(const fixture *fx)
{
	for (guint i = 0; i < 10; i++) {
		g_autofree char *path = g_strdup_printf("%c-cold", 'A' + i * 6);

		fx_file(fx, path, KIB3);
	}
}

/* The files lie in the order of paths, all before or all behind all others. */
static void assert_order(
	const img_tree *tree, const char *const *paths, guint count, gboolean at_end)
{
	g_autofree gboolean *listed = g_new0(gboolean, img_tree_inode_count(tree));
	guint64 first = fx_position(tree, fx_inode(tree, paths[0])), last = 0;

	for (guint i = 0; i < count; i++) {
		guint32 inode = fx_inode(tree, paths[i]);
		guint64 position = fx_position(tree, inode);

		if (position <= last)
			g_error("%s is out of order", paths[i]);
		last = position;
		listed[inode] = TRUE;
	}
	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);

		if (inode->type != IMG_FILE || listed[i] || inode->size == 0)
			continue;
		if (at_end)
			g_assert_cmpuint(fx_position(tree, i), <, first);
		else
			g_assert_cmpuint(fx_position(tree, i), >, last);
	}
}

static void odd_names_in(ro_layout layout)
{
	g_auto(fixture) fx;
	g_autoptr(GPtrArray) paths = odd_names();
	const char *const *names = (const char *const *)paths->pdata;
	g_autoptr(tr_trace) trace = fx_trace(names, paths->len);
	g_autoptr(GArray) aliases = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autofree char *alias_dir = NULL, *err = NULL;
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL;
	guint skipped;

	fx_init(&fx);
	for (guint i = 0; i < paths->len; i++)
		fx_file(&fx, names[i], KIB3);
	add_cold(&fx);
	alias_dir = g_build_filename(fx.dir, "ali as#", NULL);
	g_assert_cmpint(g_mkdir(alias_dir, 0700), ==, 0);
	fx_image(&fx, "-no-fragments");
	plan = make_plan(fx.tree, trace, layout);
	g_assert_cmpuint(plan->files->len, ==, paths->len);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, alias_dir, aliases, &skipped);
	g_assert_cmpuint(skipped, ==, 0);
	g_assert_cmpuint(aliases->len, ==, 5); /* three newlines, one star, one long path */
	make_aliases(&fx, fx.tree, alias_dir, aliases);
	err = fx_mksquashfs(&fx, "-no-fragments", sort);
	g_assert_cmpstr(err, ==, "");
	fx_open(&fx);
	assert_order(fx.tree, names, paths->len, layout == RO_LAYOUT_END);
	g_assert_cmpuint(img_tree_inode(fx.tree, fx_inode(fx.tree, "new\nline"))->nlink, ==, 1);
}

static void test_odd_names_end(void)
{
	odd_names_in(RO_LAYOUT_END);
}

static void test_odd_names_front(void)
{
	odd_names_in(RO_LAYOUT_FRONT);
}

/* For live-build there are no aliases: what cannot be named is left out and said. */
static void test_odd_names_without_aliases(void)
{
	g_auto(fixture) fx;
	g_autoptr(GPtrArray) paths = odd_names();
	g_autoptr(tr_trace) trace = fx_trace((const char *const *)paths->pdata, paths->len);
	g_autoptr(GPtrArray) named = g_ptr_array_new();
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL;
	g_autofree char *err = NULL;
	guint skipped;

	fx_init(&fx);
	for (guint i = 0; i < paths->len; i++) {
		char *name = paths->pdata[i];

		fx_file(&fx, name, KIB3);
		if (!strchr(name, '\n') && !g_str_has_suffix(name, "/*") && strlen(name) < 3072)
			g_ptr_array_add(named, name);
	}
	fx_image(&fx, "-no-fragments");
	plan = make_plan(fx.tree, trace, RO_LAYOUT_FRONT);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, NULL, NULL, &skipped);
	g_assert_cmpuint(skipped, ==, 5);
	g_assert_true(g_str_has_prefix(sort->str,
		"# 43 files in the order of their use at boot, for mksquashfs -sort\n"
		"# 5 more are left out: their names cannot be written here\n. 0\n"));
	err = fx_mksquashfs(&fx, "-no-fragments", sort);
	g_assert_cmpstr(err, ==, "");
	fx_open(&fx);
	assert_order(fx.tree, (const char *const *)named->pdata, named->len, FALSE);
}

static void gensquashfs(fixture *fx, const GString *sort)
{
	g_autofree char *sort_path = g_build_filename(fx->dir, "sort", NULL);
	const char *argv[] = {"gensquashfs", "-q", "-f", "-D", ".", "-S", sort_path, "-c", "gzip",
		fx->image, NULL};
	g_autofree char *err = NULL;

	g_assert_true(g_file_set_contents(sort_path, sort->str, (gssize)sort->len, NULL));
	err = fx_run(fx, argv);
	g_assert_cmpstr(err, ==, "");
	fx_open(fx);
}

static void gensquashfs_odd_names(ro_layout layout)
{
	g_auto(fixture) fx;
	g_autoptr(GPtrArray) paths = odd_names();
	g_autoptr(tr_trace) trace = fx_trace((const char *const *)paths->pdata, paths->len);
	g_autoptr(GPtrArray) named = g_ptr_array_new();
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL;
	guint skipped;

	fx_init(&fx);
	for (guint i = 0; i < paths->len; i++) {
		char *name = paths->pdata[i];

		fx_file(&fx, name, KIB3);
		if (!strchr(name, '\n'))
			g_ptr_array_add(named, name);
	}
	if (layout == RO_LAYOUT_FRONT)
		add_cold(&fx);
	fx_image(&fx, "");
	plan = make_plan(fx.tree, trace, layout);
	sort = ro_sort_file_gensquashfs(plan, fx.tree, &skipped);
	g_assert_cmpuint(skipped, ==, 3);
	gensquashfs(&fx, sort);
	assert_order(
		fx.tree, (const char *const *)named->pdata, named->len, layout == RO_LAYOUT_END);
}

static void test_gensquashfs_end(void)
{
	gensquashfs_odd_names(RO_LAYOUT_END);
}

static void test_gensquashfs_front(void)
{
	gensquashfs_odd_names(RO_LAYOUT_FRONT);
}

/* A10 */
static void test_hard_links(void)
{
	static const char *const paths[] = {"c/zz", "c/m"};
	static const char *const wanted[] = {"c/a", "c/m"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 2);
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL;
	g_autofree char *err = NULL;
	guint skipped;

	fx_init(&fx);
	fx_file(&fx, "c/a", KIB3);
	fx_file(&fx, "c/m", KIB3);
	fx_link(&fx, "c/a", "c/zz");
	add_cold(&fx);
	fx_image(&fx, "-no-fragments");
	plan = make_plan(fx.tree, trace, RO_LAYOUT_END);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, NULL, NULL, &skipped);
	g_assert_cmpstr(sort->str, ==,
		"# 2 files in the order of their use at boot, for mksquashfs -sort\n"
		". 0\nc/a -1\nc/m -2\n");
	err = fx_mksquashfs(&fx, "-no-fragments", sort);
	fx_open(&fx);
	assert_order(fx.tree, wanted, 2, TRUE);
	g_assert_cmpuint(img_tree_inode(fx.tree, fx_inode(fx.tree, "c/zz"))->nlink, ==, 2);
}

/* A name that can be written stands for one that cannot. */
static void test_other_name_of_hard_link(void)
{
	static const char *const paths[] = {"a\n"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 1);
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL;
	guint skipped;

	fx_init(&fx);
	fx_file(&fx, "a\n", KIB3);
	fx_link(&fx, "a\n", "b");
	fx_image(&fx, "");
	plan = make_plan(fx.tree, trace, RO_LAYOUT_FRONT);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, NULL, NULL, &skipped);
	g_assert_cmpuint(skipped, ==, 0);
	g_assert_nonnull(strstr(sort->str, "\nb 32767\n"));
}

/* A12: a cold file with the same content lies earlier in the tree; in the layout "end" it is
 * written earlier, too. */
static void twins_in(ro_layout layout, gsize size)
{
	static const char *const paths[] = {"hot/first", "hot/x", "hot/last"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 3);
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL;
	g_autofree char *data = g_malloc(size);
	g_autofree char *err = NULL;
	guint skipped;

	fx_init(&fx);
	for (gsize i = 0; i < size; i++)
		data[i] = (char)(i * i >> 7);
	fx_write(&fx, "cold/x", data, size);
	fx_write(&fx, "hot/x", data, size);
	fx_write(&fx, "zcold/x", data, size);
	fx_file(&fx, "hot/first", 200000);
	fx_file(&fx, "hot/last", 200000);
	fx_file(&fx, "cold/y", 200000);
	fx_image(&fx, "-no-fragments");
	plan = make_plan(fx.tree, trace, layout);
	g_assert_cmpuint(plan->files->len, ==, 3);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, NULL, NULL, &skipped);
	err = fx_mksquashfs(&fx, "-no-fragments", sort);
	fx_open(&fx);
	for (guint i = 0; i < 3; i++)
		g_assert_cmpuint(fx_position(fx.tree, fx_inode(fx.tree, "hot/x")), ==,
			fx_position(fx.tree,
				fx_inode(fx.tree,
					i == 0 ? "cold/x" : (i == 1 ? "zcold/x" : "hot/x"))));
	g_assert_cmpuint(fx_position(fx.tree, fx_inode(fx.tree, "hot/first")), <,
		fx_position(fx.tree, fx_inode(fx.tree, "hot/x")));
	g_assert_cmpuint(fx_position(fx.tree, fx_inode(fx.tree, "hot/x")), <,
		fx_position(fx.tree, fx_inode(fx.tree, "hot/last")));
}

static void test_twins(void)
{
	twins_in(RO_LAYOUT_END, 300000);
	twins_in(RO_LAYOUT_FRONT, 300000);
	twins_in(RO_LAYOUT_END, 3000);
}

/* A14 */
static void test_only_files_are_listed(void)
{
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL, gen = NULL;
	guint skipped;

	fx_init(&fx);
	fx_file(&fx, "usr/a", KIB3);
	fx_file(&fx, "usr/b", KIB3);
	fx_symlink(&fx, "usr/l", "a");
	fx_image(&fx, "");
	fx_event(trace, "usr", TR_DIR, TR_BYTES_UNKNOWN);
	fx_event(trace, "usr/l", TR_SYMLINK, TR_BYTES_UNKNOWN);
	fx_event(trace, "usr/b", TR_FILE, TR_BYTES_UNKNOWN);
	plan = make_plan(fx.tree, trace, RO_LAYOUT_END);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, NULL, NULL, &skipped);
	gen = ro_sort_file_gensquashfs(plan, fx.tree, &skipped);
	g_assert_cmpstr(sort->str, ==,
		"# 1 files in the order of their use at boot, for mksquashfs -sort\n. 0\nusr/b -1\n");
	g_assert_cmpstr(gen->str, ==,
		"# 1 files in the order of their use at boot, for gensquashfs --sort-file\n1 /usr/b\n");
}

/* The first file is gone from the tree, and the current directory has one of that name: mksquashfs
 * must not switch to it. */
static void test_stale_first_line(void)
{
	static const char *const paths[] = {"gone", "z", "m", "b"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 4);
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL;
	g_autofree char *sort_path = NULL, *gone = NULL, *err = NULL;
	guint skipped;

	fx_init(&fx);
	for (guint i = 0; i < 4; i++)
		fx_file(&fx, paths[i], KIB3);
	add_cold(&fx);
	fx_image(&fx, "-no-fragments");
	plan = make_plan(fx.tree, trace, RO_LAYOUT_END);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, NULL, NULL, &skipped);
	sort_path = g_build_filename(fx.dir, "sort", NULL);
	gone = g_build_filename(fx.root, "gone", NULL);
	g_assert_true(g_file_set_contents(sort_path, sort->str, (gssize)sort->len, NULL));
	/* The tree becomes root/tree, and "gone" stays beside it. */
	{
		g_autofree char *command = g_strdup_printf(
			"mkdir ../tree && mv ./[!g]* ../tree && mv ../tree . && exec mksquashfs tree %s "
			"-noappend -no-progress -no-fragments -comp gzip -sort %s",
			fx.image, sort_path);
		const char *argv[] = {"sh", "-c", command, NULL};

		err = fx_run(&fx, argv);
	}
	g_assert_true(g_file_test(gone, G_FILE_TEST_EXISTS));
	g_assert_nonnull(strstr(err, "Cannot stat sortlist entry \"gone\""));
	g_assert_null(strstr(err, "Mkisofs style"));
	fx_open(&fx);
	assert_order(fx.tree, paths + 1, 3, TRUE);
}

/* A synthetic plan over one image: the same file count times, for its levels. */
static ro_plan *plan_of(ro_plan *plan, ro_layout layout, guint count)
{
	g_array_set_size(plan->files, count);
	plan->layout = layout;
	return plan;
}

/* Takes the number at the end of the next line. */
static int next_level(const char **at)
{
	const char *end = strchr(*at, '\n');
	const char *blank;

	g_assert_nonnull(end);
	blank = memrchr(*at, ' ', (gsize)(end - *at));
	*at = end + 1;
	return atoi(blank);
}

/* A7, A9: the levels of the listed files, highest first, and of the others. */
static void check_levels(const GString *sort, ro_layout layout, guint count)
{
	const char *at = strchr(sort->str, '\n') + 1;
	int cold = next_level(&at), last = 32768;
	guint distinct = 0, shared = 0, run = 1;

	for (guint i = 0; i < count; i++) {
		int level = next_level(&at);

		g_assert_cmpint(level, >=, -32768);
		g_assert_cmpint(level, <=, MIN(last, 32767));
		g_assert_true(layout == RO_LAYOUT_END ? level < cold : level > cold);
		run = level == last ? run + 1 : 1;
		shared = MAX(shared, run);
		distinct += level != last;
		last = level;
	}
	g_assert_cmpuint(distinct, ==, MIN(count, 65535));
	g_assert_cmpuint(shared, ==, (count + 65534) / 65535);
	g_assert_cmpstr(at, ==, "");
}

static void test_levels(void)
{
	static const guint counts[] = {1, 32767, 32768, 32769, 65535, 65536, 100000};
	enum { MOST = 100000 };
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(ro_plan) plan = NULL;

	fx_init(&fx);
	fx_many(&fx, MOST);
	for (guint i = 0; i < MOST; i++) {
		char path[32];

		g_snprintf(path, sizeof(path), "d%03u/f%05u", i / 1000, i);
		fx_event(trace, path, TR_FILE, TR_BYTES_UNKNOWN);
	}
	plan = make_plan(fx.tree, trace, RO_LAYOUT_END);
	for (guint i = G_N_ELEMENTS(counts); i > 0; i--) {
		for (ro_layout layout = RO_LAYOUT_END; layout <= RO_LAYOUT_FRONT; layout++) {
			guint skipped;
			g_autoptr(GString) sort =
				ro_sort_file_mksquashfs(plan_of(plan, layout, counts[i - 1]),
					fx.tree, NULL, NULL, &skipped);

			check_levels(sort, layout, counts[i - 1]);
		}
	}
}

/* More files than there are levels on one side of 0, through the real program. */
static void test_beyond_half_of_the_range(void)
{
	enum { COUNT = 33000 };
	g_auto(fixture) fx;
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(tr_trace) trace = NULL;

	fx_init(&fx);
	for (guint i = 0; i < COUNT; i++) {
		guint n = (guint)((guint64)i * 7919 % COUNT);

		g_ptr_array_add(paths, g_strdup_printf("d%02u/f%05u", n / 1000, n));
		fx_write(&fx, paths->pdata[i], paths->pdata[i], strlen(paths->pdata[i]));
	}
	add_cold(&fx);
	/* Its look for duplicates is quadratic in files of one size. */
	fx_image(&fx, "-no-duplicates");
	trace = fx_trace((const char *const *)paths->pdata, COUNT);
	for (ro_layout layout = RO_LAYOUT_END; layout <= RO_LAYOUT_FRONT; layout++) {
		g_autoptr(ro_plan) plan = make_plan(fx.tree, trace, layout);
		guint skipped;
		g_autoptr(GString) sort =
			ro_sort_file_mksquashfs(plan, fx.tree, NULL, NULL, &skipped);
		g_autofree char *err = fx_mksquashfs(&fx, "-no-duplicates", sort);

		g_assert_cmpstr(err, ==, "");
		fx_open(&fx);
		assert_order(
			fx.tree, (const char *const *)paths->pdata, COUNT, layout == RO_LAYOUT_END);
	}
}

/* A7: what the program says to numbers beyond its range; it is why the range is kept. */
static void test_range_of_mksquashfs(void)
{
	static const struct {
		const char *line;
		gboolean taken;
	} cases[] = {{"a 32767\n", TRUE}, {"a -32768\n", TRUE}, {"a 32768\n", FALSE},
		{"a -32769\n", FALSE}};
	g_auto(fixture) fx;

	fx_init(&fx);
	fx_file(&fx, "a", KIB3);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *command = g_strdup_printf(
			"printf '%s' >../sort; mksquashfs . %s -noappend -quiet -no-progress -sort ../sort || "
			"echo refused >&2",
			cases[i].line, fx.image);
		const char *argv[] = {"sh", "-c", command, NULL};
		g_autofree char *err = fx_run(&fx, argv);

		g_assert_true(cases[i].taken == !strstr(err, "refused"));
	}
}

static void test_empty_plan(void)
{
	g_auto(fixture) fx;
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) sort = NULL, gen = NULL;
	guint skipped = 9;

	fx_init(&fx);
	fx_file(&fx, "a", KIB3);
	fx_image(&fx, "");
	plan = make_plan(fx.tree, NULL, RO_LAYOUT_END);
	sort = ro_sort_file_mksquashfs(plan, fx.tree, "/x", NULL, &skipped);
	g_assert_cmpuint(skipped, ==, 0);
	g_assert_true(g_str_has_suffix(sort->str, "\n. 0\n"));
	gen = ro_sort_file_gensquashfs(plan, fx.tree, &skipped);
	g_assert_cmpuint(skipped, ==, 0);
	g_assert_nonnull(gen);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sort-file/mksquashfs/odd names, layout end", test_odd_names_end);
	g_test_add_func("/sort-file/mksquashfs/odd names, layout front", test_odd_names_front);
	g_test_add_func("/sort-file/mksquashfs/no aliases", test_odd_names_without_aliases);
	g_test_add_func("/sort-file/mksquashfs/hard links", test_hard_links);
	g_test_add_func(
		"/sort-file/mksquashfs/other name of a hard link", test_other_name_of_hard_link);
	g_test_add_func("/sort-file/mksquashfs/identical files", test_twins);
	g_test_add_func("/sort-file/mksquashfs/stale first line", test_stale_first_line);
	g_test_add_func("/sort-file/mksquashfs/its range", test_range_of_mksquashfs);
	g_test_add_func("/sort-file/mksquashfs/levels", test_levels);
	g_test_add_func("/sort-file/mksquashfs/33,000 files", test_beyond_half_of_the_range);
	g_test_add_func("/sort-file/gensquashfs/odd names, layout end", test_gensquashfs_end);
	g_test_add_func("/sort-file/gensquashfs/odd names, layout front", test_gensquashfs_front);
	g_test_add_func("/sort-file/only files are listed", test_only_files_are_listed);
	g_test_add_func("/sort-file/empty plan", test_empty_plan);
	return g_test_run();
}
