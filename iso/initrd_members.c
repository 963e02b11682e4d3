/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/initrd_members.h"

#include <string.h>
#include <sys/stat.h>

#include "iso/compression.h"
#include "iso/initrd-internal.h"
#include "reorder/util/error.h"

typedef enum { STATE_HEADER, STATE_NAME, STATE_DATA, STATE_SKIP } state;

/* An archive that comes in pieces. */
typedef struct {
	const li_member_visitor *visitor;
	li_member member;
	state state;
	GByteArray *held;   /* what is there of the part that is being collected */
	gsize wanted;       /* bytes of that part */
	gsize name_padding; /* behind the member's name */
	guint64 skip;       /* bytes to let pass; the member's data or padding */
	char *name;
	gboolean broken, enough;
} walker;

static void collect(walker *w, state next, gsize bytes)
{
	w->state = next;
	w->wanted = bytes;
	g_byte_array_set_size(w->held, 0);
}

static void skip(walker *w, guint64 bytes)
{
	w->state = STATE_SKIP;
	w->skip = bytes;
	g_byte_array_set_size(w->held, 0);
}

static guint64 padding(guint64 position)
{
	return (0 - position) % CPIO_ALIGN;
}

static void give(walker *w)
{
	w->enough = !w->visitor->take(&w->member, w->visitor->user);
	w->member.data = NULL;
}

static gboolean end_header(walker *w)
{
	const guint8 *h = w->held->data;
	guint32 name_size;

	if (!li_cpio_is_header(h, w->held->len) ||
		!li_cpio_field(h + CPIO_AT_MODE, &w->member.mode) ||
		!li_cpio_field(h + CPIO_AT_SIZE, &w->member.size) ||
		!li_cpio_field(h + CPIO_AT_NAME_SIZE, &name_size) || name_size == 0 ||
		name_size > CPIO_NAME_MAX)
		return FALSE;
	w->name_padding = (gsize)padding(CPIO_HEADER + name_size);
	collect(w, STATE_NAME, name_size);
	return TRUE;
}

static const char *plain_path(const char *path)
{
	while (path[0] == '/' || (path[0] == '.' && path[1] == '/'))
		path++;
	return path;
}

static gboolean is_wanted(const walker *w)
{
	return S_ISREG(w->member.mode) && w->visitor->wants && w->member.size > 0 &&
	       w->member.size <= w->visitor->limit &&
	       w->visitor->wants(&w->member, w->visitor->user);
}

static gboolean end_name(walker *w)
{
	if (w->held->data[w->held->len - 1] != '\0')
		return FALSE;
	g_free(w->name);
	w->name = g_strdup((const char *)w->held->data);
	w->member.path = plain_path(w->name);
	if (strcmp(w->name, CPIO_TRAILER) == 0) {
		skip(w, w->name_padding + w->member.size);
		return TRUE;
	}
	if (is_wanted(w)) {
		collect(w, STATE_DATA, w->name_padding + w->member.size);
		return TRUE;
	}
	give(w);
	skip(w, w->name_padding + w->member.size + padding(w->member.size));
	return TRUE;
}

static void end_data(walker *w)
{
	w->member.data = w->held->data + w->name_padding;
	give(w);
	skip(w, padding(w->member.size));
}

static gboolean end_part(walker *w)
{
	if (w->state == STATE_HEADER)
		return end_header(w);
	if (w->state == STATE_NAME)
		return end_name(w);
	end_data(w);
	return TRUE;
}

/* Between archives there may be zeros. */
static gsize take_zeros(const walker *w, const guint8 *data, gsize size)
{
	gsize zeros = 0;

	if (w->state == STATE_HEADER && w->held->len == 0)
		while (zeros < size && data[zeros] == 0)
			zeros++;
	return zeros;
}

static gsize take_skipped(walker *w, gsize size)
{
	gsize skipped = (gsize)MIN(w->skip, size);

	w->skip -= skipped;
	return skipped;
}

static gsize take_part(walker *w, const guint8 *data, gsize size)
{
	gsize part = MIN(w->wanted - w->held->len, size);

	g_byte_array_append(w->held, data, (guint)part);
	if (w->held->len == w->wanted)
		w->broken = !end_part(w);
	return part;
}

static gboolean feed(const guint8 *data, gsize size, gpointer user)
{
	walker *w = user;

	while (size > 0 && !w->broken && !w->enough) {
		gsize taken = take_zeros(w, data, size);

		if (taken == 0)
			taken = w->state == STATE_SKIP ? take_skipped(w, size)
						       : take_part(w, data, size);
		if (w->state == STATE_SKIP && w->skip == 0)
			collect(w, STATE_HEADER, CPIO_HEADER);
		data += taken;
		size -= taken;
	}
	return !w->broken && !w->enough;
}

static gboolean visit_segment(
	walker *w, const guint8 *data, const li_segment *segment, GError **error)
{
	gboolean plain = g_str_equal(segment->compression, "none");

	collect(w, STATE_HEADER, CPIO_HEADER);
	w->skip = 0;
	if (plain)
		feed(data + segment->offset, (gsize)segment->size, w);
	else if (!li_unpack(data + segment->offset, (gsize)segment->size, feed, w, error))
		return FALSE;
	/* The last padding may be missing. */
	if (!w->enough && (w->broken || w->held->len > 0 || w->skip >= CPIO_ALIGN))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"initrd: the segment at byte %" G_GUINT64_FORMAT
			" holds a broken cpio archive or none",
			segment->offset);
	return TRUE;
}

gboolean li_initrd_visit(const guint8 *data, const GArray *segments, guint first,
	const li_member_visitor *visitor, GError **error)
{
	walker w = {.visitor = visitor, .held = g_byte_array_new()};
	gboolean ok = TRUE;

	for (guint i = first; ok && i < segments->len && !w.enough; i++) {
		w.member.segment = i;
		ok = visit_segment(&w, data, &g_array_index(segments, li_segment, i), error);
	}
	g_byte_array_unref(w.held);
	g_free(w.name);
	return ok;
}
