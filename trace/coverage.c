/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/coverage.h"

#include <string.h>

#include "reorder/image/ext4_tree.h"
#include "reorder/util/ranges.h"

/* The unit of account: a page of the guest's cache, since that is what a loop device reads of the
 * image's file. Everything below counts in units from the start of the image. */
enum { UNIT = 4096, WINDOW = 128 * 1024 / UNIT };

/* Every unit that has a byte of [from, to). */
static void add_bytes(GArray *ranges, guint64 from, guint64 to)
{
	if (to > from)
		ro_ranges_add(ranges, from / UNIT, to / UNIT + (to % UNIT != 0));
}

/* Whether a normalised list has all units of [from, to). */
static gboolean has_bytes(const GArray *ranges, guint64 from, guint64 to)
{
	return to > from && ro_ranges_has(ranges, from / UNIT, (to - 1) / UNIT + 1);
}

/* What of the image was read. */
static GArray *image_spans(const GArray *reads, guint64 offset, guint64 size)
{
	GArray *spans = ro_ranges_new();

	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		guint64 from = MAX(read->offset, offset);
		guint64 to = MIN(read->offset + read->length, offset + size);
		if (to > from)
			add_bytes(spans, from - offset, to - offset);
	}
	ro_ranges_normalise(spans);
	return spans;
}

static GArray *metadata_spans(const img_tree *tree)
{
	GArray *spans = ro_ranges_new();

	add_bytes(spans, 0, IMG_SUPER_SIZE);
	add_bytes(spans, img_tree_metadata_start(tree), img_tree_super(tree)->bytes_used);
	ro_ranges_normalise(spans);
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

/* The inode of an event, or NULL if it is not of a file of this image. */
static const img_inode *event_file(const tr_event *event, const img_layer *layer, guint32 *index)
{
	if (event->kind != TR_FILE || g_strcmp0(event->image, layer->name) != 0)
		return NULL;
	*index = img_tree_resolve(layer->tree, event->path, FALSE);
	if (*index == IMG_NONE)
		return NULL;
	const img_inode *inode = img_tree_inode(layer->tree, *index);
	return inode->type == IMG_FILE ? inode : NULL;
}

/* Adds the data of all traced files to spans, and tells the events how much of it was read. Each
 * inode is looked at once: hard links are free. */
static void visit_files(
	const tr_trace *trace, const img_layer *layer, const GArray *read, GArray *spans)
{
	const img_tree *tree = layer->tree;
	g_autofree guint64 *bytes = g_new(guint64, img_tree_inode_count(tree));

	memset(bytes, 0xff, img_tree_inode_count(tree) * sizeof(*bytes));
	for (guint i = 0; i < trace->events->len; i++) {
		tr_event *event = g_ptr_array_index(trace->events, i);
		guint32 index;
		const img_inode *inode = event_file(event, layer, &index);

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
		g_array_index(spans, ro_range, i).end += WINDOW;
	ro_ranges_normalise(spans);
}

/*
 * The kernel reads a window ahead, and the next whole one as soon as the reader enters the last
 * (Linux: mm/readahead.c): a request that starts in a window belongs to it to its end.
 */
static GArray *read_ahead_spans(
	const GArray *windows, const GArray *reads, guint64 offset, guint64 size)
{
	GArray *spans = ro_ranges_new();

	g_array_append_vals(spans, windows->data, windows->len);
	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		if (read->offset < offset || read->offset >= offset + size)
			continue;
		guint64 from = read->offset - offset;
		if (read->length <= WINDOW * UNIT && has_bytes(windows, from, from + 1))
			add_bytes(spans, from, MIN(from + read->length, size));
	}
	ro_ranges_normalise(spans);
	return spans;
}

/* To bytes, in place. */
static GArray *in_bytes(GArray *units)
{
	for (guint i = 0; i < units->len; i++) {
		ro_range *r = &g_array_index(units, ro_range, i);

		r->start *= UNIT;
		r->end *= UNIT;
	}
	return units;
}

void tr_coverage_split(tr_trace *trace, const img_layer *layer, guint64 image_offset,
	const GArray *reads, tr_coverage_parts *parts)
{
	guint64 size = img_tree_source(layer->tree)->size;
	g_autoptr(GArray) read = image_spans(reads, image_offset, size);
	g_autoptr(GArray) metadata = metadata_spans(layer->tree);
	g_autoptr(GArray) files = ro_ranges_new();

	visit_files(trace, layer, read, files);
	ro_ranges_normalise(files);
	g_autoptr(GArray) data = ro_ranges_subtract(files, metadata);
	parts->metadata = ro_ranges_intersect(read, metadata);
	parts->data = ro_ranges_intersect(read, data);

	/* Behind all that is known and was read. */
	g_autoptr(GArray) reach = ro_ranges_new();
	g_array_append_vals(reach, parts->metadata->data, parts->metadata->len);
	g_array_append_vals(reach, parts->data->data, parts->data->len);
	ro_ranges_normalise(reach);
	g_autoptr(GArray) unknown = ro_ranges_subtract(read, reach);
	add_windows(reach);
	g_autoptr(GArray) ahead = read_ahead_spans(reach, reads, image_offset, size);
	parts->ahead = in_bytes(ro_ranges_intersect(unknown, ahead));
	parts->unexplained = in_bytes(ro_ranges_subtract(unknown, ahead));
	in_bytes(parts->metadata);
	in_bytes(parts->data);
}

void tr_coverage_parts_clear(tr_coverage_parts *parts)
{
	g_clear_pointer(&parts->metadata, g_array_unref);
	g_clear_pointer(&parts->data, g_array_unref);
	g_clear_pointer(&parts->ahead, g_array_unref);
	g_clear_pointer(&parts->unexplained, g_array_unref);
}

static void set_share(tr_coverage *c)
{
	c->coverage = 1;
	if (c->image_bytes > 0)
		c->coverage = (double)c->explained_bytes / (double)c->image_bytes;
}

void tr_coverage_add(tr_coverage *sum, const tr_coverage *other)
{
	sum->image_bytes += other->image_bytes;
	sum->explained_bytes += other->explained_bytes;
	sum->metadata_bytes += other->metadata_bytes;
	if (other->coverage < 0)
		sum->coverage = -1;
	else if (sum->coverage >= 0)
		set_share(sum);
}

void tr_coverage_check(tr_trace *trace, const img_layer *layer, guint64 image_offset,
	const GArray *reads, tr_coverage *coverage)
{
	if (img_ext4_is_tree(layer->tree)) {
		*coverage = (tr_coverage){.coverage = -1};
		return;
	}
	g_auto(tr_coverage_parts) parts = {0};
	guint64 explained;

	tr_coverage_split(trace, layer, image_offset, reads, &parts);
	coverage->metadata_bytes = ro_ranges_total(parts.metadata);
	explained = coverage->metadata_bytes + ro_ranges_total(parts.data) +
		    ro_ranges_total(parts.ahead);
	coverage->explained_bytes = explained;
	coverage->image_bytes = explained + ro_ranges_total(parts.unexplained);
	set_share(coverage);
}
