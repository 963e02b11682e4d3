/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts: Linux, fs/squashfs/squashfs_fs.h, squashfs_reg_inode and its like. */
#include "reorder/splice/inode.h"

#include <string.h>

#include "reorder/image/le.h"
#include "reorder/splice/put.h"
#include "reorder/splice/runs.h"
#include "reorder/util/error.h"

enum { TYPE_DIR = 1, TYPE_FILE = 2, EXTENDED = 7 /* types from 8 on */ };

/* Bytes of the fixed parts. */
enum {
	BASE = 16,
	FILE_SIZE = 32,
	EXTENDED_FILE_SIZE = 56,
	DIR_SIZE = 32,
	EXTENDED_DIR_SIZE = 40,
	SYMLINK_SIZE = 24,
};

/* A directory's size counts "." and ".." with three bytes that are not there. */
enum { DIR_EXTRA = 3 };

static gsize special_size(const img_inode *inode)
{
	gboolean device = inode->type == IMG_BLOCK_DEVICE || inode->type == IMG_CHAR_DEVICE;

	return BASE + 4 + (device ? 4 : 0);
}

/* Bytes of an inode; without the index of directories. */
static gsize inode_size(const img_inode *inode, gboolean extended)
{
	switch (inode->type) {
	case IMG_DIR:
		return extended ? EXTENDED_DIR_SIZE : DIR_SIZE;
	case IMG_FILE:
		return (extended ? EXTENDED_FILE_SIZE : FILE_SIZE) + (gsize)inode->block_count * 4;
	case IMG_SYMLINK:
		return SYMLINK_SIZE + strlen(inode->target) + (extended ? 4 : 0);
	default:
		return special_size(inode) + (extended ? 4 : 0);
	}
}

/* New fragment number and offset of a file; IMG_NONE if it has no tail. */
static guint32 move_tail(
	const ro_splice_fragments *fragments, const img_inode *inode, guint32 *offset)
{
	const ro_splice_tail *tail = ro_splice_fragments_tail(fragments, inode);

	*offset = 0;
	if (!tail)
		return IMG_NONE;
	*offset = inode->fragment_offset;
	if (tail->pack == IMG_NONE)
		return fragments->new_kept[inode->fragment];
	*offset = tail->offset + (inode->fragment_offset - (guint32)tail->span.start);
	return fragments->new_pack[tail->pack];
}

static void make_extended_file(GByteArray *raw, const guint8 *old, const img_inode *inode,
	guint64 start, guint32 fragment, guint32 offset)
{
	gboolean extended = img_le16(old) > EXTENDED;
	guint8 head[EXTENDED_FILE_SIZE] = {0};

	memcpy(head, old, extended ? EXTENDED_FILE_SIZE : BASE);
	ro_put16(head, EXTENDED + TYPE_FILE);
	ro_put64(head + 16, start);
	ro_put64(head + 24, inode->size);
	ro_put32(head + 40, inode->nlink);
	ro_put32(head + 44, fragment);
	ro_put32(head + 48, offset);
	ro_put32(head + 52, inode->xattr);
	g_byte_array_append(raw, head, sizeof(head));
}

static void make_basic_file(
	GByteArray *raw, const guint8 *old, guint64 start, guint32 fragment, guint32 offset)
{
	guint8 head[FILE_SIZE];

	memcpy(head, old, sizeof(head));
	ro_put32(head + 16, (guint32)start);
	ro_put32(head + 20, fragment);
	ro_put32(head + 24, offset);
	g_byte_array_append(raw, head, sizeof(head));
}

static void make_file(const ro_splice_inode_source *source, const img_inode *inode,
	const guint8 *old, GByteArray *raw)
{
	gboolean extended = img_le16(old) > EXTENDED;
	guint64 start = inode->data_start;
	guint32 fragment, offset;

	if (inode->data_stored > 0)
		start = ro_splice_runs_move(source->runs, start);
	fragment = move_tail(source->fragments, inode, &offset);
	if (extended || start > G_MAXUINT32)
		make_extended_file(raw, old, inode, start, fragment, offset);
	else
		make_basic_file(raw, old, start, fragment, offset);
	g_byte_array_append(raw, old + inode_size(inode, extended) - (gsize)inode->block_count * 4,
		inode->block_count * 4);
}

/* Both forms have the number of the parent directory at byte 28. */
static void make_extended_directory(GByteArray *raw, const guint8 *old, const img_inode *inode,
	const ro_splice_listing *listing)
{
	gboolean extended = img_le16(old) > EXTENDED;
	guint8 head[EXTENDED_DIR_SIZE] = {0};

	memcpy(head, old, BASE);
	ro_put16(head, EXTENDED + TYPE_DIR);
	ro_put32(head + 16, inode->nlink);
	ro_put32(head + 20, (guint32)listing->size + DIR_EXTRA);
	ro_put32(head + 24, (guint32)(listing->reference >> 16));
	memcpy(head + 28, old + 28, 4);
	ro_put16(head + 32, (guint16)listing->index_count);
	ro_put16(head + 34, (guint16)listing->reference);
	ro_put32(head + 36, extended ? inode->xattr : IMG_NONE);
	g_byte_array_append(raw, head, sizeof(head));
	g_byte_array_append(raw, listing->index->data, listing->index->len);
}

static void make_basic_directory(
	GByteArray *raw, const guint8 *old, const ro_splice_listing *listing)
{
	guint8 head[DIR_SIZE];

	memcpy(head, old, sizeof(head));
	ro_put32(head + 16, (guint32)(listing->reference >> 16));
	ro_put16(head + 24, (guint16)(listing->size + DIR_EXTRA));
	ro_put16(head + 26, (guint16)listing->reference);
	g_byte_array_append(raw, head, sizeof(head));
}

static void make_directory(GByteArray *raw, const guint8 *old, const img_inode *inode,
	const ro_splice_listing *listing)
{
	if (img_le16(old) > EXTENDED || listing->size > G_MAXUINT16 - DIR_EXTRA)
		make_extended_directory(raw, old, inode, listing);
	else
		make_basic_directory(raw, old, listing);
}

gboolean ro_splice_inode_make(const ro_splice_inode_source *source, guint32 index,
	const ro_splice_listing *listing, GByteArray *raw, GError **error)
{
	const img_inode *inode = img_tree_inode(source->tree, index);
	const guint8 *old;
	gsize available = 0, size;

	old = img_metadata_at(&source->old, inode->inode_ref, &available);
	size = old && available >= BASE ? inode_size(inode, img_le16(old) > EXTENDED) : 0;
	/* The tree has checked it; the file may have changed since. */
	if (size == 0 || size > available)
		return ro_fail(error, RO_ERROR_FAILED, "%s: changed while it was read",
			img_tree_source(source->tree)->label);
	if (inode->type == IMG_FILE)
		make_file(source, inode, old, raw);
	else if (inode->type == IMG_DIR)
		make_directory(raw, old, inode, listing);
	else
		g_byte_array_append(raw, old, (guint)size);
	return TRUE;
}
