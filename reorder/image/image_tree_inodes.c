/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the inodes of a squashfs image. Layouts: Linux, fs/squashfs/squashfs_fs.h. */
#include "reorder/image/image_tree_load-internal.h"

#include <string.h>

#include "reorder/image/le.h"

enum { MAX_TARGET = 65535 };

/* Data blocks lie between the superblock and the tables. */
gboolean img_loader_check_extent(
	const img_loader *load, guint64 start, guint64 size, GError **error)
{
	guint64 end = load->tree->super.inode_table;

	if (start < IMG_SUPER_SIZE || start > end || size > end - start)
		return img_loader_damaged(load, error,
			"data at byte %" G_GUINT64_FORMAT " lies outside of the data area", start);
	return TRUE;
}

gboolean img_loader_check_word(const img_loader *load, guint32 word, GError **error)
{
	if ((word & ~(IMG_BLOCK_UNCOMPRESSED | (IMG_BLOCK_UNCOMPRESSED - 1))) != 0 ||
		IMG_BLOCK_STORED_SIZE(word) > load->tree->super.block_size)
		return img_loader_damaged(
			load, error, "a data block of impossible size (%#x)", word);
	return TRUE;
}

/* Counts the bytes of an inode; FALSE if they are not there. */
static gboolean claim(img_loader *load, const img_raw_inode *raw, gsize bytes, GError **error)
{
	if (bytes > raw->size)
		return img_loader_damaged(
			load, error, "an inode does not end where the table does");
	if (bytes > load->inodes.size - load->inode_bytes)
		return img_loader_damaged(load, error, "inodes overlap");
	load->inode_bytes += bytes;
	return TRUE;
}

static gboolean read_directory(img_loader *load, const img_raw_inode *raw, img_inode *inode,
	img_listing *list, GError **error)
{
	const guint8 *body = raw->raw + IMG_INODE_HEADER;

	/* The lookup index of the extended form stays unread: its names are in the listing too. */
	if (!claim(load, raw, raw->extended ? 40 : 32, error))
		return FALSE;
	if (raw->extended) {
		inode->nlink = img_le32(body);
		list->size = img_le32(body + 4);
		list->reference = (guint64)img_le32(body + 8) << 16 | img_le16(body + 18);
		inode->xattr = img_le32(body + 20);
	} else {
		list->reference = (guint64)img_le32(body) << 16 | img_le16(body + 10);
		inode->nlink = img_le32(body + 4);
		list->size = img_le16(body + 8);
	}
	return TRUE;
}

/* Where the parts of a file inode are in its two forms. */
static void read_file_header(const img_raw_inode *raw, img_inode *inode)
{
	const guint8 *body = raw->raw + IMG_INODE_HEADER;

	if (raw->extended) {
		inode->data_start = img_le64(body);
		inode->size = img_le64(body + 8);
		inode->nlink = img_le32(body + 24);
		inode->fragment = img_le32(body + 28);
		inode->fragment_offset = img_le32(body + 32);
		inode->xattr = img_le32(body + 36);
	} else {
		inode->data_start = img_le32(body);
		inode->nlink = 1;
		inode->fragment = img_le32(body + 4);
		inode->fragment_offset = img_le32(body + 8);
		inode->size = img_le32(body + 12);
	}
}

static gboolean check_fragment(const img_loader *load, const img_inode *inode, GError **error)
{
	guint32 block_size = load->tree->super.block_size;
	guint32 tail = (guint32)(inode->size % block_size);

	if (inode->fragment == IMG_NONE)
		return TRUE;
	if (inode->fragment >= load->tree->super.fragment_count)
		return img_loader_damaged(load, error, "inode %u: fragment %u is not there",
			inode->number, inode->fragment);
	if (inode->fragment_offset > block_size - tail)
		return img_loader_damaged(load, error,
			"inode %u: its tail is not inside the fragment", inode->number);
	return TRUE;
}

static gboolean read_words(img_loader *load, const guint8 *raw, img_inode *inode, GError **error)
{
	guint32 *words = load->tree->words + load->words_used;

	inode->blocks = words;
	for (guint32 i = 0; i < inode->block_count; i++) {
		words[i] = img_le32(raw + (gsize)i * sizeof(guint32));
		if (!img_loader_check_word(load, words[i], error))
			return FALSE;
		inode->data_stored += IMG_BLOCK_STORED_SIZE(words[i]);
	}
	load->words_used += inode->block_count;
	return inode->data_stored == 0 ||
	       img_loader_check_extent(load, inode->data_start, inode->data_stored, error);
}

static gboolean read_file(
	img_loader *load, const img_raw_inode *raw, img_inode *inode, GError **error)
{
	guint32 block_size = load->tree->super.block_size;
	gsize header = raw->extended ? 56 : 32;
	guint64 count;

	if (header > raw->size)
		return claim(load, raw, header, error);
	read_file_header(raw, inode);
	count = inode->size / block_size;
	if (inode->fragment == IMG_NONE && inode->size % block_size != 0)
		count++;
	if (count > (raw->size - header) / sizeof(guint32) ||
		count > load->words_max - load->words_used)
		return img_loader_damaged(load, error,
			"inode %u: %" G_GUINT64_FORMAT " data blocks are more than fit",
			inode->number, count);
	inode->block_count = (guint32)count;
	return claim(load, raw, header + count * sizeof(guint32), error) &&
	       check_fragment(load, inode, error) &&
	       read_words(load, raw->raw + header, inode, error);
}

static gboolean read_symlink(
	img_loader *load, const img_raw_inode *raw, img_inode *inode, GError **error)
{
	const guint8 *body = raw->raw + IMG_INODE_HEADER;
	gsize length;

	if (raw->size < 24)
		return claim(load, raw, 24, error);
	inode->nlink = img_le32(body);
	length = img_le32(body + 4);
	if (length == 0 || length > MAX_TARGET)
		return img_loader_damaged(load, error,
			"inode %u: a symlink of %" G_GSIZE_FORMAT " bytes", inode->number, length);
	if (!claim(load, raw, 24 + length + (raw->extended ? 4 : 0), error))
		return FALSE;
	if (memchr(body + 8, '\0', length))
		return img_loader_damaged(
			load, error, "inode %u: a symlink with a NUL in it", inode->number);
	inode->target = g_string_chunk_insert_len(
		load->tree->strings, (const char *)body + 8, (gssize)length);
	if (raw->extended)
		inode->xattr = img_le32(body + 8 + length);
	return TRUE;
}

/* Devices, fifos and sockets. */
static gboolean read_special(
	img_loader *load, const img_raw_inode *raw, img_inode *inode, GError **error)
{
	const guint8 *body = raw->raw + IMG_INODE_HEADER;
	gboolean device = inode->type == IMG_BLOCK_DEVICE || inode->type == IMG_CHAR_DEVICE;
	gsize size = IMG_INODE_HEADER + 4 + (device ? 4 : 0) + (raw->extended ? 4 : 0);

	if (!claim(load, raw, size, error))
		return FALSE;
	inode->nlink = img_le32(body);
	if (device)
		inode->rdev = img_le32(body + 4);
	if (raw->extended)
		inode->xattr = img_le32(raw->raw + size - 4);
	return TRUE;
}

static const img_type types[] = {
	IMG_DIR, IMG_FILE, IMG_SYMLINK, IMG_BLOCK_DEVICE, IMG_CHAR_DEVICE, IMG_FIFO, IMG_SOCKET};

gboolean img_loader_read_header(
	img_loader *load, guint64 reference, img_raw_inode *raw, img_inode *inode, GError **error)
{
	const img_super *super = &load->tree->super;
	guint uid, gid;

	raw->raw = img_metadata_at(&load->inodes, reference, &raw->size);
	if (!raw->raw || raw->size < IMG_INODE_HEADER)
		return img_loader_damaged(
			load, error, "there is no inode at %#" G_GINT64_MODIFIER "x", reference);
	raw->type = img_le16(raw->raw);
	raw->extended = raw->type > G_N_ELEMENTS(types);
	if (raw->extended)
		raw->type -= (guint)G_N_ELEMENTS(types);
	uid = img_le16(raw->raw + 4);
	gid = img_le16(raw->raw + 6);
	inode->number = img_le32(raw->raw + 12);
	if (raw->type == 0 || raw->type > G_N_ELEMENTS(types))
		return img_loader_damaged(
			load, error, "an inode of unknown type %u", img_le16(raw->raw));
	if (uid >= super->id_count || gid >= super->id_count)
		return img_loader_damaged(
			load, error, "inode %u: its owner is not in the id table", inode->number);
	inode->type = types[raw->type - 1];
	inode->mode = img_le16(raw->raw + 2) & 07777;
	inode->uid = load->ids[uid];
	inode->gid = load->ids[gid];
	inode->mtime = img_le32(raw->raw + 8);
	inode->inode_ref = reference;
	return TRUE;
}

gboolean img_loader_read_body(img_loader *load, const img_raw_inode *raw, img_inode *inode,
	img_listing *list, GError **error)
{
	switch (inode->type) {
	case IMG_DIR:
		return read_directory(load, raw, inode, list, error);
	case IMG_FILE:
		return read_file(load, raw, inode, error);
	case IMG_SYMLINK:
		return read_symlink(load, raw, inode, error);
	default:
		return read_special(load, raw, inode, error);
	}
}
