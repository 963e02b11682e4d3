/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/coverage.h"

#include "reorder/util/error.h"
#include "reorder/util/ranges.h"
#include "trace/data_map.h"

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

static GArray *metadata_spans(const tr_data_map *map)
{
	g_autoptr(GArray) metadata = tr_data_map_metadata(map);
	GArray *spans = ro_ranges_new();

	for (guint i = 0; i < metadata->len; i++) {
		const ro_range *r = &g_array_index(metadata, ro_range, i);

		add_bytes(spans, r->start, r->end);
	}
	ro_ranges_normalise(spans);
	return spans;
}

/* Adds the pieces to spans. Gives the bytes of the file in those that were read whole; less is of
 * no use to anybody who wants them unpacked. */
static guint64 add_pieces(GArray *spans, const GArray *pieces, const GArray *read)
{
	guint64 bytes = 0;

	for (guint i = 0; i < pieces->len; i++) {
		const tr_piece *piece = &g_array_index(pieces, tr_piece, i);
		guint64 end = piece->start + piece->stored;

		add_bytes(spans, piece->start, end);
		if (has_bytes(read, piece->start, end))
			bytes += piece->bytes;
	}
	return bytes;
}

/* index: the inode of the event. */
static gboolean is_file_of(const tr_event *event, const img_layer *layer, guint32 *index)
{
	if (event->kind != TR_FILE || g_strcmp0(event->image, layer->name) != 0)
		return FALSE;
	*index = img_tree_resolve(layer->tree, event->path, FALSE);
	return *index != IMG_NONE && img_tree_inode(layer->tree, *index)->type == IMG_FILE;
}

/* Adds the data of all traced files to spans, and tells the events how much of it was read. Each
 * inode is looked at once: hard links are free. */
static void visit_files(const tr_trace *trace, const img_layer *layer, tr_data_map *map,
	const GArray *read, GArray *spans)
{
	guint32 count = img_tree_inode_count(layer->tree);
	g_autofree guint64 *bytes = g_new(guint64, count);
	g_autofree gboolean *seen = g_new0(gboolean, count);
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(tr_piece));

	for (guint i = 0; i < trace->events->len; i++) {
		tr_event *event = g_ptr_array_index(trace->events, i);
		guint32 index;

		if (!is_file_of(event, layer, &index))
			continue;
		if (!seen[index]) {
			seen[index] = TRUE;
			gboolean own = tr_data_map_pieces(map, index, pieces);
			guint64 sum = add_pieces(spans, pieces, read);
			bytes[index] = own ? sum : TR_BYTES_UNKNOWN;
		}
		if (bytes[index] != TR_BYTES_UNKNOWN)
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

gboolean tr_coverage_split(tr_trace *trace, const img_layer *layer, guint64 image_offset,
	const GArray *reads, tr_coverage_parts *parts, GError **error)
{
	g_autoptr(tr_data_map) map = tr_data_map_new(layer, error);

	if (!map)
		return FALSE;
	guint64 size = tr_data_map_size(map);
	g_autoptr(GArray) read = image_spans(reads, image_offset, size);
	g_autoptr(GArray) metadata = metadata_spans(map);
	g_autoptr(GArray) files = ro_ranges_new();

	visit_files(trace, layer, map, read, files);
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
	return TRUE;
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
	g_auto(tr_coverage_parts) parts = {0};
	g_autoptr(GError) reason = NULL;
	guint64 explained;

	if (!tr_coverage_split(trace, layer, image_offset, reads, &parts, &reason)) {
		ro_warn("%s; what the trace explains of the reads is not known", reason->message);
		*coverage = (tr_coverage){.coverage = -1};
		return;
	}
	coverage->metadata_bytes = ro_ranges_total(parts.metadata);
	explained = coverage->metadata_bytes + ro_ranges_total(parts.data) +
		    ro_ranges_total(parts.ahead);
	coverage->explained_bytes = explained;
	coverage->image_bytes = explained + ro_ranges_total(parts.unexplained);
	set_share(coverage);
}
