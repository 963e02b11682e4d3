/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the planned files came to lie: see verify.h. */
#include "reorder/verify-internal.h"

#include <stdlib.h>

enum {
	/* Runs of other files that may lie in the hot region. */
	FOREIGN_RUNS = 2,
	/* Ranks that a packer can tell apart. */
	RANKS = 32767,
};

/* A run of stored bytes: the data blocks of a file, or a fragment block. */
typedef struct {
	guint64 start, end;
	gboolean hot;
} run;

typedef struct {
	guint64 start, end;
} span;

static gboolean inside(const span *hot, guint64 start, guint64 size)
{
	return start >= hot->start && start + size <= hot->end;
}

static void add_run(GArray *runs, guint64 start, guint64 size, gboolean hot)
{
	run added = {start, start + size, hot};

	if (size > 0)
		g_array_append_val(runs, added);
}

static int compare_runs(gconstpointer a, gconstpointer b)
{
	const run *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts, and joins what overlaps: files that share their data. */
static void merge_runs(GArray *runs)
{
	guint kept = 0;

	g_array_sort(runs, compare_runs);
	for (guint i = 1; i < runs->len; i++) {
		run *last = &g_array_index(runs, run, kept);
		const run *next = &g_array_index(runs, run, i);

		if (next->start < last->end) {
			last->end = MAX(last->end, next->end);
			last->hot |= next->hot;
		} else {
			g_array_index(runs, run, ++kept) = *next;
		}
	}
	if (runs->len > 0)
		g_array_set_size(runs, kept + 1);
}

/* All data of the new image, by position. planned: by inode of the new image. */
static GArray *collect_runs(const img_tree *tree, const gboolean *planned)
{
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(run));
	guint32 fragments = img_tree_fragment_count(tree);
	g_autofree gboolean *hot = g_new0(gboolean, fragments);

	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);

		if (inode->type != IMG_FILE)
			continue;
		add_run(runs, inode->data_start, inode->data_stored, planned[i]);
		if (inode->fragment != IMG_NONE)
			hot[inode->fragment] |= planned[i];
	}
	for (guint32 i = 0; i < fragments; i++) {
		const img_fragment *fragment = img_tree_fragment(tree, i);

		add_run(runs, fragment->start, IMG_BLOCK_STORED_SIZE(fragment->size_word), hot[i]);
	}
	merge_runs(runs);
	return runs;
}

static span find_region(const GArray *runs, ro_layout layout)
{
	span found = {0, 0};
	guint foreign = 0;

	for (guint i = 0; i < runs->len && foreign <= FOREIGN_RUNS; i++) {
		guint index = layout == RO_LAYOUT_FRONT ? i : runs->len - 1 - i;
		const run *at = &g_array_index(runs, run, index);

		if (!at->hot)
			foreign++;
		else if (found.end == 0)
			found = (span){at->start, at->end};
		else
			found = (span){MIN(found.start, at->start), MAX(found.end, at->end)};
	}
	return found;
}

static guint64 foreign_bytes(const GArray *runs, const span *hot)
{
	guint64 bytes = 0;

	for (guint i = 0; i < runs->len; i++) {
		const run *at = &g_array_index(runs, run, i);

		if (!at->hot && inside(hot, at->start, at->end - at->start))
			bytes += at->end - at->start;
	}
	return bytes;
}

/* Files that have data blocks of their own, in the order of the plan. */
typedef struct {
	guint32 *items;     /* index in the plan */
	guint64 *positions; /* where they start */
	guint32 count;
} sequence;

static void sequence_clear(sequence *s)
{
	g_free(s->items);
	g_free(s->positions);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(sequence, sequence_clear)

/* Files with one rank come in any order: each counts as where the first of its neighbours is. */
static void allow_ties(sequence *s, guint planned)
{
	guint width = (planned + RANKS - 1) / RANKS;

	for (guint32 i = 0; i < s->count; i++)
		for (guint32 j = 1; j < width && i + j < s->count; j++)
			s->positions[i] = MIN(s->positions[i], s->positions[i + j]);
}

/* How many of ends (indexes of positions that do not fall) are at most the limit. */
static guint32 count_up_to(
	const guint64 *positions, const guint32 *ends, guint32 count, guint64 limit)
{
	guint32 low = 0;

	while (count > 0) {
		guint32 half = count / 2;

		if (positions[ends[low + half]] <= limit) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

/* The longest part of the sequence that is in order: clears in_place of all others. */
static void keep_ordered(const sequence *s, gboolean *in_place)
{
	/* ends[n]: where the best ordered part of n + 1 elements ends. */
	g_autofree guint32 *ends = g_new(guint32, s->count + 1);
	g_autofree guint32 *before = g_new(guint32, s->count + 1);
	g_autofree gboolean *ordered = g_new0(gboolean, s->count + 1);
	guint32 longest = 0;

	for (guint32 i = 0; i < s->count; i++) {
		guint32 length = count_up_to(s->positions, ends, longest, s->positions[i]);

		before[i] = length > 0 ? ends[length - 1] : IMG_NONE;
		ends[length] = i;
		longest = MAX(longest, length + 1);
	}
	for (guint32 i = longest > 0 ? ends[longest - 1] : IMG_NONE; i != IMG_NONE; i = before[i])
		ordered[i] = TRUE;
	for (guint32 i = 0; i < s->count; i++)
		in_place[s->items[i]] &= ordered[i];
}

static const img_inode *planned_inode(const ro_pairs *pairs, const ro_plan *plan, guint32 item)
{
	guint32 old = g_array_index(plan->files, ro_plan_item, item).inode;

	return img_tree_inode(pairs->new_tree, pairs->partner[old]);
}

static gboolean in_region(const img_tree *tree, const img_inode *inode, const span *hot)
{
	const img_fragment *fragment;

	if (inode->data_stored > 0 && !inside(hot, inode->data_start, inode->data_stored))
		return FALSE;
	if (inode->fragment == IMG_NONE)
		return TRUE;
	fragment = img_tree_fragment(tree, inode->fragment);
	return inside(hot, fragment->start, IMG_BLOCK_STORED_SIZE(fragment->size_word));
}

/* first: start of data blocks → the first item in the plan that has them. */
static void order_files(
	const ro_pairs *pairs, const ro_plan *plan, GHashTable *first, gboolean *in_place)
{
	g_auto(sequence) s = {.items = g_new(guint32, plan->files->len + 1),
		.positions = g_new(guint64, plan->files->len + 1)};

	for (guint32 i = 0; i < plan->files->len; i++) {
		const img_inode *inode = planned_inode(pairs, plan, i);

		if (!in_place[i] || inode->data_stored == 0 ||
			g_hash_table_contains(first, &inode->data_start))
			continue;
		g_hash_table_insert(first, (gpointer)&inode->data_start, GUINT_TO_POINTER(i));
		s.items[s.count] = i;
		s.positions[s.count++] = inode->data_start;
	}
	allow_ties(&s, plan->files->len);
	keep_ordered(&s, in_place);
}

static gboolean has_data(const img_inode *inode)
{
	return inode->data_stored > 0 || inode->fragment != IMG_NONE;
}

static void count_files(
	const ro_pairs *pairs, const ro_plan *plan, const span *hot, ro_verify_result *result)
{
	g_autofree gboolean *in_place = g_new0(gboolean, plan->files->len + 1);
	g_autoptr(GHashTable) first = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (guint32 i = 0; i < plan->files->len; i++)
		in_place[i] = in_region(pairs->new_tree, planned_inode(pairs, plan, i), hot);
	order_files(pairs, plan, first, in_place);
	for (guint32 i = 0; i < plan->files->len; i++) {
		const img_inode *inode = planned_inode(pairs, plan, i);
		guint32 counts = i;

		if (!has_data(inode))
			continue;
		if (in_place[i] && inode->data_stored > 0)
			counts = GPOINTER_TO_UINT(g_hash_table_lookup(first, &inode->data_start));
		result->planned++;
		result->in_place += in_place[counts] ? 1 : 0;
	}
}

void ro_verify_order(const ro_pairs *pairs, const ro_plan *plan, ro_verify_result *result)
{
	g_autofree gboolean *planned = g_new0(gboolean, img_tree_inode_count(pairs->new_tree));
	g_autoptr(GArray) runs = NULL;
	span found;

	for (guint32 i = 0; i < plan->files->len; i++)
		planned[pairs->partner[g_array_index(plan->files, ro_plan_item, i).inode]] = TRUE;
	runs = collect_runs(pairs->new_tree, planned);
	found = find_region(runs, plan->layout);
	result->hot_start = found.start;
	result->hot_end = found.end;
	result->hot_foreign = foreign_bytes(runs, &found);
	count_files(pairs, plan, &found, result);
}
