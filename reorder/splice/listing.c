/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts: Linux, fs/squashfs/squashfs_fs.h, squashfs_dir_header, _dir_entry and _dir_index. */
#include "reorder/splice/listing.h"

#include <string.h>

#include "reorder/splice/put.h"

enum {
	HEADER_SIZE = 12,
	ENTRY_SIZE = 8,        /* before the name */
	INDEX_ENTRY_SIZE = 12, /* likewise */
	MAX_GROUP = 256,       /* entries behind one header */
	MAX_INDEX = G_MAXUINT16,
};

void ro_splice_listing_clear(ro_splice_listing *listing)
{
	g_clear_pointer(&listing->index, g_byte_array_unref);
}

typedef struct {
	ro_splice_listing *listing;
	ro_splice_metadata *out;
	const img_tree *tree;
	const guint64 *references;
	guint64 index_block; /* the metadata block of the last header */
} state;

static const img_inode *inode_of(const state *s, guint32 entry)
{
	return img_tree_inode(s->tree, img_tree_entry(s->tree, entry)->inode);
}

static guint64 reference_of(const state *s, guint32 entry)
{
	return s->references[img_tree_entry(s->tree, entry)->inode];
}

/* Whether an entry can stand behind the header that the entry first made. */
static gboolean fits(const state *s, guint32 first, guint32 entry)
{
	gint64 delta = (gint64)inode_of(s, entry)->number - inode_of(s, first)->number;

	return reference_of(s, entry) >> 16 == reference_of(s, first) >> 16 &&
	       delta >= G_MININT16 && delta <= G_MAXINT16;
}

/* How many entries from first on go behind one header. A new one begins with each metadata block,
 * for the index to point at. */
static guint32 group_size(const state *s, guint32 first, guint32 end)
{
	gsize position = s->out->used + HEADER_SIZE;
	guint32 count = 0;

	do {
		position += ENTRY_SIZE + strlen(img_tree_entry(s->tree, first + count)->name);
		count++;
	} while (first + count < end && count < MAX_GROUP && position < IMG_METADATA_BLOCK &&
		 fits(s, first, first + count));
	return count;
}

static void add_index(state *s, const char *name)
{
	ro_splice_listing *listing = s->listing;
	guint64 block = ro_splice_metadata_reference(s->out) >> 16;
	gsize length = strlen(name);
	guint8 raw[INDEX_ENTRY_SIZE];

	if (block == s->index_block || listing->index_count == MAX_INDEX)
		return;
	s->index_block = block;
	ro_put32(raw, (guint32)listing->size);
	ro_put32(raw + 4, (guint32)block);
	ro_put32(raw + 8, (guint32)length - 1);
	g_byte_array_append(listing->index, raw, sizeof(raw));
	g_byte_array_append(listing->index, (const guint8 *)name, (guint)length);
	listing->index_count++;
}

static gboolean put(state *s, gconstpointer data, gsize size, GError **error)
{
	s->listing->size += size;
	return ro_splice_metadata_append(s->out, data, size, error);
}

static gboolean write_header(state *s, guint32 first, guint32 count, GError **error)
{
	guint8 raw[HEADER_SIZE];

	add_index(s, img_tree_entry(s->tree, first)->name);
	ro_put32(raw, count - 1);
	ro_put32(raw + 4, (guint32)(reference_of(s, first) >> 16));
	ro_put32(raw + 8, inode_of(s, first)->number);
	return put(s, raw, sizeof(raw), error);
}

/* The basic type of an inode. */
static guint16 type_of(const img_inode *inode)
{
	static const guint16 types[] = {
		[IMG_DIR] = 1,
		[IMG_FILE] = 2,
		[IMG_SYMLINK] = 3,
		[IMG_BLOCK_DEVICE] = 4,
		[IMG_CHAR_DEVICE] = 5,
		[IMG_FIFO] = 6,
		[IMG_SOCKET] = 7,
	};

	return types[inode->type];
}

static gboolean write_entry(state *s, guint32 first, guint32 entry, GError **error)
{
	const char *name = img_tree_entry(s->tree, entry)->name;
	const img_inode *inode = inode_of(s, entry);
	gsize length = strlen(name);
	guint8 raw[ENTRY_SIZE];

	ro_put16(raw, (guint16)reference_of(s, entry));
	ro_put16(raw + 2, (guint16)(inode->number - inode_of(s, first)->number));
	ro_put16(raw + 4, type_of(inode));
	ro_put16(raw + 6, (guint16)(length - 1));
	return put(s, raw, sizeof(raw), error) && put(s, name, length, error);
}

gboolean ro_splice_listing_write(ro_splice_listing *listing, ro_splice_metadata *directories,
	const img_tree *tree, guint32 directory, const guint64 *references, GError **error)
{
	state s = {listing, directories, tree, references, 0};
	guint32 first, end, count;

	img_tree_children(tree, directory, &first, &count);
	end = first + count;
	listing->reference = ro_splice_metadata_reference(directories);
	listing->size = 0;
	listing->index = g_byte_array_new();
	listing->index_count = 0;
	s.index_block = listing->reference >> 16;
	for (; first < end; first += count) {
		count = group_size(&s, first, end);
		if (!write_header(&s, first, count, error))
			return FALSE;
		for (guint32 i = 0; i < count; i++)
			if (!write_entry(&s, first, first + i, error))
				return FALSE;
	}
	return TRUE;
}
