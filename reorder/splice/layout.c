/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/layout.h"

#include "reorder/splice/runs.h"

/* What builders align to, if they do: a page. The first block of other images lies at byte 96 or a
 * little behind. */
enum { PAGE = 4096 };

static void append(GArray *order, ro_splice_kind kind, guint index)
{
	ro_splice_item item = {kind, index};

	g_array_append_val(order, item);
}

/* A run goes to the first file that has to do with it. */
static void append_run(GArray *order, const GArray *runs, guint64 position, guint rank)
{
	guint index = ro_splice_runs_find(runs, position);
	const ro_splice_item *last =
		order->len > 0 ? &g_array_index(order, ro_splice_item, order->len - 1) : NULL;

	if (g_array_index(runs, ro_splice_run, index).rank != rank)
		return;
	if (!last || last->kind != RO_SPLICE_RUN || last->index != index)
		append(order, RO_SPLICE_RUN, index);
}

static void append_file(GArray *order, const GArray *runs, const ro_splice_fragments *fragments,
	const img_inode *inode, guint rank, guint *packs)
{
	const ro_splice_tail *tail = ro_splice_fragments_tail(fragments, inode);

	if (inode->data_stored > 0)
		append_run(order, runs, inode->data_start, rank);
	if (!tail)
		return;
	if (fragments->kept[inode->fragment])
		append_run(order, runs, img_tree_fragment(fragments->tree, inode->fragment)->start,
			rank);
	else if (tail->pack == *packs)
		append(order, RO_SPLICE_PACK, (*packs)++);
}

static void append_hot(GArray *order, const GArray *runs, const ro_splice_fragments *fragments,
	const ro_plan *plan)
{
	guint packs = 0;

	for (guint i = 0; i < plan->files->len; i++) {
		guint32 inode = g_array_index(plan->files, ro_plan_item, i).inode;

		append_file(
			order, runs, fragments, img_tree_inode(fragments->tree, inode), i, &packs);
	}
	g_assert(packs == fragments->hot_packs);
}

static void append_cold(GArray *order, const GArray *runs, const ro_splice_fragments *fragments)
{
	for (guint i = 0; i < runs->len; i++)
		if (g_array_index(runs, ro_splice_run, i).rank == RO_SPLICE_COLD)
			append(order, RO_SPLICE_RUN, i);
	for (guint i = fragments->hot_packs; i < fragments->packs->len; i++)
		append(order, RO_SPLICE_PACK, i);
}

GArray *ro_splice_order(
	const GArray *runs, const ro_splice_fragments *fragments, const ro_plan *plan)
{
	GArray *order = g_array_new(FALSE, FALSE, sizeof(ro_splice_item));

	if (plan->layout == RO_LAYOUT_FRONT)
		append_hot(order, runs, fragments, plan);
	append_cold(order, runs, fragments);
	if (plan->layout == RO_LAYOUT_END)
		append_hot(order, runs, fragments, plan);
	g_assert(order->len == runs->len + fragments->packs->len);
	return order;
}

guint64 ro_splice_alignment(const img_tree *tree)
{
	guint64 bits = 0;

	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);

		if (inode->data_stored > 0)
			bits |= inode->data_start;
	}
	for (guint32 i = 0; i < img_tree_fragment_count(tree); i++)
		bits |= img_tree_fragment(tree, i)->start;
	return bits != 0 && bits % PAGE == 0 ? PAGE : 1;
}
