/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/metadata.h"

#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

/* In a block's 2-byte header: its size, and the bit that says that it is stored as it is. */
enum { HEADER_SIZE = 2, UNCOMPRESSED = 0x8000 };

/* Unpacked. Ten million inodes need less; a damaged or hostile image shall not take more. */
#define METADATA_MAX (512u << 20)

static gboolean damaged(const img_metadata_place *place, const char *reason, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s: %s; the image is damaged",
		place->source->label, place->what, reason);
}

/* Reads the block at position, which has to end by end; sets *stored to its size with the header.
 */
static gboolean unpack_block(const img_metadata_place *place, guint64 position, guint64 end,
	guint8 *out, gsize *unpacked, gsize *stored, GError **error)
{
	guint8 buffer[HEADER_SIZE + IMG_METADATA_BLOCK];
	gsize there = (gsize)MIN(sizeof(buffer), end - position);
	gsize size;

	if (there <= HEADER_SIZE)
		return damaged(place, "a block does not end where the table does", error);
	if (!img_source_read(place->source, position, buffer, there, error))
		return FALSE;
	size = img_le16(buffer) & (UNCOMPRESSED - 1);
	if (size == 0 || size > there - HEADER_SIZE)
		return damaged(place, "a block of impossible size", error);
	*stored = HEADER_SIZE + size;
	*unpacked = size;
	if (img_le16(buffer) & UNCOMPRESSED)
		memcpy(out, buffer + HEADER_SIZE, size);
	else
		*unpacked = img_codec_unpack(
			place->codec, buffer + HEADER_SIZE, size, out, IMG_METADATA_BLOCK);
	return *unpacked > 0 ? TRUE : damaged(place, "a block cannot be unpacked", error);
}

static gboolean append_block(GByteArray *data, const guint8 *block, gsize size,
	const img_metadata_place *place, GError **error)
{
	if (data->len % IMG_METADATA_BLOCK != 0)
		return damaged(place, "a short block that is not the last", error);
	if (data->len > METADATA_MAX - size)
		return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s: over %u MiB; not supported",
			place->source->label, place->what, METADATA_MAX >> 20);
	g_byte_array_append(data, block, (guint)size);
	return TRUE;
}

static void take(img_metadata *metadata, GByteArray *data, GArray *blocks)
{
	metadata->size = data->len;
	metadata->data = g_byte_array_free(data, FALSE);
	metadata->block_count = blocks->len;
	metadata->blocks = (guint64 *)(void *)g_array_free(blocks, FALSE);
}

gboolean img_metadata_load(img_metadata *metadata, const img_metadata_place *place, guint64 start,
	guint64 end, GError **error)
{
	g_autoptr(GByteArray) data = g_byte_array_new();
	g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(guint64));
	guint64 position = start;

	while (position < end) {
		guint8 block[IMG_METADATA_BLOCK];
		guint64 distance = position - start;
		gsize unpacked, stored;

		if (ro_interrupted(error) ||
			!unpack_block(place, position, end, block, &unpacked, &stored, error) ||
			!append_block(data, block, unpacked, place, error))
			return FALSE;
		g_array_append_val(blocks, distance);
		position += stored;
	}
	take(metadata, g_steal_pointer(&data), g_steal_pointer(&blocks));
	return TRUE;
}

/* Entries of the index, in bytes. */
enum { INDEX_ENTRY = 8 };

static gboolean load_indexed(GByteArray *data, GArray *blocks, const img_metadata_place *place,
	const guint8 *index, guint64 lower, guint64 upper, GError **error)
{
	for (guint i = 0; i < blocks->len; i++) {
		guint64 position = img_le64(index + (gsize)i * INDEX_ENTRY);
		guint8 block[IMG_METADATA_BLOCK];
		gsize unpacked, stored;

		if (position < lower || position >= upper)
			return damaged(place, "a block outside of its place", error);
		if (ro_interrupted(error) ||
			!unpack_block(place, position, upper, block, &unpacked, &stored, error) ||
			!append_block(data, block, unpacked, place, error))
			return FALSE;
		g_array_index(blocks, guint64, i) = position;
		lower = position + stored;
	}
	return TRUE;
}

gboolean img_metadata_load_table(img_metadata *metadata, const img_metadata_place *place,
	guint64 index, guint64 lower, gsize size, guint64 *first, GError **error)
{
	g_autoptr(GByteArray) data = g_byte_array_new();
	g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(guint64));
	g_autofree guint8 *positions = NULL;
	gsize count = size / IMG_METADATA_BLOCK + (size % IMG_METADATA_BLOCK != 0);

	if (size > METADATA_MAX || index > place->source->size ||
		count > (place->source->size - index) / INDEX_ENTRY)
		return damaged(place, "more entries than fit into the image", error);
	positions = g_malloc(count * INDEX_ENTRY);
	if (!img_source_read(place->source, index, positions, count * INDEX_ENTRY, error))
		return FALSE;
	g_array_set_size(blocks, (guint)count);
	if (!load_indexed(data, blocks, place, positions, lower, index, error))
		return FALSE;
	if (data->len != size)
		return damaged(place, "not as long as the superblock says", error);
	if (first && count > 0)
		*first = g_array_index(blocks, guint64, 0);
	take(metadata, g_steal_pointer(&data), g_steal_pointer(&blocks));
	return TRUE;
}

static gboolean find_block(const img_metadata *metadata, guint64 distance, gsize *found)
{
	gsize low = 0, high = metadata->block_count;

	while (low < high) {
		gsize middle = low + (high - low) / 2;

		if (metadata->blocks[middle] == distance) {
			*found = middle;
			return TRUE;
		}
		if (metadata->blocks[middle] < distance)
			low = middle + 1;
		else
			high = middle;
	}
	return FALSE;
}

const guint8 *img_metadata_at(const img_metadata *metadata, guint64 reference, gsize *available)
{
	gsize offset = (gsize)(reference & 0xffff);
	gsize block;

	if (offset >= IMG_METADATA_BLOCK || !find_block(metadata, reference >> 16, &block))
		return NULL;
	offset += block * IMG_METADATA_BLOCK;
	if (offset >= metadata->size)
		return NULL;
	*available = metadata->size - offset;
	return metadata->data + offset;
}

void img_metadata_clear(img_metadata *metadata)
{
	g_clear_pointer(&metadata->data, g_free);
	g_clear_pointer(&metadata->blocks, g_free);
	metadata->size = 0;
	metadata->block_count = 0;
}
