/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/overlay.h"

#include <string.h>

#include "iso/file_copy.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { CHUNK = 1 << 20 };

static void clear_change(gpointer data)
{
	g_free(((li_change *)data)->data);
}

li_overlay *li_overlay_new(int fd, guint64 size)
{
	li_overlay *overlay = g_new0(li_overlay, 1);

	overlay->fd = fd;
	overlay->size = size;
	overlay->changes = g_array_new(FALSE, FALSE, sizeof(li_change));
	g_array_set_clear_func(overlay->changes, clear_change);
	return overlay;
}

void li_overlay_free(li_overlay *overlay)
{
	if (!overlay)
		return;
	g_array_unref(overlay->changes);
	g_free(overlay);
}

static const li_change *change_at(const li_overlay *overlay, guint index)
{
	return &g_array_index(overlay->changes, li_change, index);
}

/* The first change that ends behind an offset. */
static guint find(const li_overlay *overlay, guint64 offset)
{
	guint low = 0, high = overlay->changes->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const li_change *change = change_at(overlay, middle);

		if (change->offset + change->length <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Takes the data, which is freed on failure. */
static gboolean insert(li_overlay *overlay, li_change change, GError **error)
{
	guint index = find(overlay, change.offset);
	gboolean fits =
		change.offset <= overlay->size && change.length <= overlay->size - change.offset;

	if (index < overlay->changes->len)
		fits = fits && change.offset + change.length <= change_at(overlay, index)->offset;
	if (fits) {
		g_array_insert_val(overlay->changes, index, change);
		return TRUE;
	}
	g_free(change.data);
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"the ISO has two things in one place (at byte %" G_GUINT64_FORMAT
		"); make it again",
		change.offset);
}

gboolean li_overlay_put(
	li_overlay *overlay, guint64 offset, const void *data, gsize size, GError **error)
{
	li_change change = {
		.offset = offset, .length = size, .data = g_memdup2(data, size), .fd = -1};

	return size == 0 || insert(overlay, change, error);
}

gboolean li_overlay_put_file(li_overlay *overlay, guint64 offset, guint64 length, int fd,
	guint64 content, GError **error)
{
	li_change change = {.offset = offset, .length = length, .fd = fd, .content = content};

	g_assert(content <= length);
	return insert(overlay, change, error);
}

static gboolean read_change(
	const li_change *change, guint64 position, guint8 *buffer, gsize size, GError **error)
{
	const img_source source = {change->fd, 0, change->content, "the new image"};
	gsize part = position < change->content ? MIN(size, change->content - position) : 0;

	if (change->data) {
		memcpy(buffer, change->data + position, size);
		return TRUE;
	}
	memset(buffer + part, 0, size - part);
	return part == 0 || img_source_read(&source, position, buffer, part, error);
}

gboolean li_overlay_read(
	const li_overlay *overlay, guint64 offset, void *buffer, gsize size, GError **error)
{
	const img_source below = {overlay->fd, 0, overlay->size, "the ISO"};
	guint8 *at = buffer;

	for (guint i = find(overlay, offset); size > 0; i++) {
		const li_change *change = i < overlay->changes->len ? change_at(overlay, i) : NULL;
		gsize plain = change && change->offset > offset ? MIN(size, change->offset - offset)
								: (change ? 0 : size);
		gsize changed = MIN(size - plain, change ? change->length : 0);

		if (plain > 0 && !img_source_read(&below, offset, at, plain, error))
			return FALSE;
		offset += plain;
		at += plain;
		size -= plain;
		if (!changed)
			continue;
		changed = MIN(changed, change->offset + change->length - offset);
		if (!read_change(change, offset - change->offset, at, changed, error))
			return FALSE;
		offset += changed;
		at += changed;
		size -= changed;
	}
	return TRUE;
}

gboolean li_overlay_read_node(const li_overlay *overlay, const li_node *node, guint64 position,
	void *buffer, gsize size, GError **error)
{
	guint8 *at = buffer;
	guint64 offset, length;

	while (size > 0) {
		if (!li_node_place(node, position, &offset, &length))
			return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: shorter than it should be",
				node->path);
		length = MIN(length, size);
		if (!li_overlay_read(overlay, offset, at, length, error))
			return FALSE;
		at += length;
		position += length;
		size -= length;
	}
	return TRUE;
}

gboolean li_overlay_put_node(li_overlay *overlay, const li_node *node, guint64 position,
	const void *data, gsize size, GError **error)
{
	const guint8 *at = data;
	guint64 offset, length;

	while (size > 0) {
		if (!li_node_place(node, position, &offset, &length))
			return ro_fail(error, RO_ERROR_FAILED, "%s: shorter than it should be",
				node->path);
		length = MIN(length, size);
		if (!li_overlay_put(overlay, offset, at, length, error))
			return FALSE;
		at += length;
		position += length;
		size -= length;
	}
	return TRUE;
}

static gboolean write_zeros(
	int fd, guint64 offset, guint64 length, const char *name, GError **error)
{
	g_autofree guint8 *zeros = g_malloc0(CHUNK);

	for (guint64 done = 0; done < length; done += CHUNK)
		if (!li_file_write(
			    fd, offset + done, zeros, MIN(CHUNK, length - done), name, error))
			return FALSE;
	return TRUE;
}

gboolean li_overlay_write(const li_overlay *overlay, int fd, const char *name, GError **error)
{
	for (guint i = 0; i < overlay->changes->len; i++) {
		const li_change *change = change_at(overlay, i);
		guint64 end = change->offset + change->content;
		gboolean ok;

		if (change->data)
			ok = li_file_write(
				fd, change->offset, change->data, change->length, name, error);
		else
			ok = li_file_copy(change->fd, 0, fd, change->offset, change->content, name,
				     error) &&
			     write_zeros(fd, end, change->length - change->content, name, error);
		if (!ok)
			return FALSE;
	}
	return TRUE;
}

static gboolean compare_range(const li_overlay *overlay, int fd, const char *name, guint64 offset,
	guint64 length, GError **error)
{
	const img_source file = {fd, 0, overlay->size, name};
	g_autofree guint8 *wanted = g_malloc(CHUNK), *found = g_malloc(CHUNK);

	for (guint64 end = offset + length; offset < end; offset += CHUNK) {
		gsize size = MIN(CHUNK, end - offset);

		if (ro_interrupted(error) ||
			!li_overlay_read(overlay, offset, wanted, size, error) ||
			!img_source_read(&file, offset, found, size, error))
			return FALSE;
		if (memcmp(wanted, found, size) != 0)
			return ro_fail(error, RO_ERROR_FAILED,
				"%s: not as it was written, between byte %" G_GUINT64_FORMAT
				" and %" G_GUINT64_FORMAT "; please report this",
				name, offset, offset + size);
	}
	return TRUE;
}

gboolean li_overlay_compare(
	const li_overlay *overlay, int fd, const char *name, gboolean changes_only, GError **error)
{
	if (!changes_only)
		return compare_range(overlay, fd, name, 0, overlay->size, error);
	for (guint i = 0; i < overlay->changes->len; i++) {
		const li_change *change = change_at(overlay, i);

		if (!compare_range(overlay, fd, name, change->offset, change->length, error))
			return FALSE;
	}
	return TRUE;
}
