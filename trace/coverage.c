/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/coverage.h"

#include <string.h>

/* The unit of account: a page of the guest's cache, since that is what a loop device reads of the
 * image's file. Everything below counts in units from the start of the image. */
enum { UNIT = 4096, WINDOW = 128 * 1024 / UNIT };

/* [start, end) */
typedef struct {
	guint64 start, end;
} span;

static GArray *spans_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(span));
}

/* Every unit that has a byte of [from, to). */
static void add_bytes(GArray *spans, guint64 from, guint64 to)
{
	span s = {from / UNIT, to / UNIT + (to % UNIT != 0)};

	if (to > from)
		g_array_append_val(spans, s);
}

static gint by_start(gconstpointer a, gconstpointer b)
{
	const span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts, and makes one of those that overlap or touch. */
static void normalise(GArray *spans)
{
	span *s = (span *)spans->data;
	guint kept = 0;

	g_array_sort(spans, by_start);
	for (guint i = 1; i < spans->len; i++) {
		if (s[i].start <= s[kept].end)
			s[kept].end = MAX(s[kept].end, s[i].end);
		else
			s[++kept] = s[i];
	}
	if (spans->len > 0)
		g_array_set_size(spans, kept + 1);
}

/* Of two normalised lists; the result is one, too. */
static GArray *intersect(const GArray *a, const GArray *b)
{
	GArray *both = spans_new();

	for (guint i = 0, j = 0; i < a->len && j < b->len;) {
		const span *x = &g_array_index(a, span, i), *y = &g_array_index(b, span, j);
		span common = {MAX(x->start, y->start), MIN(x->end, y->end)};
		if (common.end > common.start)
			g_array_append_val(both, common);
		if (x->end < y->end)
			i++;
		else
			j++;
	}
	return both;
}

static guint64 total_bytes(const GArray *spans)
{
	guint64 units = 0;

	for (guint i = 0; i < spans->len; i++) {
		const span *s = &g_array_index(spans, span, i);
		units += s->end - s->start;
	}
	return units * UNIT;
}

/* Whether a normalised list has all units of [from, to). */
static gboolean has_bytes(const GArray *spans, guint64 from, guint64 to)
{
	guint low = 0, high = spans->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (g_array_index(spans, span, middle).start <= from / UNIT)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && to > from && g_array_index(spans, span, low - 1).end > (to - 1) / UNIT;
}

/* What of the image was read. */
static GArray *image_spans(const GArray *reads, guint64 offset, guint64 size)
{
	GArray *spans = spans_new();

	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		guint64 from = MAX(read->offset, offset);
		guint64 to = MIN(read->offset + read->length, offset + size);
		if (to > from)
			add_bytes(spans, from - offset, to - offset);
	}
	normalise(spans);
	return spans;
}

static GArray *metadata_spans(const img_tree *tree)
{
	GArray *spans = spans_new();

	add_bytes(spans, 0, IMG_SUPER_SIZE);
	add_bytes(spans, img_tree_metadata_start(tree), img_tree_super(tree)->bytes_used);
	normalise(spans);
	return spans;
}

static gboolean fragment_of(
	const img_tree *tree, const img_inode *inode, guint64 *from, guint64 *to)
{
	if (inode->fragment >= img_tree_fragment_count(tree))
		return FALSE;
	const img_fragment *fragment = img_tree_fragment(tree, inode->fragment);
	*from = fragment->start;
	*to = fragment->start + IMG_BLOCK_STORED_SIZE(fragment->size_word);
	return TRUE;
}

static void add_file(GArray *spans, const img_tree *tree, const img_inode *inode)
{
	guint64 from, to;

	if (inode->block_count > 0)
		add_bytes(spans, inode->data_start, inode->data_start + inode->data_stored);
	if (fragment_of(tree, inode, &from, &to))
		add_bytes(spans, from, to);
}

/* Unpacked bytes of the file's blocks that were read whole; less is of no use to anybody who wants
 * them unpacked. */
static guint64 bytes_read(const img_tree *tree, const img_inode *inode, const GArray *read)
{
	guint64 block_size = img_tree_super(tree)->block_size;
	guint64 at = inode->data_start, rest = inode->size, bytes = 0;
	guint64 from, to;

	for (guint32 i = 0; i < inode->block_count; i++) {
		guint64 stored = IMG_BLOCK_STORED_SIZE(inode->blocks[i]);
		guint64 unpacked = MIN(rest, block_size);
		if (has_bytes(read, at, at + stored))
			bytes += unpacked;
		at += stored;
		rest -= unpacked;
	}
	if (fragment_of(tree, inode, &from, &to) && has_bytes(read, from, to))
		bytes += rest;
	return bytes;
}

/* The inode of an event, or NULL if the image doesn't have this file. */
static const img_inode *event_file(
	const tr_trace *trace, const tr_event *event, const img_tree *tree, guint32 *index)
{
	if (event->kind != TR_FILE || (trace->image && g_strcmp0(event->image, trace->image) != 0))
		return NULL;
	*index = img_tree_resolve(tree, event->path, FALSE);
	if (*index == IMG_NONE)
		return NULL;
	const img_inode *inode = img_tree_inode(tree, *index);
	return inode->type == IMG_FILE ? inode : NULL;
}

/* Adds the data of all traced files to spans, and tells the events how much of it was read. Each
 * inode is looked at once: hard links are free. */
static void visit_files(tr_trace *trace, const img_tree *tree, const GArray *read, GArray *spans)
{
	g_autofree guint64 *bytes = g_new(guint64, img_tree_inode_count(tree));

	memset(bytes, 0xff, img_tree_inode_count(tree) * sizeof(*bytes));
	for (guint i = 0; i < trace->events->len; i++) {
		tr_event *event = g_ptr_array_index(trace->events, i);
		guint32 index;
		const img_inode *inode = event_file(trace, event, tree, &index);

		if (!inode)
			continue;
		if (bytes[index] == TR_BYTES_UNKNOWN) {
			add_file(spans, tree, inode);
			bytes[index] = bytes_read(tree, inode, read);
		}
		if (inode->block_count > 0)
			event->bytes = bytes[index];
	}
}

/* The units of a normalised list, each with the window of the kernel's read-ahead behind it. */
static void add_windows(GArray *spans)
{
	for (guint i = 0; i < spans->len; i++)
		g_array_index(spans, span, i).end += WINDOW;
	normalise(spans);
}

/*
 * The kernel reads a window ahead, and the next whole one as soon as the reader enters the last
 * (Linux: mm/readahead.c): a request that starts in a window belongs to it to its end.
 */
static GArray *read_ahead_spans(
	const GArray *windows, const GArray *reads, guint64 offset, guint64 size)
{
	GArray *spans = spans_new();

	g_array_append_vals(spans, windows->data, windows->len);
	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		if (read->offset < offset || read->offset >= offset + size)
			continue;
		guint64 from = read->offset - offset;
		if (read->length <= WINDOW * UNIT && has_bytes(windows, from, from + 1))
			add_bytes(spans, from, MIN(from + read->length, size));
	}
	normalise(spans);
	return spans;
}

void tr_coverage_check(tr_trace *trace, const img_tree *tree, guint64 image_offset,
	const GArray *reads, tr_coverage *coverage)
{
	g_autoptr(GArray) read = image_spans(reads, image_offset, img_tree_source(tree)->size);
	g_autoptr(GArray) metadata = metadata_spans(tree);
	g_autoptr(GArray) known = metadata_spans(tree);

	visit_files(trace, tree, read, known);
	normalise(known);
	g_autoptr(GArray) metadata_read = intersect(read, metadata);
	g_autoptr(GArray) reach = intersect(read, known);
	add_windows(reach);
	g_autoptr(GArray) ahead =
		read_ahead_spans(reach, reads, image_offset, img_tree_source(tree)->size);
	g_autoptr(GArray) explained = intersect(read, ahead);

	coverage->image_bytes = total_bytes(read);
	coverage->explained_bytes = total_bytes(explained);
	coverage->metadata_bytes = total_bytes(metadata_read);
	coverage->coverage = 1;
	if (coverage->image_bytes > 0)
		coverage->coverage =
			(double)coverage->explained_bytes / (double)coverage->image_bytes;
}
