/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/initrd.h"

#include <string.h>

#include <lz4.h>

#include "iso/compression.h"
#include "iso/initrd-internal.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

/* Each has to be unpacked to find its end; nobody needs more. */
enum { COMPRESSED_MAX = 8 };

static const char trailer[] = CPIO_TRAILER;
static const char microcode_dir[] = "kernel/x86/microcode";

gboolean li_cpio_is_header(const guint8 *data, gsize size)
{
	return size >= CPIO_HEADER &&
	       (memcmp(data, "070701", 6) == 0 || memcmp(data, "070702", 6) == 0);
}

gboolean li_cpio_field(const guint8 *text, guint32 *value)
{
	*value = 0;
	for (guint i = 0; i < 8; i++) {
		int digit = g_ascii_xdigit_value((char)text[i]);

		if (digit < 0)
			return FALSE;
		*value = *value << 4 | (guint32)digit;
	}
	return TRUE;
}

static gsize align(gsize value, gsize to)
{
	return (value + to - 1) / to * to;
}

/* One member at the start of data: its whole length, 0 if it is broken. */
static gsize cpio_member(const guint8 *data, gsize size, const char **name)
{
	guint32 file_size, name_size;
	guint64 length;

	if (!li_cpio_is_header(data, size) || !li_cpio_field(data + CPIO_AT_SIZE, &file_size) ||
		!li_cpio_field(data + CPIO_AT_NAME_SIZE, &name_size) || name_size == 0 ||
		name_size > CPIO_NAME_MAX || name_size > size - CPIO_HEADER)
		return 0;
	*name = (const char *)data + CPIO_HEADER;
	if ((*name)[name_size - 1] != '\0')
		return 0;
	length = align(CPIO_HEADER + name_size, CPIO_ALIGN) + (guint64)file_size;
	if (length > size)
		return strcmp(*name, trailer) == 0 ? size : 0;
	return (gsize)MIN(align((gsize)length, CPIO_ALIGN), size);
}

static gboolean plain_segment(const guint8 *data, gsize size, li_segment *segment, GError **error)
{
	gsize start = (gsize)segment->offset, at = start;
	const char *name = "";

	segment->compression = "none";
	while (strcmp(name, trailer) != 0) {
		gsize length;

		if (ro_interrupted(error))
			return FALSE;
		length = cpio_member(data + at, size - at, &name);
		if (length == 0)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"initrd: the cpio archive at byte %zu is broken at byte %zu", start,
				at);
		if (g_str_has_prefix(name, microcode_dir))
			segment->microcode = TRUE;
		at += length;
	}
	segment->size = at - start;
	return TRUE;
}

static gboolean compressed_segment(
	const guint8 *data, gsize size, li_segment *segment, GError **error)
{
	gsize at = (gsize)segment->offset, length = 0;
	g_autoptr(GError) reason = NULL;

	segment->compression = li_compression_name(data + at, size - at);
	if (!segment->compression)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"initrd: neither a cpio archive (newc) nor a compression that Linux knows at byte %zu",
			at);
	if (!li_compressed_length(data + at, size - at, &length, &reason)) {
		g_prefix_error(&reason, "initrd: the segment at byte %zu: ", at);
		g_propagate_error(error, g_steal_pointer(&reason));
		return FALSE;
	}
	segment->size = length;
	return TRUE;
}

/*
 * After a plain archive the kernel wants whatever follows the zeros at a multiple of 4; a plain
 * archive has to be there in any case.
 */
static gboolean check_alignment(
	const guint8 *data, gsize at, const li_segment *before, GError **error)
{
	gboolean after_plain = before && strcmp(before->compression, "none") == 0;

	if (at % CPIO_ALIGN == 0 || (!after_plain && data[at] != '0'))
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"initrd: the segment at byte %zu does not start at a multiple of 4; Linux ignores it",
		at);
}

GArray *li_initrd_segments(const guint8 *data, gsize size, GError **error)
{
	g_autoptr(GArray) segments = g_array_new(FALSE, FALSE, sizeof(li_segment));
	gsize at = 0;
	guint compressed = 0;

	while (at < size) {
		li_segment segment = {.offset = at};
		const li_segment *before =
			segments->len > 0 ? &g_array_index(segments, li_segment, segments->len - 1)
					  : NULL;

		if (data[at] == 0) {
			at++;
			continue;
		}
		if (!check_alignment(data, at, before, error) ||
			!(data[at] == '0' ? plain_segment(data, size, &segment, error)
					  : compressed_segment(data, size, &segment, error)))
			return NULL;
		if (!g_str_equal(segment.compression, "none") && ++compressed > COMPRESSED_MAX) {
			ro_fail(error, RO_ERROR_UNSUITABLE,
				"initrd: more than %d compressed segments", COMPRESSED_MAX);
			return NULL;
		}
		g_array_append_val(segments, segment);
		at += (gsize)segment.size;
	}
	if (segments->len == 0) {
		ro_fail(error, RO_ERROR_UNSUITABLE, "initrd: empty");
		return NULL;
	}
	return g_steal_pointer(&segments);
}

static void append_zeros(GByteArray *out, gsize count)
{
	guint at = out->len;

	if (count == 0)
		return;
	g_byte_array_set_size(out, at + (guint)count);
	memset(out->data + at, 0, count);
}

static void append_member(GByteArray *out, guint number, const li_cpio_member *member)
{
	gsize name_size = strlen(member->path) + 1;
	g_autofree char *header = g_strdup_printf(
		"070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", number, member->mode,
		0u, 0u, 1u, 0u, (guint)member->size, 0u, 0u, 0u, 0u, (guint)name_size, 0u);

	g_byte_array_append(out, (const guint8 *)header, CPIO_HEADER);
	g_byte_array_append(out, (const guint8 *)member->path, (guint)name_size);
	append_zeros(out, align(out->len, CPIO_ALIGN) - out->len);
	if (member->size > 0)
		g_byte_array_append(out, member->data, (guint)member->size);
	append_zeros(out, align(out->len, CPIO_ALIGN) - out->len);
}

/* Our members together; more than this is no appendix. */
enum { APPENDIX_MAX = 1 << 30 };

static GByteArray *cpio_archive(const li_cpio_member *members, guint count, GError **error)
{
	GByteArray *out = g_byte_array_new();
	li_cpio_member end = {.path = trailer};

	for (guint i = 0; i < count; i++) {
		if (members[i].size > APPENDIX_MAX - out->len ||
			strlen(members[i].path) >= CPIO_NAME_MAX) {
			ro_fail(error, RO_ERROR_FAILED, "%s: too large for an initrd segment",
				members[i].path);
			g_byte_array_unref(out);
			return NULL;
		}
		append_member(out, i + 1, &members[i]);
	}
	append_member(out, 0, &end);
	return out;
}

/* Sectors look tidy in a hex dump; the kernel needs 4. */
enum { PAD_ALIGN = 512, PAD_BEHIND_COMPRESSED = 8 };

/* A block of a legacy frame is 8 MiB unpacked, but for the last. */
enum { LZ4_BLOCK = 8 << 20 };

static void append_le32(GByteArray *out, guint32 value)
{
	guint32 bytes = GUINT32_TO_LE(value);

	g_byte_array_append(out, (const guint8 *)&bytes, sizeof(bytes));
}

/*
 * The kernel's LZ4 goes on from frame to frame, but takes one to three zeros for the beginning of a
 * block size. From four on they end it (since 5.9), and another LZ4 frame may come behind.
 */
static GByteArray *lz4_frame(gsize zeros_before, const GByteArray *content)
{
	GByteArray *out = g_byte_array_new();
	int bound = LZ4_compressBound(LZ4_BLOCK);
	g_autofree char *block = g_malloc((gsize)bound);

	if (zeros_before > 0)
		append_zeros(out, PAD_BEHIND_COMPRESSED - MIN(PAD_BEHIND_COMPRESSED, zeros_before));
	append_le32(out, 0x184c2102);
	for (guint at = 0; at < content->len; at += LZ4_BLOCK) {
		int size = LZ4_compress_default((const char *)content->data + at, block,
			(int)MIN(LZ4_BLOCK, content->len - at), bound);

		append_le32(out, (guint32)size);
		g_byte_array_append(out, (const guint8 *)block, (guint)size);
	}
	return out;
}

static GByteArray *padded(gsize size, const li_segment *last, const GByteArray *archive)
{
	GByteArray *out = g_byte_array_new();
	gsize least = strcmp(last->compression, "none") == 0 ? 0 : PAD_BEHIND_COMPRESSED;
	gsize content_end = (gsize)(last->offset + last->size);

	/* Zeros that are there already count. */
	least -= MIN(least, size - content_end);
	append_zeros(out, align(size + least, PAD_ALIGN) - size);
	g_byte_array_append(out, archive->data, archive->len);
	return out;
}

GByteArray *li_initrd_appendix(const guint8 *initrd, gsize size, const li_cpio_member *members,
	guint member_count, GError **error)
{
	g_autoptr(GArray) segments = li_initrd_segments(initrd, size, error);
	g_autoptr(GByteArray) archive = NULL;
	const li_segment *last;

	if (!segments)
		return NULL;
	archive = cpio_archive(members, member_count, error);
	if (!archive)
		return NULL;
	last = &g_array_index(segments, li_segment, segments->len - 1);
	if (strcmp(last->compression, "lz4") == 0)
		return lz4_frame(size - (gsize)(last->offset + last->size), archive);
	return padded(size, last, archive);
}
