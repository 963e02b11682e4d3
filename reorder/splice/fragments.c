/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/fragments.h"

/* From this share of the plan's bytes on a fragment block moves as a whole: reading a little more
 * costs less than packing all of it again. */
enum { WHOLE_NUMERATOR = 7, WHOLE_DENOMINATOR = 8 };

static guint64 address(guint32 fragment, guint32 offset)
{
	return (guint64)fragment << 32 | offset;
}

static guint32 fragment_of(const ro_splice_tail *tail)
{
	return (guint32)(tail->span.start >> 32);
}

static guint32 length_of(const ro_splice_tail *tail)
{
	return (guint32)(tail->span.end - tail->span.start);
}

guint32 ro_splice_tail_size(const img_tree *tree, const img_inode *inode)
{
	if (inode->type != IMG_FILE || inode->fragment == IMG_NONE)
		return 0;
	return (guint32)(inode->size % img_tree_super(tree)->block_size);
}

static GArray *find_tails(const img_tree *tree)
{
	g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(ro_span));
	GArray *tails;

	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);
		guint32 size = ro_splice_tail_size(tree, inode);
		ro_span span;

		if (size == 0)
			continue;
		span.start = address(inode->fragment, inode->fragment_offset);
		span.end = span.start + size;
		g_array_append_val(spans, span);
	}
	ro_spans_merge(spans);
	tails = g_array_sized_new(FALSE, FALSE, sizeof(ro_splice_tail), spans->len);
	for (guint i = 0; i < spans->len; i++) {
		ro_splice_tail tail = {.span = g_array_index(spans, ro_span, i), .pack = IMG_NONE};

		g_array_append_val(tails, tail);
	}
	return tails;
}

/* The first tail that starts at or behind an address. */
static guint lower_bound(const GArray *tails, guint64 start)
{
	guint low = 0, high = tails->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(tails, ro_splice_tail, middle).span.start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

ro_splice_tail *ro_splice_fragments_tail(
	const ro_splice_fragments *fragments, const img_inode *inode)
{
	guint64 start;
	guint index;

	if (ro_splice_tail_size(fragments->tree, inode) == 0)
		return NULL;
	start = address(inode->fragment, inode->fragment_offset);
	index = lower_bound(fragments->tails, start + 1);
	g_assert(index > 0);
	return &g_array_index(fragments->tails, ro_splice_tail, index - 1);
}

void ro_splice_fragments_members(
	const ro_splice_fragments *fragments, guint32 fragment, guint *first, guint *end)
{
	*first = lower_bound(fragments->tails, address(fragment, 0));
	*end = lower_bound(fragments->tails, (guint64)(fragment + 1ull) << 32);
}

/* Appends a tail to the last pack, or to a new one if it does not fit (or fresh is set). */
static void pack_tail(ro_splice_fragments *fragments, ro_splice_tail *tail, gboolean fresh)
{
	guint32 capacity = img_tree_super(fragments->tree)->block_size;
	GArray *packs = fragments->packs;
	ro_splice_pack *pack;

	if (fresh || packs->len == 0 ||
		g_array_index(packs, ro_splice_pack, packs->len - 1).size >
			capacity - length_of(tail)) {
		ro_splice_pack empty = {0};

		g_array_append_val(packs, empty);
	}
	pack = &g_array_index(packs, ro_splice_pack, packs->len - 1);
	tail->pack = packs->len - 1;
	tail->offset = pack->size;
	pack->size += length_of(tail);
}

static ro_splice_tail *tail_of_item(
	const ro_splice_fragments *fragments, const ro_plan *plan, guint item)
{
	guint32 inode = g_array_index(plan->files, ro_plan_item, item).inode;

	return ro_splice_fragments_tail(fragments, img_tree_inode(fragments->tree, inode));
}

static void mark_hot(ro_splice_fragments *fragments, const ro_plan *plan)
{
	for (guint i = 0; i < plan->files->len; i++) {
		ro_splice_tail *tail = tail_of_item(fragments, plan, i);

		if (tail)
			tail->hot = TRUE;
	}
}

/* A block without members goes. */
static gboolean stays(const ro_splice_fragments *fragments, guint first, guint end)
{
	guint64 hot = 0, all = 0;

	for (guint i = first; i < end; i++) {
		const ro_splice_tail *tail = &g_array_index(fragments->tails, ro_splice_tail, i);

		all += length_of(tail);
		hot += tail->hot ? length_of(tail) : 0;
	}
	return all > 0 && (hot == 0 || hot * WHOLE_DENOMINATOR >= all * WHOLE_NUMERATOR);
}

static void choose_kept(ro_splice_fragments *fragments)
{
	for (guint32 i = 0; i < img_tree_fragment_count(fragments->tree); i++) {
		guint first, end;

		ro_splice_fragments_members(fragments, i, &first, &end);
		fragments->kept[i] = stays(fragments, first, end);
	}
}

static void pack_hot(ro_splice_fragments *fragments, const ro_plan *plan)
{
	for (guint i = 0; i < plan->files->len; i++) {
		ro_splice_tail *tail = tail_of_item(fragments, plan, i);

		if (tail && tail->pack == IMG_NONE && !fragments->kept[fragment_of(tail)])
			pack_tail(fragments, tail, FALSE);
	}
	fragments->hot_packs = fragments->packs->len;
}

static void pack_rest(ro_splice_fragments *fragments)
{
	for (guint i = 0; i < fragments->tails->len; i++) {
		ro_splice_tail *tail = &g_array_index(fragments->tails, ro_splice_tail, i);

		if (!tail->hot && !fragments->kept[fragment_of(tail)])
			pack_tail(fragments, tail, fragments->packs->len == fragments->hot_packs);
	}
}

ro_splice_fragments *ro_splice_fragments_new(const img_tree *tree, const ro_plan *plan)
{
	ro_splice_fragments *fragments = g_new0(ro_splice_fragments, 1);

	fragments->tree = tree;
	fragments->tails = find_tails(tree);
	fragments->packs = g_array_new(FALSE, FALSE, sizeof(ro_splice_pack));
	fragments->kept = g_new0(gboolean, img_tree_fragment_count(tree));
	fragments->new_kept = g_new0(guint32, img_tree_fragment_count(tree));
	mark_hot(fragments, plan);
	choose_kept(fragments);
	pack_hot(fragments, plan);
	pack_rest(fragments);
	fragments->new_pack = g_new0(guint32, fragments->packs->len);
	return fragments;
}

void ro_splice_fragments_free(ro_splice_fragments *fragments)
{
	if (!fragments)
		return;
	g_array_unref(fragments->tails);
	g_array_unref(fragments->packs);
	g_free(fragments->kept);
	g_free(fragments->new_pack);
	g_free(fragments->new_kept);
	g_free(fragments);
}
