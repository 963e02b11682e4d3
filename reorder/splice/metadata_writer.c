/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/metadata_writer.h"

#include <string.h>

#include "reorder/splice/put.h"

/* In a block's 2-byte header: stored as it is. */
enum { UNCOMPRESSED = 0x8000 };

void ro_splice_metadata_init(ro_splice_metadata *metadata, ro_splice_compressor *compressor)
{
	metadata->stored = g_byte_array_new();
	metadata->compressor = compressor;
	metadata->used = 0;
}

void ro_splice_metadata_clear(ro_splice_metadata *metadata)
{
	g_clear_pointer(&metadata->stored, g_byte_array_unref);
}

static void store(ro_splice_metadata *metadata, const guint8 *data, gsize size, guint flag)
{
	guint8 header[2];

	ro_put16(header, (guint16)(size | flag));
	g_byte_array_append(metadata->stored, header, sizeof(header));
	g_byte_array_append(metadata->stored, data, (guint)size);
	metadata->used = 0;
}

gboolean ro_splice_metadata_finish(ro_splice_metadata *metadata, GError **error)
{
	const guint8 *packed;
	gsize size = 0;

	if (metadata->used == 0)
		return TRUE;
	if (metadata->compressor && !ro_splice_compress(metadata->compressor, metadata->block,
					    metadata->used, &packed, &size, error))
		return FALSE;
	if (size > 0)
		store(metadata, packed, size, 0);
	else
		store(metadata, metadata->block, metadata->used, UNCOMPRESSED);
	return TRUE;
}

gboolean ro_splice_metadata_append(
	ro_splice_metadata *metadata, gconstpointer data, gsize size, GError **error)
{
	const guint8 *from = data;

	while (size > 0) {
		gsize step = MIN(size, IMG_METADATA_BLOCK - metadata->used);

		memcpy(metadata->block + metadata->used, from, step);
		metadata->used += step;
		from += step;
		size -= step;
		if (metadata->used == IMG_METADATA_BLOCK &&
			!ro_splice_metadata_finish(metadata, error))
			return FALSE;
	}
	return TRUE;
}

guint64 ro_splice_metadata_reference(const ro_splice_metadata *metadata)
{
	return (guint64)metadata->stored->len << 16 | metadata->used;
}
