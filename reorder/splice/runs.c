/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/runs.h"

static void add_file(GArray *spans, const img_inode *inode)
{
	ro_span span = {inode->data_start, inode->data_start + inode->data_stored};

	if (inode->type == IMG_FILE && inode->data_stored > 0)
		g_array_append_val(spans, span);
}

static void add_fragment(GArray *spans, const img_fragment *fragment)
{
	ro_span span = {
		fragment->start, fragment->start + IMG_BLOCK_STORED_SIZE(fragment->size_word)};

	g_array_append_val(spans, span);
}

static GArray *collect(const ro_splice_fragments *fragments)
{
	const img_tree *tree = fragments->tree;
	GArray *spans = g_array_new(FALSE, FALSE, sizeof(ro_span));

	for (guint32 i = 0; i < img_tree_inode_count(tree); i++)
		add_file(spans, img_tree_inode(tree, i));
	for (guint32 i = 0; i < img_tree_fragment_count(tree); i++)
		if (fragments->kept[i])
			add_fragment(spans, img_tree_fragment(tree, i));
	ro_spans_merge(spans);
	return spans;
}

static void rank_run(GArray *runs, guint64 position, guint32 rank)
{
	ro_splice_run *run =
		&g_array_index(runs, ro_splice_run, ro_splice_runs_find(runs, position));

	run->rank = MIN(run->rank, rank);
}

static void rank_runs(GArray *runs, const ro_splice_fragments *fragments, const ro_plan *plan)
{
	const img_tree *tree = fragments->tree;

	for (guint i = 0; i < plan->files->len; i++) {
		const ro_plan_item *item = &g_array_index(plan->files, ro_plan_item, i);
		const img_inode *inode = img_tree_inode(tree, item->inode);

		if (inode->data_stored > 0)
			rank_run(runs, inode->data_start, i);
		if (ro_splice_tail_size(tree, inode) > 0 && fragments->kept[inode->fragment])
			rank_run(runs, img_tree_fragment(tree, inode->fragment)->start, i);
	}
}

GArray *ro_splice_runs_new(const ro_splice_fragments *fragments, const ro_plan *plan)
{
	g_autoptr(GArray) spans = collect(fragments);
	GArray *runs = g_array_sized_new(FALSE, FALSE, sizeof(ro_splice_run), spans->len);

	for (guint i = 0; i < spans->len; i++) {
		ro_splice_run run = {
			.span = g_array_index(spans, ro_span, i), .rank = RO_SPLICE_COLD};

		g_array_append_val(runs, run);
	}
	rank_runs(runs, fragments, plan);
	return runs;
}

guint ro_splice_runs_find(const GArray *runs, guint64 position)
{
	guint low = 0, high = runs->len;

	while (high - low > 1) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(runs, ro_splice_run, middle).span.start <= position)
			low = middle;
		else
			high = middle;
	}
	g_assert(low < runs->len);
	return low;
}

guint64 ro_splice_runs_move(const GArray *runs, guint64 position)
{
	const ro_splice_run *run =
		&g_array_index(runs, ro_splice_run, ro_splice_runs_find(runs, position));

	g_assert(position >= run->span.start && position < run->span.end);
	return run->position + (position - run->span.start);
}
