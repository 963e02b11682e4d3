/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/data_reader.h"

#include "reorder/image/codec.h"
#include "reorder/util/error.h"

/* Fragment blocks that a reader keeps. */
enum { CACHE_SLOTS = 8 };

typedef struct {
	guint32 fragment; /* IMG_NONE: empty */
	guint64 used;     /* at that tick */
	gsize length;
	guint8 *data; /* one block */
} cache_slot;

struct img_reader {
	const img_tree *tree;
	img_codec *codec;
	guint8 *stored; /* one block as it is in the image */
	guint8 *block;  /* one block of a stream */
	guint64 tick;
	cache_slot cache[CACHE_SLOTS];
};

img_reader *img_reader_new(const img_tree *tree, GError **error)
{
	const img_super *super = img_tree_super(tree);
	img_codec *codec = img_codec_new(super, error);
	img_reader *reader;

	if (!codec)
		return NULL;
	reader = g_new0(img_reader, 1);
	reader->tree = tree;
	reader->codec = codec;
	reader->stored = g_malloc(super->block_size);
	reader->block = g_malloc(super->block_size);
	for (guint i = 0; i < CACHE_SLOTS; i++)
		reader->cache[i].fragment = IMG_NONE;
	return reader;
}

void img_reader_free(img_reader *reader)
{
	if (!reader)
		return;
	for (guint i = 0; i < CACHE_SLOTS; i++)
		g_free(reader->cache[i].data);
	g_free(reader->block);
	g_free(reader->stored);
	img_codec_free(reader->codec);
	g_free(reader);
}

static gboolean damaged(const img_reader *reader, guint64 position, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: the data block at byte %" G_GUINT64_FORMAT
		" cannot be unpacked; the image is damaged",
		img_tree_source(reader->tree)->label, position);
}

/* Unpacks a block to what it holds; *length is the capacity before, the size after. */
static gboolean unpack(img_reader *reader, guint64 position, guint32 size_word, guint8 *out,
	gsize *length, GError **error)
{
	const img_source *source = img_tree_source(reader->tree);
	gsize stored = IMG_BLOCK_STORED_SIZE(size_word);

	if (stored == 0 || stored > img_tree_super(reader->tree)->block_size)
		return damaged(reader, position, error);
	if (size_word & IMG_BLOCK_UNCOMPRESSED) {
		if (stored > *length)
			return damaged(reader, position, error);
		*length = stored;
		return img_source_read(source, position, out, stored, error);
	}
	if (!img_source_read(source, position, reader->stored, stored, error))
		return FALSE;
	*length = img_codec_unpack(reader->codec, reader->stored, stored, out, *length);
	return *length > 0 || damaged(reader, position, error);
}

gboolean img_reader_block(img_reader *reader, guint64 position, guint32 size_word, guint8 *out,
	gsize length, GError **error)
{
	gsize unpacked = length;

	if (IMG_BLOCK_STORED_SIZE(size_word) == 0) {
		memset(out, 0, length);
		return TRUE;
	}
	if (!unpack(reader, position, size_word, out, &unpacked, error))
		return FALSE;
	return unpacked == length || damaged(reader, position, error);
}

/* The slot that holds the fragment, or the one that was not used for longest. */
static cache_slot *find_slot(img_reader *reader, guint32 fragment)
{
	cache_slot *oldest = &reader->cache[0];

	for (guint i = 0; i < CACHE_SLOTS; i++) {
		cache_slot *slot = &reader->cache[i];

		if (slot->fragment == fragment)
			return slot;
		if (slot->used < oldest->used)
			oldest = slot;
	}
	return oldest;
}

const guint8 *img_reader_fragment(img_reader *reader, guint32 index, gsize *length, GError **error)
{
	const img_fragment *fragment = img_tree_fragment(reader->tree, index);
	cache_slot *slot = find_slot(reader, index);

	if (slot->fragment != index) {
		slot->fragment = IMG_NONE;
		slot->length = img_tree_super(reader->tree)->block_size;
		if (!slot->data)
			slot->data = g_malloc(slot->length);
		if (!unpack(reader, fragment->start, fragment->size_word, slot->data, &slot->length,
			    error))
			return NULL;
		slot->fragment = index;
	}
	slot->used = ++reader->tick;
	*length = slot->length;
	return slot->data;
}

const guint8 *img_reader_tail(
	img_reader *reader, const img_inode *inode, gsize *length, GError **error)
{
	const guint8 *data;
	gsize size;

	*length = inode->size % img_tree_super(reader->tree)->block_size;
	data = img_reader_fragment(reader, inode->fragment, &size, error);
	if (!data)
		return NULL;
	if (inode->fragment_offset > size || *length > size - inode->fragment_offset) {
		ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: inode %u: its tail is not inside the fragment; the image is damaged",
			img_tree_source(reader->tree)->label, inode->number);
		return NULL;
	}
	return data + inode->fragment_offset;
}

gsize img_block_length(const img_super *super, const img_inode *inode, guint32 index)
{
	guint64 left = inode->size - (guint64)index * super->block_size;

	return (gsize)MIN(left, super->block_size);
}

void img_stream_start(img_stream *stream, img_reader *reader, const img_inode *inode)
{
	*stream = (img_stream){reader, inode, 0, inode->data_start, FALSE};
}

gboolean img_stream_next(img_stream *stream, const guint8 **data, gsize *length, GError **error)
{
	const img_inode *inode = stream->inode;
	img_reader *reader = stream->reader;

	*length = 0;
	if (stream->next < inode->block_count) {
		guint32 index = stream->next++;
		guint64 position = stream->position;

		stream->position += IMG_BLOCK_STORED_SIZE(inode->blocks[index]);
		*length = img_block_length(img_tree_super(reader->tree), inode, index);
		*data = reader->block;
		return img_reader_block(
			reader, position, inode->blocks[index], reader->block, *length, error);
	}
	if (stream->done || inode->fragment == IMG_NONE)
		return TRUE;
	stream->done = TRUE;
	*data = img_reader_tail(reader, inode, length, error);
	return *data != NULL;
}
