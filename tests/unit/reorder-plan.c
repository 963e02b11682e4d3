/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/image-fixture.h"

#include "reorder/plan/plan.h"
#include "reorder/util/error.h"

enum { MIB = 1 << 20 };

static const ro_plan_options defaults = {.image = "/live/filesystem.squashfs"};

static ro_plan *make(const img_tree *tree, const tr_trace *trace, const ro_plan_options *options)
{
	g_autoptr(GError) error = NULL;
	ro_plan *plan = ro_plan_new(tree, trace, options ? options : &defaults, &error);

	g_assert_no_error(error);
	return plan;
}

/* "group kind path reason" of each item, without the ranks, which are checked. */
static char *describe(const GArray *items, const img_tree *tree)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < items->len; i++) {
		const ro_plan_item *item = &g_array_index(items, ro_plan_item, i);
		g_autofree char *path = img_tree_inode_path(tree, item->inode);

		g_assert_cmpuint(item->rank, ==, i);
		g_string_append_printf(out, "%s%s %s (%s)", i ? "; " : "",
			item->group == RO_GROUP_HOT ? "hot" : "class", path, item->reason);
	}
	return g_string_free(out, FALSE);
}

#define assert_items(items, tree, wanted)                                                          \
	do {                                                                                       \
		g_autofree char *got_ = describe(items, tree);                                     \
		g_assert_cmpstr(got_, ==, wanted);                                                 \
	} while (0)

/* One tree for most of the tests. */
static void small_tree(fixture *fx)
{
	static const char *const files[] = {
		"etc/passwd", "usr/bin/dash", "usr/bin/init", "usr/lib/libc.so", "usr/lib/unread"};

	fx_init(fx);
	for (guint i = 0; i < G_N_ELEMENTS(files); i++)
		fx_file(fx, files[i], 3000 - 500 * i);
	fx_link(fx, "usr/bin/dash", "usr/bin/zash");
	fx_symlink(fx, "bin", "usr/bin");
	fx_symlink(fx, "usr/bin/sh", "dash");
	fx_symlink(fx, "e", "/etc");
	fx_write(fx, "empty", "", 0);
	fx_image(fx, "");
}

static void test_access_order(void)
{
	static const char *const paths[] = {"usr/bin/init", "usr/lib/libc.so", "etc/passwd"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 3);
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	((tr_event *)trace->events->pdata[0])->how = TR_EXEC;
	((tr_event *)trace->events->pdata[1])->how = TR_READ;
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree,
		"hot usr/bin/init (exec); hot usr/lib/libc.so (read); hot etc/passwd (open)");
	g_assert_cmpuint(plan->hot_files, ==, 3);
	g_assert_cmpuint(plan->hot_bytes, ==, 2000 + 1500 + 3000);
	g_assert_cmpuint(plan->unmatched, ==, 0);
	g_assert_null(plan->first_unmatched);
	g_assert_cmpint(plan->layout, ==, RO_LAYOUT_END);
}

/* A6: names through symlinks, relative and absolute, are names of the image's files, never of the
 * host's. */
static void test_symlinked_paths(void)
{
	static const char *const paths[] = {"/bin/sh", "./e/passwd", "bin/../lib/libc.so"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 3);
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree,
		"hot usr/bin/dash (open); hot etc/passwd (open); hot usr/lib/libc.so (open)");
}

/* A10 */
static void test_hard_links_once(void)
{
	static const char *const paths[] = {
		"usr/bin/zash", "etc/passwd", "usr/bin/dash", "etc/passwd"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 4);
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree, "hot usr/bin/dash (open); hot etc/passwd (open)");
}

static void test_groups_of_their_own(void)
{
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	fx_event(trace, "usr/bin/sh", TR_SYMLINK, TR_BYTES_UNKNOWN);
	fx_event(trace, "usr/bin/dash", TR_FILE, TR_BYTES_UNKNOWN);
	fx_event(trace, "etc", TR_DIR, TR_BYTES_UNKNOWN);
	fx_event(trace, "usr/lib/libc.so", TR_FILE, TR_BYTES_UNKNOWN);
	fx_event(trace, "usr", TR_DIR, TR_BYTES_UNKNOWN);
	fx_event(trace, "bin", TR_SYMLINK, TR_BYTES_UNKNOWN);
	fx_event(trace, "empty", TR_FILE, TR_BYTES_UNKNOWN);
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree, "hot usr/bin/dash (open); hot usr/lib/libc.so (open)");
	assert_items(plan->dirs, fx.tree,
		"hot  (lookup); hot usr (open); hot usr/bin (lookup); hot etc (open); "
		"hot usr/lib (lookup)");
	assert_items(plan->symlinks, fx.tree, "hot usr/bin/sh (open); hot bin (open)");
	g_assert_cmpuint(plan->unmatched, ==, 0);
}

/* A14: a directory that was read says nothing of what lies in it. */
static void test_directories_do_not_leak(void)
{
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	fx_event(trace, "usr", TR_DIR, TR_BYTES_UNKNOWN);
	fx_event(trace, "", TR_DIR, TR_BYTES_UNKNOWN);
	fx_event(trace, "usr/lib/libc.so", TR_FILE, TR_BYTES_UNKNOWN);
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree, "hot usr/lib/libc.so (open)");
}

static void test_only_files_with_data(void)
{
	static const char *const paths[] = {"empty", "hole", "fifo", "etc/passwd"};
	g_auto(fixture) fx;
	g_autofree char *fifo = NULL, *hole = NULL;
	g_autoptr(tr_trace) trace = fx_trace(paths, 4);
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	fifo = g_build_filename(fx.root, "fifo", NULL);
	hole = g_build_filename(fx.root, "hole", NULL);
	g_assert_cmpint(mkfifo(fifo, 0644), ==, 0);
	fx_write(&fx, "hole", "", 0);
	g_assert_cmpint(truncate(hole, 4 * MIB), ==, 0);
	fx_image(&fx, "");
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree, "hot etc/passwd (open)");
	g_assert_cmpuint(plan->unmatched, ==, 0);
}

static const ro_plan_item *item_at(const ro_plan *plan, guint index)
{
	return &g_array_index(plan->files, ro_plan_item, index);
}

/* I7 */
static void test_partly_read_behind(void)
{
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(ro_plan) plan = NULL;

	fx_init(&fx);
	fx_file(&fx, "big-barely", 2 * MIB);
	fx_file(&fx, "big-not", 3 * MIB);
	fx_file(&fx, "big-quarter", 2 * MIB);
	fx_file(&fx, "big-unknown", 2 * MIB);
	fx_file(&fx, "mib", MIB);
	fx_file(&fx, "small", 1000);
	fx_image(&fx, "");
	fx_event(trace, "big-barely", TR_FILE, MIB / 2 - 1);
	fx_event(trace, "big-not", TR_FILE, 0);
	fx_event(trace, "big-quarter", TR_FILE, MIB / 2);
	fx_event(trace, "big-unknown", TR_FILE, TR_BYTES_UNKNOWN);
	fx_event(trace, "mib", TR_FILE, 1);
	fx_event(trace, "small", TR_FILE, 1);
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree,
		"hot big-quarter (open); hot big-unknown (open); hot mib (open); hot small (open); "
		"hot big-barely (partly read); hot big-not (partly read)");
	g_assert_cmpuint(plan->hot_files, ==, 6);
	for (guint i = 0; i < 6; i++)
		g_assert_cmpint(item_at(plan, i)->partly, ==, i >= 4);
}

/* The reason says more then. */
static void test_partly_read_in_one_trace(void)
{
	g_auto(fixture) fx;
	tr_trace *traces[2] = {tr_trace_new(), tr_trace_new()};
	g_autoptr(ro_plan) plan = NULL;

	fx_init(&fx);
	fx_file(&fx, "big", 2 * MIB);
	fx_file(&fx, "small", 1000);
	fx_image(&fx, "");
	fx_event(traces[0], "small", TR_FILE, 1);
	fx_event(traces[1], "small", TR_FILE, 1);
	fx_event(traces[1], "big", TR_FILE, 1);
	g_autoptr(tr_trace) merged = tr_trace_merge(traces, 2);
	plan = make(fx.tree, merged, NULL);
	assert_items(
		plan->files, fx.tree, "hot small (open); hot big (partly read, 1 of 2 traces)");
	g_assert_false(item_at(plan, 0)->partly);
	g_assert_true(item_at(plan, 1)->partly);
	for (guint i = 0; i < 2; i++)
		tr_trace_free(traces[i]);
}

/* One hard link read whole, the other not: it was read whole. */
static void test_most_read_name_counts(void)
{
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(ro_plan) plan = NULL;

	fx_init(&fx);
	fx_file(&fx, "a", 2 * MIB);
	fx_link(&fx, "a", "b");
	fx_image(&fx, "");
	fx_event(trace, "a", TR_FILE, 1);
	fx_event(trace, "b", TR_FILE, 2 * MIB);
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree, "hot a (open)");
}

static void refuse(const img_tree *tree, const tr_trace *trace, const char *message)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(ro_plan) plan = ro_plan_new(tree, trace, &defaults, &error);

	g_assert_null(plan);
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_cmpstr(error->message, ==, message);
}

/* A11 */
static void test_unmatched(void)
{
	static const char *const half[] = {"run/x\ny", "etc/passwd", "usr/bin/dash", "gone"};
	static const char *const less[] = {
		"run/x\ny", "etc/passwd", "usr/bin/dash", "gone", "usr/lib/modules/5/a.ko"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) good = fx_trace(half, 4);
	g_autoptr(tr_trace) bad = fx_trace(less, 5);
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	plan = make(fx.tree, good, NULL);
	assert_items(plan->files, fx.tree, "hot etc/passwd (open); hot usr/bin/dash (open)");
	g_assert_cmpuint(plan->unmatched, ==, 2);
	g_assert_cmpstr(plan->first_unmatched, ==, "run/x\ny");
	refuse(fx.tree, bad,
		"test.iso:/live/filesystem.squashfs: only 2 of the 5 traced paths are in it (run/x\\012y is "
		"not), the trace is of another build; record a new one");
}

/* A path below the prefix of a mount is no path of the image. */
static void test_wrong_prefix(void)
{
	static const char *const paths[] = {"run/live/rootfs/filesystem.squashfs/etc/passwd"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 1);

	small_tree(&fx);
	refuse(fx.tree, trace,
		"test.iso:/live/filesystem.squashfs: only 0 of the 1 traced paths are in it "
		"(run/live/rootfs/filesystem.squashfs/etc/passwd is not), the trace is of another build; "
		"record a new one");
}

static void test_other_images(void)
{
	static const char *const paths[] = {"etc/passwd", "gone", "missing", "usr/bin/dash"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 4);
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	for (guint i = 0; i < 3; i++) {
		tr_event *event = g_ptr_array_index(trace->events, i);

		g_free(event->image);
		event->image = g_strdup("/live/other.squashfs");
	}
	plan = make(fx.tree, trace, NULL);
	assert_items(plan->files, fx.tree, "hot usr/bin/dash (open)");
	g_assert_cmpuint(plan->unmatched, ==, 0);
	g_ptr_array_set_size(trace->events, 3);
	refuse(fx.tree, trace,
		"test.iso:/live/filesystem.squashfs: the trace has no event of this image; record one of "
		"this ISO");
}

static void test_orders(void)
{
	static const char *const paths[] = {"usr/lib/libc.so", "usr/bin/init", "etc/passwd"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 3);
	ro_plan_options options = defaults;
	g_autoptr(ro_plan) by_size = NULL;
	g_autoptr(ro_plan) by_path = NULL;

	small_tree(&fx);
	options.order = RO_ORDER_SIZE;
	by_size = make(fx.tree, trace, &options);
	assert_items(by_size->files, fx.tree,
		"hot usr/lib/libc.so (open); hot usr/bin/init (open); hot etc/passwd (open)");
	options.order = RO_ORDER_PATH;
	options.layout = RO_LAYOUT_FRONT;
	by_path = make(fx.tree, trace, &options);
	assert_items(by_path->files, fx.tree,
		"hot etc/passwd (open); hot usr/bin/init (open); hot usr/lib/libc.so (open)");
	g_assert_cmpint(by_path->layout, ==, RO_LAYOUT_FRONT);
}

static char *names(const ro_plan *plan, const img_tree *tree)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < plan->files->len; i++) {
		guint32 inode = g_array_index(plan->files, ro_plan_item, i).inode;
		g_autofree char *path = img_tree_inode_path(tree, inode);

		g_string_append(out, path);
	}
	return g_string_free(out, FALSE);
}

/* The control must be the same everywhere, and must not depend on the boot that was traced. */
static void test_random_order(void)
{
	static const char *const paths[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	static const char *const other[] = {"h", "a", "g", "b", "f", "c", "e", "d"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 8);
	g_autoptr(tr_trace) shuffled = fx_trace(other, 8);
	ro_plan_options options = defaults;

	fx_init(&fx);
	for (guint i = 0; i < 8; i++)
		fx_file(&fx, paths[i], 100);
	fx_image(&fx, "");
	options.order = RO_ORDER_RANDOM;
	for (options.seed = 1; options.seed <= 2; options.seed++) {
		g_autoptr(ro_plan) one = make(fx.tree, trace, &options);
		g_autoptr(ro_plan) two = make(fx.tree, shuffled, &options);
		g_autofree char *first = names(one, fx.tree), *second = names(two, fx.tree);

		g_assert_cmpstr(first, ==, second);
		g_assert_cmpstr(first, ==, options.seed == 1 ? "edchfgab" : "fchebdag");
	}
}

/* The published sequence of splitmix64. */
static void test_generator(void)
{
	static const guint64 known[] = {6457827717110365317u, 3203168211198807973u,
		9817491932198370423u, 4593380528125082431u, 16408922859458223821u};
	guint64 state = 1234567;

	for (guint i = 0; i < G_N_ELEMENTS(known); i++)
		g_assert_cmpuint(ro_random_next(&state), ==, known[i]);
	for (guint64 bound = 1; bound < 50; bound++)
		g_assert_cmpuint(ro_random_below(&state, bound), <, bound);
}

static void test_random_is_fair(void)
{
	guint counts[10] = {0};
	guint64 state = 42;

	for (guint i = 0; i < 100000; i++)
		counts[ro_random_below(&state, 10)]++;
	for (guint i = 0; i < 10; i++) {
		g_assert_cmpuint(counts[i], >, 9600);
		g_assert_cmpuint(counts[i], <, 10400);
	}
}

static void test_also_behind(void)
{
	static const char *const paths[] = {"usr/lib/libc.so", "usr/bin/init"};
	static const char *const also[] = {"usr/lib/*", "/etc/", NULL};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 2);
	ro_plan_options options = defaults;
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	options.also = also;
	plan = make(fx.tree, trace, &options);
	assert_items(plan->files, fx.tree,
		"hot usr/lib/libc.so (open); hot usr/bin/init (open); class usr/lib/unread (also "
		"usr/lib/*); class etc/passwd (also /etc/)");
	assert_items(plan->dirs, fx.tree,
		"hot  (lookup); hot usr (lookup); hot usr/lib (lookup); hot usr/bin (lookup); "
		"class etc (also /etc/)");
	g_assert_cmpuint(plan->hot_files, ==, 2);
	g_assert_cmpuint(plan->hot_bytes, ==, 3500);
}

/* --also must not make a partly read file a fully read one, nor a hot file a class file. */
static void test_also_leaves_traced_alone(void)
{
	static const char *const also[] = {"**", NULL};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	ro_plan_options options = defaults;
	g_autoptr(ro_plan) plan = NULL;

	fx_init(&fx);
	fx_file(&fx, "big", 2 * MIB);
	fx_file(&fx, "small", 1000);
	fx_file(&fx, "unread", 1000);
	fx_image(&fx, "");
	fx_event(trace, "big", TR_FILE, 1);
	fx_event(trace, "small", TR_FILE, 1);
	options.also = also;
	plan = make(fx.tree, trace, &options);
	assert_items(plan->files, fx.tree,
		"hot small (open); hot big (partly read); class unread (also **)");
}

static void test_without_trace(void)
{
	static const char *const also[] = {"etc/*", NULL};
	ro_plan_options options = {.also = also};
	g_auto(fixture) fx;
	g_autoptr(ro_plan) empty = NULL;
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	empty = make(fx.tree, NULL, NULL);
	g_assert_cmpuint(empty->files->len, ==, 0);
	g_assert_cmpuint(empty->dirs->len, ==, 0);
	plan = make(fx.tree, NULL, &options);
	assert_items(plan->files, fx.tree, "class etc/passwd (also etc/*)");
	g_assert_cmpuint(plan->hot_files, ==, 0);
	g_assert_cmpuint(plan->hot_stored, ==, 0);
}

static void test_bad_also(void)
{
	static const char *const also[] = {"etc/[", NULL};
	ro_plan_options options = {.also = also};
	g_auto(fixture) fx;
	g_autoptr(GError) error = NULL;
	g_autoptr(ro_plan) plan = NULL;

	small_tree(&fx);
	plan = ro_plan_new(fx.tree, NULL, &options, &error);
	g_assert_null(plan);
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
}

/* I8: three boots that differ a little; a file that only one of them saw is in the plan. */
static void test_merged_traces(void)
{
	static const char *const one[] = {"a", "b", "c", "d", "e", "f"};
	static const char *const two[] = {"b", "a", "c", "d", "e", "f"};
	static const char *const three[] = {"a", "b", "d", "c", "x", "e", "f"};
	g_auto(fixture) fx;
	tr_trace *traces[3] = {fx_trace(one, 6), fx_trace(two, 6), fx_trace(three, 7)};
	g_autoptr(tr_trace) merged = tr_trace_merge(traces, 3);
	g_autoptr(ro_plan) plan = NULL;
	g_autofree char *order = NULL;

	fx_init(&fx);
	for (guint i = 0; i < 7; i++)
		fx_file(&fx, three[i], 100);
	fx_image(&fx, "");
	plan = make(fx.tree, merged, NULL);
	order = names(plan, fx.tree);
	g_assert_cmpstr(order, ==, "abcdefx");
	for (guint i = 0; i < 3; i++)
		tr_trace_free(traces[i]);
}

/* Two machines: what is in one only is behind, says so, and --also auto adds its group, behind all.
 */
static void test_unlike_machines(void)
{
#define NET "lib/modules/6.1/kernel/drivers/net/"
	static const char *const tree[] = {"bin/init", "bin/late", NET "ethernet/a/e1000.ko",
		NET "ethernet/b/8139too.ko", NET "ethernet/c/other.ko", NET "mii.ko",
		NET "wireless/w.ko", "lib/modules/6.1/kernel/drivers/ata/ahci.ko",
		"lib/firmware/rtl_nic/x.fw"};
	static const char *const one[] = {"bin/init", NET "ethernet/a/e1000.ko",
		"lib/modules/6.1/kernel/drivers/ata/ahci.ko", "bin/late"};
	static const char *const two[] = {"bin/init", NET "mii.ko", NET "ethernet/b/8139too.ko",
		"lib/modules/6.1/kernel/drivers/ata/ahci.ko", "bin/late"};
	static const char *const also[] = {"auto", NULL};
	ro_plan_options options = {.also = also};
	g_auto(fixture) fx;
	tr_trace *traces[2] = {fx_trace(one, 4), fx_trace(two, 5)};
	g_autoptr(tr_trace) merged = tr_trace_merge(traces, 2);
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) text = NULL;

	fx_init(&fx);
	for (guint i = 0; i < G_N_ELEMENTS(tree); i++)
		fx_file(&fx, tree[i], 100);
	fx_image(&fx, "");
	plan = make(fx.tree, merged, &options);
	assert_items(plan->files, fx.tree,
		"hot bin/init (open); hot lib/modules/6.1/kernel/drivers/ata/ahci.ko (open); "
		"hot bin/late (open); hot " NET "mii.ko (open, 1 of 2 traces); "
		"hot " NET "ethernet/a/e1000.ko (open, 1 of 2 traces); "
		"hot " NET "ethernet/b/8139too.ko (open, 1 of 2 traces); "
		"class " NET "ethernet/c/other.ko (also auto)");
	text = ro_plan_format(plan, fx.tree, NULL);
	g_assert_nonnull(strstr(text->str, "\ntraces 2\nin-all 3\nin-some 3 kernel modules\n"
					   "hardware 1 lib/modules/6.1/kernel/drivers/net\n"
					   "hardware 2 " NET "ethernet\nhot 0 f"));
	for (guint i = 0; i < 2; i++)
		tr_trace_free(traces[i]);
}

/* A12: two files, one copy of the data. */
static void test_shared_data_counted_once(void)
{
	static const char *const paths[] = {"a", "b", "c", "d"};
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = fx_trace(paths, 4);
	g_autoptr(ro_plan) plan = NULL;
	g_autofree char *data = g_strnfill(300000, 'x');

	fx_init(&fx);
	for (guint i = 0; i < 300000; i++)
		data[i] = (char)(i * i >> 7);
	fx_write(&fx, "a", data, 300000);
	fx_write(&fx, "b", data, 300000);
	fx_write(&fx, "c", data, 1000);
	fx_write(&fx, "d", data, 1000);
	fx_image(&fx, "-noD -noF");
	plan = make(fx.tree, trace, NULL);
	g_assert_cmpuint(plan->files->len, ==, 4);
	g_assert_cmpuint(plan->hot_bytes, ==, 602000);
	g_assert_cmpuint(plan->hot_stored, ==, 301000);
}

static void test_text(void)
{
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(ro_plan) plan = NULL;
	g_autoptr(GString) text = NULL;

	fx_init(&fx);
	fx_file(&fx, "d/a b\n\\", 1000);
	fx_file(&fx, "big", 2 * MIB);
	fx_symlink(&fx, "d/\xe9", "x");
	fx_image(&fx, "-noD -noF");
	fx_event(trace, "d/\xe9", TR_SYMLINK, TR_BYTES_UNKNOWN);
	fx_event(trace, "big", TR_FILE, 5);
	fx_event(trace, "d/a b\n\\", TR_FILE, TR_BYTES_UNKNOWN);
	fx_event(trace, "gone", TR_FILE, TR_BYTES_UNKNOWN);
	plan = make(fx.tree, trace, NULL);
	GString *named = ro_plan_format(plan, fx.tree, "/a b");
	g_assert_true(g_str_has_prefix(
		named->str, "reorder-livecd plan 1\nimage /a\\040b\nlayout end\n"));
	g_string_free(named, TRUE);
	text = ro_plan_format(plan, fx.tree, NULL);
	g_assert_cmpstr(text->str, ==,
		"reorder-livecd plan 1\nlayout end\norder access\nfiles 2\nhot-files 2\n"
		"hot-bytes 2098152\nhot-stored 2098152\ndirectories 2\nsymlinks 1\nunmatched 1\n"
		"hot 0 f d/a\\040b\\012\\134 open\nhot 1 f big partly read\n"
		"hot 0 d . lookup\nhot 1 d d lookup\nhot 0 l d/\xe9 open\n");
}

/* Every inode exactly once, whatever the order. */
static void test_100000_files(void)
{
	enum { COUNT = 100000 };
	g_auto(fixture) fx;
	g_autoptr(tr_trace) trace = tr_trace_new();
	ro_plan_options options = {.seed = 7};
	guint64 state = 3;

	fx_init(&fx);
	fx_many(&fx, COUNT);
	for (guint i = 0; i < COUNT; i++) {
		guint n = (guint)((guint64)i * 7919 % COUNT);
		char path[32];

		g_snprintf(path, sizeof(path), "d%03u/f%05u", n / 1000, n);
		fx_event(trace, path, TR_FILE, ro_random_below(&state, 17));
	}
	for (options.order = RO_ORDER_ACCESS; options.order <= RO_ORDER_RANDOM; options.order++) {
		g_autoptr(ro_plan) plan = make(fx.tree, trace, &options);
		g_autofree guint8 *seen = g_new0(guint8, img_tree_inode_count(fx.tree));

		g_assert_cmpuint(plan->files->len, ==, COUNT);
		g_assert_cmpuint(plan->dirs->len, ==, 101);
		for (guint i = 0; i < COUNT; i++)
			g_assert_cmpuint(
				seen[g_array_index(plan->files, ro_plan_item, i).inode]++, ==, 0);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/plan/access order with reasons", test_access_order);
	g_test_add_func("/plan/symlinked paths", test_symlinked_paths);
	g_test_add_func("/plan/hard links once, earliest counts", test_hard_links_once);
	g_test_add_func("/plan/directories and symlinks apart", test_groups_of_their_own);
	g_test_add_func("/plan/directories do not leak", test_directories_do_not_leak);
	g_test_add_func("/plan/only regular files with data", test_only_files_with_data);
	g_test_add_func("/plan/partly read files behind", test_partly_read_behind);
	g_test_add_func("/plan/partly read in one trace", test_partly_read_in_one_trace);
	g_test_add_func("/plan/the most read name counts", test_most_read_name_counts);
	g_test_add_func("/plan/unmatched paths", test_unmatched);
	g_test_add_func("/plan/mount prefix is no match", test_wrong_prefix);
	g_test_add_func("/plan/events of other images", test_other_images);
	g_test_add_func("/plan/size and path order", test_orders);
	g_test_add_func("/plan/random order is fixed by seed and files", test_random_order);
	g_test_add_func("/plan/random numbers as published", test_generator);
	g_test_add_func("/plan/random numbers are fair", test_random_is_fair);
	g_test_add_func("/plan/also behind the traced", test_also_behind);
	g_test_add_func("/plan/also leaves traced files alone", test_also_leaves_traced_alone);
	g_test_add_func("/plan/without a trace", test_without_trace);
	g_test_add_func("/plan/bad also", test_bad_also);
	g_test_add_func("/plan/merged traces", test_merged_traces);
	g_test_add_func("/plan/unlike machines", test_unlike_machines);
	g_test_add_func("/plan/shared data counted once", test_shared_data_counted_once);
	g_test_add_func("/plan/text", test_text);
	g_test_add_func("/plan/100,000 files", test_100000_files);
	return g_test_run();
}
