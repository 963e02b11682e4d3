/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the content of files out of a squashfs image.
 *
 * A reader serves one thread at a time; any number of readers may share a tree. Its memory is a few
 * blocks.
 */
#ifndef IMG_DATA_READER_H
#define IMG_DATA_READER_H

#include "reorder/image/image_tree.h"

typedef struct img_reader img_reader;

/* The tree has to outlive the reader. */
img_reader *img_reader_new(const img_tree *tree, GError **error);
void img_reader_free(img_reader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(img_reader, img_reader_free)

/*
 * Unpacks the data block that is stored at position with that size word (0: a hole) to exactly
 * length bytes, at most the image's block size.
 */
gboolean img_reader_block(img_reader *reader, guint64 position, guint32 size_word, guint8 *out,
	gsize length, GError **error);

/* An unpacked fragment block, valid until the next call; NULL with error set if it is broken. */
const guint8 *img_reader_fragment(img_reader *reader, guint32 index, gsize *length, GError **error);

/* The bytes of an inode that lie in a fragment, size % block size of them; likewise. */
const guint8 *img_reader_tail(
	img_reader *reader, const img_inode *inode, gsize *length, GError **error);

/* The content of a file from its start to its end, in pieces of at most the block size. */
typedef struct {
	img_reader *reader;
	const img_inode *inode;
	guint32 next; /* block */
	guint64 position;
	gboolean done;
} img_stream;

void img_stream_start(img_stream *stream, img_reader *reader, const img_inode *inode);

/* *length is 0 at the end. The bytes are valid until the next call for this reader. */
gboolean img_stream_next(img_stream *stream, const guint8 **data, gsize *length, GError **error);

/* Unpacked length of data block number index of a file. */
gsize img_block_length(const img_super *super, const img_inode *inode, guint32 index);

#endif
