/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The splice engine, on images of tests/images/squashfs-variants: on some of them, and with -m slow
 * on all, and with a directory of 100,000 files.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "reorder/engine.h"
#include "reorder/image/codec.h"
#include "reorder/image/data_reader.h"
#include "reorder/image/le.h"
#include "reorder/splice/compressor.h"
#include "reorder/splice/fragments.h"
#include "reorder/splice/inode.h"
#include "reorder/splice/put.h"
#include "reorder/splice/runs.h"
#include "reorder/splice/spans.h"
#include "reorder/verify.h"
#include "tests/unit/squashfs-fixture.h"

static char *top; /* of the sources */

static ro_plan *plan_new(ro_layout layout)
{
	ro_plan *plan = g_new0(ro_plan, 1);

	plan->layout = layout;
	plan->files = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	plan->dirs = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	plan->symlinks = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	return plan;
}

static void test_plan_free(ro_plan *plan)
{
	g_array_unref(plan->files);
	g_array_unref(plan->dirs);
	g_array_unref(plan->symlinks);
	g_free(plan);
}

static void plan_add(ro_plan *plan, const img_tree *tree, guint32 index)
{
	const img_inode *inode = img_tree_inode(tree, index);
	ro_plan_item item = {.inode = index, .reason = "open"};

	if (inode->type == IMG_FILE && inode->size > 0)
		g_array_append_val(plan->files, item);
	else if (inode->type == IMG_DIR)
		g_array_append_val(plan->dirs, item);
	else if (inode->type == IMG_SYMLINK)
		g_array_append_val(plan->symlinks, item);
}

static void plan_add_path(ro_plan *plan, const img_tree *tree, const char *path)
{
	guint32 index = img_tree_resolve(tree, path, FALSE);

	g_assert_cmpuint(index, !=, IMG_NONE);
	plan_add(plan, tree, index);
}

/* A third of all inodes, in an order that depends on their paths only: the same for two images with
 * the same tree. */
static int compare_hashes(gconstpointer a, gconstpointer b)
{
	const guint *left = a, *right = b;

	if (left[0] != right[0])
		return left[0] < right[0] ? -1 : 1;
	return left[1] < right[1] ? -1 : left[1] > right[1];
}

static ro_plan *plan_third(const img_tree *tree, ro_layout layout)
{
	guint32 count = img_tree_inode_count(tree);
	g_autofree guint *order = g_new(guint, (gsize)count * 2);
	ro_plan *plan = plan_new(layout);

	for (guint32 i = 0; i < count; i++) {
		g_autofree char *path = img_tree_inode_path(tree, i);

		order[i * 2] = g_str_hash(path) * 2654435761u;
		order[i * 2 + 1] = i;
	}
	qsort(order, count, 2 * sizeof(guint), compare_hashes);
	for (guint32 i = 0; i < count / 3; i++)
		plan_add(plan, tree, order[i * 2 + 1]);
	return plan;
}

static gboolean run_engine(const ro_engine *engine, const sq_image *image, const ro_plan *plan,
	const char *out, GError **error)
{
	g_autofree char *path = sq_path(out), *workdir = sq_path("work");
	ro_engine_job job = {.iso_path = image->source.label,
		.tree = image->tree,
		.plan = plan,
		.workdir = workdir,
		.out_path = path};

	g_unlink(path);
	g_mkdir_with_parents(workdir, 0700);
	return engine->check(&job, error) && engine->rebuild(&job, error);
}

/* Takes the plan. */
static void reorder(const sq_image *image, ro_plan *plan, const char *out)
{
	g_autoptr(GError) error = NULL;

	run_engine(&ro_engine_splice, image, plan, out, &error);
	g_assert_no_error(error);
	test_plan_free(plan);
}

static void assert_same_bytes(const char *a, const char *b)
{
	sq_run("cmp %s %s", a, b);
}

/* Stored blocks: bit for bit. */
static void assert_same_blocks(
	const sq_image *a, const sq_image *b, const img_inode *left, const img_inode *right)
{
	guint64 left_at = left->data_start, right_at = right->data_start;
	static guint8 x[1 << 20], y[1 << 20];

	g_assert_cmpuint(left->block_count, ==, right->block_count);
	g_assert_cmpmem(left->blocks, left->block_count * sizeof(guint32), right->blocks,
		right->block_count * sizeof(guint32));
	for (guint32 i = 0; i < left->block_count; i++) {
		gsize size = IMG_BLOCK_STORED_SIZE(left->blocks[i]);

		g_assert_true(img_source_read(&a->source, left_at, x, size, NULL));
		g_assert_true(img_source_read(&b->source, right_at, y, size, NULL));
		g_assert_cmpint(memcmp(x, y, size), ==, 0);
		left_at += size;
		right_at += size;
	}
}

static void assert_same_tail(
	img_reader *a, img_reader *b, const img_inode *left, const img_inode *right)
{
	const guint8 *x, *y;
	gsize x_size, y_size;

	g_assert_cmpint(left->fragment == IMG_NONE, ==, right->fragment == IMG_NONE);
	if (left->fragment == IMG_NONE)
		return;
	x = img_reader_tail(a, left, &x_size, NULL);
	y = img_reader_tail(b, right, &y_size, NULL);
	g_assert_true(x && y);
	g_assert_cmpuint(x_size, ==, y_size);
	g_assert_cmpint(memcmp(x, y, x_size), ==, 0);
}

static void assert_same_inode(const img_inode *left, const img_inode *right)
{
	g_assert_cmpuint(left->number, ==, right->number);
	g_assert_cmpuint(left->type, ==, right->type);
	g_assert_cmpuint(left->mode, ==, right->mode);
	g_assert_cmpuint(left->uid, ==, right->uid);
	g_assert_cmpuint(left->gid, ==, right->gid);
	g_assert_cmpuint(left->mtime, ==, right->mtime);
	g_assert_cmpuint(left->nlink, ==, right->nlink);
	g_assert_cmpuint(left->xattr, ==, right->xattr);
	g_assert_cmpuint(left->rdev, ==, right->rdev);
	g_assert_cmpuint(left->size, ==, right->size);
	g_assert_cmpstr(left->target, ==, right->target);
}

static void assert_same_super(const img_super *left, const img_super *right)
{
	g_assert_cmpuint(left->compressor, ==, right->compressor);
	g_assert_cmpuint(left->block_size, ==, right->block_size);
	g_assert_cmpuint(left->inode_count, ==, right->inode_count);
	g_assert_cmpuint(left->mkfs_time, ==, right->mkfs_time);
	g_assert_cmpuint(left->flags, ==, right->flags);
	g_assert_cmpuint(left->id_count, ==, right->id_count);
	g_assert_cmpint(left->export_table == G_MAXUINT64, ==, right->export_table == G_MAXUINT64);
	g_assert_cmpint(left->xattr_table == G_MAXUINT64, ==, right->xattr_table == G_MAXUINT64);
	g_assert_cmpmem(left->options, left->options_size, right->options, right->options_size);
}

/* The walk of a tree depends on names only, so equal trees have equal indices. */
static void assert_same_tree(const sq_image *a, const sq_image *b)
{
	g_autoptr(img_reader) left = img_reader_new(a->tree, NULL);
	g_autoptr(img_reader) right = img_reader_new(b->tree, NULL);

	assert_same_super(img_tree_super(a->tree), img_tree_super(b->tree));
	g_assert_cmpuint(img_tree_inode_count(a->tree), ==, img_tree_inode_count(b->tree));
	g_assert_cmpuint(img_tree_entry_count(a->tree), ==, img_tree_entry_count(b->tree));
	for (guint32 i = 0; i < img_tree_entry_count(a->tree); i++) {
		g_assert_cmpstr(
			img_tree_entry(a->tree, i)->name, ==, img_tree_entry(b->tree, i)->name);
		g_assert_cmpuint(
			img_tree_entry(a->tree, i)->inode, ==, img_tree_entry(b->tree, i)->inode);
		g_assert_cmpuint(
			img_tree_entry(a->tree, i)->parent, ==, img_tree_entry(b->tree, i)->parent);
	}
	for (guint32 i = 0; i < img_tree_inode_count(a->tree); i++) {
		const img_inode *x = img_tree_inode(a->tree, i), *y = img_tree_inode(b->tree, i);

		assert_same_inode(x, y);
		if (x->type != IMG_FILE)
			continue;
		assert_same_blocks(a, b, x, y);
		assert_same_tail(left, right, x, y);
	}
}

/* Positions of data that the plan has and has not. */
typedef struct {
	guint64 hot_start, hot_end, cold_start, cold_end;
} extents;

static void note(extents *e, gboolean hot, guint64 start, guint64 end)
{
	guint64 *first = hot ? &e->hot_start : &e->cold_start;
	guint64 *last = hot ? &e->hot_end : &e->cold_end;

	*first = MIN(*first, start);
	*last = MAX(*last, end);
}

static extents find_extents(const sq_image *image, const ro_plan *plan)
{
	extents e = {G_MAXUINT64, 0, G_MAXUINT64, 0};
	g_autoptr(GHashTable) hot = g_hash_table_new(NULL, NULL);

	/* What is shared is hot if one of its files is. */
	for (guint i = 0; i < plan->files->len; i++) {
		const img_inode *inode = img_tree_inode(
			image->tree, g_array_index(plan->files, ro_plan_item, i).inode);

		g_hash_table_add(hot, GSIZE_TO_POINTER(inode->data_start));
	}
	for (guint32 i = 0; i < img_tree_inode_count(image->tree); i++) {
		const img_inode *inode = img_tree_inode(image->tree, i);

		if (inode->data_stored > 0)
			note(&e, g_hash_table_contains(hot, GSIZE_TO_POINTER(inode->data_start)),
				inode->data_start, inode->data_start + inode->data_stored);
	}
	return e;
}

/* Fragment blocks of the plan's tails lie on the right side of the cold data too. */
static void assert_fragments(const sq_image *image, const ro_plan *plan, const extents *e)
{
	for (guint i = 0; i < plan->files->len; i++) {
		const img_inode *inode = img_tree_inode(
			image->tree, g_array_index(plan->files, ro_plan_item, i).inode);
		guint64 start;

		if (ro_splice_tail_size(image->tree, inode) == 0 || e->cold_end == 0)
			continue;
		start = img_tree_fragment(image->tree, inode->fragment)->start;
		if (plan->layout == RO_LAYOUT_END)
			g_assert_cmpuint(start, >=, e->cold_end);
		else
			g_assert_cmpuint(start, <, e->cold_start);
	}
}

static void assert_placed(const sq_image *image, const ro_plan *plan)
{
	extents e = find_extents(image, plan);

	if (e.hot_end > 0 && e.cold_end > 0) {
		if (plan->layout == RO_LAYOUT_END)
			g_assert_cmpuint(e.cold_end, <=, e.hot_start);
		else
			g_assert_cmpuint(e.hot_end, <=, e.cold_start);
	}
	assert_fragments(image, plan, &e);
}

/* Runs inside of runs move with them, so hot ones may have cold neighbours. */
static gboolean has_pieces(const char *name)
{
	return g_str_has_prefix(name, "gen-") || g_str_has_prefix(name, "tar");
}

static void check_layout(const sq_image *source, ro_layout layout)
{
	g_auto(sq_image) result = {0};
	ro_plan *plan;

	reorder(source, plan_third(source->tree, layout), "once.img");
	sq_open(&result, "once.img");
	assert_same_tree(source, &result);
	plan = plan_third(result.tree, layout);
	if (!has_pieces(source->source.label))
		assert_placed(&result, plan);
	reorder(&result, plan, "twice.img");
	assert_same_bytes("once.img", "twice.img");
	reorder(source, plan_third(source->tree, layout), "twice.img");
	assert_same_bytes("once.img", "twice.img");
}

static void test_variant(gconstpointer data)
{
	g_auto(sq_image) source = {0};

	sq_open(&source, data);
	check_layout(&source, RO_LAYOUT_END);
	check_layout(&source, RO_LAYOUT_FRONT);
}

static void test_empty_plan(gconstpointer data)
{
	g_auto(sq_image) source = {0}, result = {0};

	sq_open(&source, data);
	reorder(&source, plan_new(RO_LAYOUT_END), "empty.img");
	sq_open(&result, "empty.img");
	assert_same_tree(&source, &result);
	g_assert_cmpint(source.source.size % 4096 == 0, ==, result.source.size % 4096 == 0);
}

/* unsquashfs, sqfsdiff and the kernel; what could not be asked is in the test's output. */
static void test_foreign(gconstpointer data)
{
	g_auto(sq_image) source = {0};
	g_autofree char *said = NULL;

	sq_open(&source, data);
	reorder(&source, plan_third(source.tree, RO_LAYOUT_END), "foreign.img");
	said = sq_shell(
		"%s/tests/images/same-squashfs %s foreign.img 2>&1", top, (const char *)data);
	if (said[0])
		g_test_message("%s", g_strchomp(said));
}

/* Both engines make the same tree, each in its way. */
static void test_engines_agree(gconstpointer data)
{
	g_auto(sq_image) source = {0}, moved = {0}, packed = {0};
	g_autoptr(GError) error = NULL;
	ro_verify_result result;
	ro_plan *plan;

	sq_open(&source, data);
	plan = plan_third(source.tree, RO_LAYOUT_END);
	if (!run_engine(&ro_engine_mksquashfs, &source, plan, "packed.img", &error)) {
		g_test_skip(error->message);
		test_plan_free(plan);
		return;
	}
	reorder(&source, plan, "moved.img");
	sq_open(&moved, "moved.img");
	sq_open(&packed, "packed.img");
	plan = plan_third(packed.tree, RO_LAYOUT_END);
	ro_verify_image(packed.tree, moved.tree, plan, NULL, &result, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(result.inodes, ==, img_tree_inode_count(source.tree));
	g_assert_cmpuint(result.in_place, ==, result.planned);
	test_plan_free(plan);
}

static void add_span(GArray *spans, guint64 start, guint64 end)
{
	ro_span span = {start, end};

	g_array_append_val(spans, span);
}

static void test_spans_merge(void)
{
	g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(ro_span));
	const guint64 wanted[] = {1, 5, 5, 9, 10, 30, 40, G_MAXUINT64};

	add_span(spans, 40, 50);
	add_span(spans, 10, 20);
	add_span(spans, 12, 14); /* inside */
	add_span(spans, 10, 20); /* twice */
	add_span(spans, 19, 30); /* overlaps */
	add_span(spans, 5, 9);
	add_span(spans, 1, 5); /* touches */
	add_span(spans, 49, G_MAXUINT64);
	ro_spans_merge(spans);
	g_assert_cmpmem(spans->data, spans->len * sizeof(ro_span), wanted, sizeof(wanted));
}

static void test_spans_of_nothing(void)
{
	g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(ro_span));

	ro_spans_merge(spans);
	g_assert_cmpuint(spans->len, ==, 0);
}

/* Pitfalls A13: small files that are read together lie in few fragment blocks. */
static void test_small_files_share_blocks(void)
{
	g_auto(sq_image) source = {0}, result = {0};
	g_autoptr(GHashTable) blocks = g_hash_table_new(NULL, NULL);
	ro_plan *plan;

	sq_run("mkdir small; for i in $(seq 400); do head -c 2000 /dev/urandom >small/s$i; done;"
	       "for i in $(seq 20); do head -c 400000 /dev/urandom >small/b$i; done;"
	       "mksquashfs small small.img -quiet -no-progress");
	sq_open(&source, "small.img");
	plan = plan_new(RO_LAYOUT_END);
	for (guint i = 1; i <= 400; i += 10) {
		g_autofree char *path = g_strdup_printf("s%u", i);

		plan_add_path(plan, source.tree, path);
	}
	reorder(&source, plan, "result.img");
	sq_open(&result, "result.img");
	for (guint i = 1; i <= 400; i += 10) {
		g_autofree char *path = g_strdup_printf("s%u", i);
		const img_inode *inode = img_tree_inode(result.tree, sq_inode(&result, path));

		g_hash_table_add(blocks, GUINT_TO_POINTER(inode->fragment + 1));
		g_assert_cmpuint(img_tree_fragment(result.tree, inode->fragment)->start, >,
			source.source.size * 8 / 10);
	}
	g_assert_cmpuint(g_hash_table_size(blocks), ==, 1);
}

/* Pitfalls A12: of two equal files the planned one decides, and the data stays there once. */
static void test_duplicates_stay_one(void)
{
	g_auto(sq_image) source = {0}, result = {0};
	const img_inode *hot, *cold, *other;
	ro_plan *plan = plan_new(RO_LAYOUT_FRONT);

	sq_run("mkdir -p dup/cold dup/hot; head -c 300000 /dev/urandom >dup/cold/x;"
	       "cp dup/cold/x dup/hot/x; head -c 300000 /dev/urandom >dup/cold/a;"
	       "mksquashfs dup dup.img -quiet -no-progress");
	sq_open(&source, "dup.img");
	plan_add_path(plan, source.tree, "hot/x");
	reorder(&source, plan, "result.img");
	sq_open(&result, "result.img");
	hot = img_tree_inode(result.tree, sq_inode(&result, "hot/x"));
	cold = img_tree_inode(result.tree, sq_inode(&result, "cold/x"));
	other = img_tree_inode(result.tree, sq_inode(&result, "cold/a"));
	g_assert_cmpuint(hot->data_start, ==, IMG_SUPER_SIZE);
	g_assert_cmpuint(cold->data_start, ==, hot->data_start);
	g_assert_cmpuint(other->data_start, >, hot->data_start);
	g_assert_cmpuint(result.source.size, ==, source.source.size);
}

/* A block that does not get smaller is stored as it is: libsquashfs's lz4 would let it grow. */
static void test_no_block_grows(void)
{
	const img_compressor all[] = {
		IMG_COMP_GZIP, IMG_COMP_LZO, IMG_COMP_XZ, IMG_COMP_LZ4, IMG_COMP_ZSTD};
	g_autofree guint8 *noise = g_malloc(131072);
	const guint8 *packed;
	gsize size;

	for (gsize i = 0; i < 131072; i++)
		noise[i] = (guint8)g_random_int();
	for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
		img_super super = {.compressor = all[i], .block_size = 131072};
		g_autoptr(ro_splice_compressor) compressor =
			ro_splice_compressor_new(&super, 131072, NULL);

		g_assert_true(ro_splice_compress(compressor, noise, 131072, &packed, &size, NULL));
		g_assert_cmpuint(size, ==, 0);
		g_assert_true(ro_splice_compress(compressor, noise, 1, &packed, &size, NULL));
		g_assert_cmpuint(size, ==, 0);
	}
}

/* The same format, and smaller. */
static void test_tight_blocks_are_smaller(void)
{
	const img_super all[] = {{.compressor = IMG_COMP_LZ4},
		{.compressor = IMG_COMP_ZSTD, .options_size = 4, .options = {3}},
		{.compressor = IMG_COMP_GZIP, .options_size = 8, .options = {1, 0, 0, 0, 15}}};
	g_autofree char *text = NULL;
	gsize length;

	g_assert_true(g_file_get_contents("/proc/self/exe", &text, &length, NULL));
	for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
		img_super super = all[i];
		g_autoptr(ro_splice_compressor) plain = NULL, tight = NULL;
		g_autoptr(img_codec) codec = NULL;
		g_autofree guint8 *back = g_malloc(131072);
		const guint8 *a, *b;
		gsize a_size, b_size;

		super.block_size = 131072;
		plain = ro_splice_compressor_new(&super, 131072, NULL);
		tight = ro_splice_compressor_new_tight(&super, 131072, NULL);
		codec = img_codec_new(&super, NULL);
		g_assert_true(ro_splice_compress(
			plain, (guint8 *)text, MIN(length, 131072), &a, &a_size, NULL));
		g_assert_true(ro_splice_compress(
			tight, (guint8 *)text, MIN(length, 131072), &b, &b_size, NULL));
		g_assert_cmpuint(b_size, <, a_size);
		g_assert_cmpuint(
			img_codec_unpack(codec, b, b_size, back, 131072), ==, MIN(length, 131072));
		g_assert_cmpmem(back, MIN(length, 131072), text, MIN(length, 131072));
	}
}

static void test_xz_is_tight_as_it_is(void)
{
	img_super super = {.compressor = IMG_COMP_XZ, .block_size = 131072};
	g_autoptr(GError) error = NULL;

	g_assert_null(ro_splice_compressor_new_tight(&super, 131072, &error));
	g_assert_no_error(error);
}

/* Two kinds of text, each in a directory of its own: mixed by the order of the plan they pack
 * worse, and there is no more room than there was. */
static void test_repacked_fragments_do_not_grow(void)
{
	g_auto(sq_image) source = {0}, result = {0};
	ro_plan *plan = plan_new(RO_LAYOUT_END);

	sq_run("mkdir -p kinds/a kinds/b; for i in $(seq 100 299); do seq $((i * 37)) $((i * 37 + 400)) "
	       ">kinds/a/$i; seq $((i * 37)) $((i * 37 + 400)) | base64 >kinds/b/$i; done; "
	       "mksquashfs kinds kinds.img -quiet -no-progress -noappend -comp zstd "
	       "-Xcompression-level 3");
	sq_open(&source, "kinds.img");
	for (guint i = 100; i < 300; i += 3) {
		g_autofree char *a = g_strdup_printf("a/%u", i);
		g_autofree char *b = g_strdup_printf("b/%u", 399 - i);

		plan_add_path(plan, source.tree, a);
		plan_add_path(plan, source.tree, b);
	}
	reorder(&source, plan, "result.img");
	sq_open(&result, "result.img");
	g_assert_cmpuint(result.source.size, <=, source.source.size);
}

static void test_bad_options_are_refused(void)
{
	static const struct {
		img_compressor compressor;
		guint8 options[8];
	} bad[] = {
		{IMG_COMP_GZIP, {0, 0, 0, 0, 15, 0, 0, 0}},
		{IMG_COMP_GZIP, {9, 0, 0, 0, 99, 0, 0, 0}},
		{IMG_COMP_LZO, {9, 0, 0, 0, 0, 0, 0, 0}},
		{IMG_COMP_LZO, {4, 0, 0, 0, 10, 0, 0, 0}},
		{IMG_COMP_XZ, {1, 32, 0, 0, 0, 0, 0, 0}},
		{IMG_COMP_ZSTD, {99, 0, 0, 0}},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		img_super super = {.compressor = bad[i].compressor, .block_size = 131072};
		g_autoptr(GError) error = NULL;

		super.options_size = super.compressor == IMG_COMP_ZSTD ? 4 : 8;
		memcpy(super.options, bad[i].options, 8);
		g_assert_null(ro_splice_compressor_new(&super, 131072, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	}
}

static void test_data_behind_the_filesystem_is_refused(void)
{
	g_auto(sq_image) source = {0}, padded = {0};
	g_autoptr(GError) error = NULL;
	ro_plan *plan = plan_new(RO_LAYOUT_END);

	sq_run("cp one-file.img signed.img; echo hash tree >>signed.img");
	sq_open(&source, "signed.img");
	g_assert_false(run_engine(&ro_engine_splice, &source, plan, "result.img", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	sq_run("cp one-file.img padded.img; truncate -s 1M padded.img");
	sq_open(&padded, "padded.img");
	reorder(&padded, plan, "result.img");
}

static void test_failure_leaves_nothing(void)
{
	g_auto(sq_image) source = {0};
	g_autoptr(GError) error = NULL;
	ro_plan *plan;

	/* All of the data area: the trees are read before it is cut off. */
	sq_run("cp gzip.img cut.img");
	sq_open(&source, "cut.img");
	plan = plan_third(source.tree, RO_LAYOUT_END);
	sq_run("truncate -s 300000 cut.img");
	g_assert_false(run_engine(&ro_engine_splice, &source, plan, "result.img", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	sq_run("test ! -e result.img; test -z \"$(ls work)\"");
	test_plan_free(plan);
}

static void test_existing_output_stays(void)
{
	g_auto(sq_image) source = {0};
	g_autoptr(GError) error = NULL;
	ro_plan *plan = plan_new(RO_LAYOUT_END);
	g_autofree char *out = sq_path("precious"), *workdir = sq_path("work");
	ro_engine_job job = {.plan = plan, .workdir = workdir, .out_path = out};

	sq_run("echo precious >precious; mkdir -p work");
	sq_open(&source, "one-file.img");
	job.tree = source.tree;
	g_assert_false(ro_engine_splice.rebuild(&job, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	sq_run("grep -q precious precious");
	test_plan_free(plan);
}

/* A directory that is too large for one metadata block keeps its lookup index. */
static void test_large_directory(void)
{
	guint count = g_test_slow() ? 100000 : 6000;
	g_auto(sq_image) source = {0}, result = {0};
	ro_plan *plan = plan_new(RO_LAYOUT_END);

	sq_run("mkdir -p big/d; cd big/d; seq -f %%.0f-name %u | xargs touch; echo x >5-name;"
	       "cd ../..; mksquashfs big big.img -quiet -no-progress -comp lz4",
		count);
	sq_open(&source, "big.img");
	plan_add_path(plan, source.tree, "d/5-name");
	plan_add_path(plan, source.tree, "d");
	reorder(&source, plan, "result.img");
	sq_open(&result, "result.img");
	assert_same_tree(&source, &result);
	if (geteuid() != 0) {
		g_test_skip("only root can mount");
		return;
	}
	/* Each look-up goes through the index; a listing does not. */
	sq_run("mkdir -p mnt; mount -t squashfs -o loop,ro result.img mnt || exit 0;"
	       "trap 'umount mnt' EXIT; test \"$(ls -U mnt/d | wc -l)\" = %u;"
	       "test \"$(cat mnt/d/5-name)\" = x;"
	       "for i in $(seq 1 %u %u); do test -e mnt/d/$i-name; test ! -e mnt/d/$i-nam; done",
		count, count / 300 + 1, count);
}

/* Hot inodes lie behind the cold ones, but for those that an earlier listing names. */
static void test_metadata_is_grouped(void)
{
	g_auto(sq_image) source = {0}, result = {0};
	g_autofree gboolean *hot = NULL;
	guint64 last_cold = 0, first_hot = G_MAXUINT64;
	ro_plan *plan = plan_new(RO_LAYOUT_END);

	sq_open(&source, "gzip.img");
	plan_add_path(plan, source.tree, "usr/share/text-11");
	plan_add_path(plan, source.tree,
		"many/a-rather-long-name-so-that-the-listing-takes-more-than-a-block-100");
	plan_add_path(plan, source.tree,
		"many/a-rather-long-name-so-that-the-listing-takes-more-than-a-block-200");
	hot = g_new0(gboolean, img_tree_inode_count(source.tree));
	for (guint i = 0; i < plan->files->len; i++)
		hot[g_array_index(plan->files, ro_plan_item, i).inode] = TRUE;
	hot[0] = hot[sq_inode(&source, "usr")] = hot[sq_inode(&source, "usr/share")] =
		hot[sq_inode(&source, "many")] = TRUE;
	reorder(&source, plan, "result.img");
	sq_open(&result, "result.img");
	for (guint32 i = 0; i < img_tree_inode_count(result.tree); i++) {
		guint64 reference = img_tree_inode(result.tree, i)->inode_ref;

		if (hot[i])
			first_hot = MIN(first_hot, reference);
		else
			last_cold = MAX(last_cold, reference);
	}
	g_assert_cmpuint(last_cold, <, first_hot);
}

/* A basic inode has 32 bits for the position of its data. */
static void test_position_past_4_gib_extends_the_inode(void)
{
	g_auto(sq_image) source = {0};
	g_autoptr(ro_splice_fragments) fragments = NULL;
	g_autoptr(GArray) runs = NULL;
	g_autoptr(GByteArray) raw = g_byte_array_new();
	ro_plan *plan = plan_new(RO_LAYOUT_END);
	ro_splice_inode_source from = {0};
	g_auto(img_metadata) old = {0};
	g_autoptr(img_codec) codec = NULL;
	img_metadata_place place = {.what = "inode table"};
	const img_super *super;
	const img_inode *inode;

	sq_open(&source, "one-file.img");
	super = img_tree_super(source.tree);
	codec = img_codec_new(super, NULL);
	place.source = &source.source;
	place.codec = codec;
	g_assert_true(
		img_metadata_load(&old, &place, super->inode_table, super->directory_table, NULL));
	fragments = ro_splice_fragments_new(source.tree, plan);
	runs = ro_splice_runs_new(fragments, plan);
	g_array_index(runs, ro_splice_run, 0).position = G_GUINT64_CONSTANT(0x123456789);
	from = (ro_splice_inode_source){source.tree, runs, fragments, old};
	g_assert_true(ro_splice_inode_make(&from, sq_inode(&source, "file"), NULL, raw, NULL));
	inode = img_tree_inode(source.tree, sq_inode(&source, "file"));
	g_assert_cmpuint(raw->len, ==, 56 + 4 * inode->block_count);
	g_assert_cmpuint(img_le16(raw->data), ==, 9);
	g_assert_cmphex(img_le64(raw->data + 16), ==, 0x123456789);
	g_assert_cmpuint(img_le64(raw->data + 24), ==, 200000);
	g_assert_cmpuint(img_le64(raw->data + 32), ==, 0); /* sparse */
	g_assert_cmpuint(img_le32(raw->data + 40), ==, 1); /* links */
	g_assert_cmphex(img_le32(raw->data + 52), ==, IMG_NONE);
	g_assert_cmpmem(raw->data + 56, raw->len - 56, inode->blocks, 4 * inode->block_count);
	test_plan_free(plan);
}

static void add64(guint8 *at, guint64 delta)
{
	if (img_le64(at) != G_MAXUINT64)
		ro_put64(at, img_le64(at) + delta);
}

/* In a table of one block: its only pointer, and the positions in its fragment entries. */
static void shift_table(guint8 *bytes, guint64 index, guint32 fragments, guint64 delta)
{
	guint64 block;

	if (index == G_MAXUINT64)
		return;
	block = img_le64(bytes + index);
	add64(bytes + index, delta);
	for (guint32 i = 0; i < fragments; i++)
		add64(bytes + block + 2 + (gsize)i * 16, delta);
}

static void shift_file(guint8 *raw, guint64 delta)
{
	if (img_le16(raw) == 9)
		add64(raw + 16, delta);
	else if (img_le16(raw) == 2)
		ro_put32(raw + 16, img_le32(raw + 16) + (guint32)delta);
}

/* Inserts delta bytes of nothing in front of the first block of an image whose tables are not
 * packed and of one block each. */
static void shift_image(const char *name, const char *out, guint64 delta)
{
	static const guint fields[] = {40, 48, 64, 72, 80, 88};
	g_autofree char *from = sq_path(name), *to = sq_path(out), *contents = NULL;
	g_auto(sq_image) image = {0};
	const img_super *super;
	guint8 *bytes;
	gsize size;
	int fd;

	sq_open(&image, name);
	super = img_tree_super(image.tree);
	g_assert_true(g_file_get_contents(from, &contents, &size, NULL));
	bytes = (guint8 *)contents;
	for (guint32 i = 0; i < img_tree_inode_count(image.tree); i++)
		shift_file(
			bytes + super->inode_table + 2 + img_tree_inode(image.tree, i)->inode_ref,
			delta);
	shift_table(bytes, super->fragment_table, super->fragment_count, delta);
	shift_table(bytes, super->export_table, 0, delta);
	shift_table(bytes, super->id_table, 0, delta);
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		add64(bytes + fields[i], delta);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	g_assert_cmpint(pwrite(fd, bytes, IMG_SUPER_SIZE, 0), ==, IMG_SUPER_SIZE);
	g_assert_cmpint(pwrite(fd, bytes + IMG_SUPER_SIZE, size - IMG_SUPER_SIZE,
				(off_t)(IMG_SUPER_SIZE + delta)),
		==, (gssize)(size - IMG_SUPER_SIZE));
	g_assert_cmpint(ftruncate(fd, (off_t)((size + delta + 4095) / 4096 * 4096)), ==, 0);
	close(fd);
}

/* Builders that align blocks to pages do so for a reason (DAX, direct I/O). */
static void test_alignment_is_kept(void)
{
	g_auto(sq_image) source = {0}, result = {0};
	ro_plan *plan = plan_new(RO_LAYOUT_END);

	sq_run("mkdir pages; for i in 1 2 3 4; do head -c 40960 /dev/urandom >pages/$i; done;"
	       "mksquashfs pages pages.img -quiet -no-progress -noI -noD -no-fragments -b 4096");
	shift_image("pages.img", "aligned.img", 4096 - IMG_SUPER_SIZE);
	sq_open(&source, "aligned.img");
	plan_add_path(plan, source.tree, "2");
	reorder(&source, plan, "result.img");
	sq_open(&result, "result.img");
	assert_same_tree(&source, &result);
	for (guint i = 1; i < 5; i++)
		g_assert_cmpuint(img_tree_inode(result.tree, i)->data_start % 4096, ==, 0);
}

/* data_start past 4 GiB without 4 GiB of data. */
static void test_image_past_4_gib(void)
{
	g_auto(sq_image) source = {0}, result = {0};
	ro_plan *plan = plan_new(RO_LAYOUT_END);

	sq_run("mkdir far; for i in 1 2 3; do head -c 300000 /dev/urandom >far/$i; ln far/$i far/l$i; done;"
	       "mksquashfs far far.img -quiet -no-progress -noI -noF");
	shift_image("far.img", "shifted.img", G_GUINT64_CONSTANT(5000000000));
	sq_open(&source, "shifted.img");
	plan_add_path(plan, source.tree, "1");
	reorder(&source, plan, "result.img");
	sq_open(&result, "result.img");
	assert_same_tree(&source, &result);
	sq_run("unsquashfs -quiet -no-progress -d far.out result.img; diff -r far far.out");
}

/* Pitfalls K8: neither owners nor devices nor attributes need any privilege. */
static void test_nobody_makes_the_same_bytes(void)
{
	g_auto(sq_image) source = {0};
	g_autoptr(GError) error = NULL;
	ro_plan *plan;

	if (geteuid() != 0) {
		g_test_skip("only root can become somebody else");
		return;
	}
	sq_open(&source, "gzip.img");
	plan = plan_third(source.tree, RO_LAYOUT_END);
	run_engine(&ro_engine_splice, &source, plan, "result.img", &error);
	g_assert_no_error(error);
	sq_run("chmod 755 .; chown 65534 work");
	g_assert_cmpint(seteuid(65534), ==, 0);
	run_engine(&ro_engine_splice, &source, plan, "work/result.img", &error);
	g_assert_cmpint(seteuid(0), ==, 0);
	g_assert_no_error(error);
	assert_same_bytes("result.img", "work/result.img");
	sq_run("rm work/result.img; chown 0 work");
	test_plan_free(plan);
}

/* A copy of an image with one other byte. */
static void corrupt(const char *name, guint64 position, guint8 value)
{
	sq_run("cp gzip.img %s; chmod u+w %s; printf '\\%o' | dd of=%s bs=1 seek=%" G_GUINT64_FORMAT
	       " conv=notrunc status=none",
		name, name, value, name, position);
}

static void test_broken_attributes_are_refused(void)
{
	g_auto(sq_image) source = {0}, broken = {0};
	g_autoptr(GError) error = NULL;
	ro_plan *plan = plan_new(RO_LAYOUT_END);
	guint64 table;

	sq_open(&source, "gzip.img");
	table = img_tree_super(source.tree)->xattr_table;
	corrupt("broken.img", table + 6, 0xff);
	sq_open(&broken, "broken.img");
	g_assert_false(run_engine(&ro_engine_splice, &broken, plan, "result.img", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	test_plan_free(plan);
}

/* Registers a test for each image. */
static void add_tests(const char *kind, const char *const *names, GTestDataFunc test)
{
	for (gsize i = 0; names[i]; i++) {
		g_autofree char *path = g_strdup_printf("/splice/%s/%s", kind, names[i]);

		g_test_add_data_func(path, names[i], test);
	}
}

static void add_plain_tests(void)
{
	g_test_add_func("/splice/spans/merge-overlaps-only", test_spans_merge);
	g_test_add_func("/splice/spans/nothing", test_spans_of_nothing);
	g_test_add_func("/splice/compressor/no-block-grows", test_no_block_grows);
	g_test_add_func("/splice/compressor/tight-is-smaller", test_tight_blocks_are_smaller);
	g_test_add_func("/splice/compressor/xz-is-tight", test_xz_is_tight_as_it_is);
	g_test_add_func(
		"/splice/repacked-fragments-do-not-grow", test_repacked_fragments_do_not_grow);
	g_test_add_func("/splice/compressor/bad-options", test_bad_options_are_refused);
	g_test_add_func("/splice/small-files-share-blocks", test_small_files_share_blocks);
	g_test_add_func("/splice/duplicates-stay-one", test_duplicates_stay_one);
	g_test_add_func(
		"/splice/data-behind-the-filesystem", test_data_behind_the_filesystem_is_refused);
	g_test_add_func("/splice/failure-leaves-nothing", test_failure_leaves_nothing);
	g_test_add_func("/splice/existing-output-stays", test_existing_output_stays);
	g_test_add_func("/splice/large-directory", test_large_directory);
	g_test_add_func("/splice/metadata-is-grouped", test_metadata_is_grouped);
	g_test_add_func("/splice/inode-past-4-gib", test_position_past_4_gib_extends_the_inode);
	g_test_add_func("/splice/image-past-4-gib", test_image_past_4_gib);
	g_test_add_func("/splice/alignment-is-kept", test_alignment_is_kept);
	g_test_add_func("/splice/nobody-makes-the-same-bytes", test_nobody_makes_the_same_bytes);
	g_test_add_func("/splice/broken-attributes", test_broken_attributes_are_refused);
}

/* Enough of them for a quick run. */
#define SOME                                                                                       \
	"gzip xz-bcj zstd lz4 lzo b-4k no-fragments always-fragments no-compression no-padding "   \
	"gen-xz-xattr gen-zstd-no-tails tar one-file empty ids"

int main(int argc, char **argv)
{
	static const char *const compared[] = {
		"gzip.img", "lz4.img", "b-4k.img", "always-fragments.img", "ids.img", NULL};
	g_autofree char *listing = NULL;
	g_auto(GStrv) names = NULL;

	g_test_init(&argc, &argv, NULL);
	top = g_get_current_dir();
	if (!sq_start(FALSE))
		return 0;
	listing = sq_shell("%s/tests/images/squashfs-variants . %s >&2; ls *.img", top,
		g_test_slow() ? "" : SOME);
	names = g_strsplit(g_strchomp(listing), "\n", -1);
	g_assert_cmpuint(g_strv_length(names), >=, g_test_slow() ? 50 : 16);
	add_plain_tests();
	add_tests("same-tree-and-idempotent", (const char *const *)names, test_variant);
	add_tests("empty-plan", (const char *const *)names, test_empty_plan);
	add_tests("other-programs-agree", (const char *const *)names, test_foreign);
	add_tests("engines-agree", compared, test_engines_agree);
	return sq_finish(g_test_run());
}
