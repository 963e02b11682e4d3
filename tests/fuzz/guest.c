/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a guest's agent tells: frames with right checksums, out of an input of a type (u8), a length
 * (u16, little-endian) and so many bytes each. A trace of it can be read again.
 */
#include "reorder/image/image_tree-internal.h"
#include "tests/fuzz/fuzz.h"
#include "trace/agent/protocol.h"
#include "trace/guest.h"
#include "trace/trace.h"

#define IMAGE "/live/filesystem.squashfs"

enum { HEADER = 3 };

static void add(img_tree *tree, img_type type, const char *name, guint32 parent, guint32 nlink)
{
	img_inode inode = {.type = type, .nlink = nlink, .first_entry = tree->entries->len};
	img_children children = {0, 0};
	img_entry entry = {name, parent, tree->inodes->len};

	if (!name)
		inode.first_entry = IMG_NONE;
	g_array_append_val(tree->inodes, inode);
	g_array_append_val(tree->children, children);
	if (name)
		g_array_append_val(tree->entries, entry);
}

/* /bin/sh, /dev, /usr; the file may have another name. */
static img_tree *tree_new(void)
{
	static const img_source source = {.fd = -1, .label = "fuzz"};
	img_tree *tree = img_tree_new(&source);

	add(tree, IMG_DIR, NULL, IMG_NONE, 1);
	add(tree, IMG_DIR, "bin", IMG_NONE, 1);
	add(tree, IMG_DIR, "dev", IMG_NONE, 1);
	add(tree, IMG_DIR, "usr", IMG_NONE, 1);
	add(tree, IMG_FILE, "sh", 0, 2);
	g_array_index(tree->children, img_children, 0) = (img_children){0, 3};
	g_array_index(tree->children, img_children, 1) = (img_children){3, 1};
	return tree;
}

static void append_escaped(GByteArray *line, guint8 byte)
{
	const guint8 end[] = {TR_SLIP_ESC, TR_SLIP_ESC_END}, esc[] = {TR_SLIP_ESC, TR_SLIP_ESC_ESC};

	if (byte == TR_SLIP_END)
		g_byte_array_append(line, end, sizeof(end));
	else if (byte == TR_SLIP_ESC)
		g_byte_array_append(line, esc, sizeof(esc));
	else
		g_byte_array_append(line, &byte, 1);
}

static void append_frame(
	GByteArray *line, guint8 type, guint32 sequence, const guint8 *payload, guint16 length)
{
	static const guint8 end = TR_SLIP_END;
	guint8 frame[TR_FRAME_MAX] = {type};
	gsize size = TR_FRAME_HEADER + length;

	tr_put32(frame + 1, sequence);
	tr_put16(frame + 5, length);
	memcpy(frame + TR_FRAME_HEADER, payload, length);
	tr_put32(frame + size, tr_crc32(0, frame, size));
	for (gsize i = 0; i < size + TR_FRAME_TRAILER; i++)
		append_escaped(line, frame[i]);
	g_byte_array_append(line, &end, 1);
}

static GByteArray *make_line(const guint8 *data, gsize size)
{
	GByteArray *line = g_byte_array_new();

	for (guint32 sequence = 0; size >= HEADER; sequence++) {
		gsize length = MIN(MIN(tr_get16(data + 1), size - HEADER), TR_PAYLOAD_MAX);

		append_frame(line, data[0], sequence, data + HEADER, (guint16)length);
		data += HEADER + length;
		size -= HEADER + length;
	}
	return line;
}

static void check_trace(tr_guest *guest)
{
	g_autoptr(tr_trace) trace = tr_trace_new(), again = NULL;
	GString *text;

	trace->kernel_version = g_strdup(guest->release);
	trace->end_time = guest->now;
	g_ptr_array_unref(trace->events);
	trace->events = tr_events_steal(guest->events);
	text = tr_trace_format(trace);
	again = tr_trace_parse("again", text->str, text->len, NULL);
	g_assert_nonnull(again);
	g_string_free(text, TRUE);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	g_autoptr(GByteArray) line = make_line(data, size);
	g_autoptr(img_tree) tree = tree_new();
	const img_layer layer = {.name = IMAGE, .tree = tree};
	tr_guest *guest = tr_guest_new(&layer, 1);

	tr_guest_push(guest, line->data, line->len);
	g_assert_cmpuint(tr_frames_get_counts(guest->frames)->bad, ==, 0);
	check_trace(guest);
	tr_guest_free(guest);
	return 0;
}
