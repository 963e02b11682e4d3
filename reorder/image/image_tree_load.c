/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the tables and the directories of a squashfs image. Layouts: Linux,
 * fs/squashfs/squashfs_fs.h. */
#include "reorder/image/image_tree_load-internal.h"

#include <string.h>

#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

/* Bytes of records in the image. */
enum {
	DIRECTORY_HEADER = 12,
	ENTRY_HEADER = 8,
	FRAGMENT_ENTRY = 16,
	ID_ENTRY = 4,
	EXPORT_ENTRY = 8,
};

enum {
	MAX_HEADER_ENTRIES = 256,
	MAX_NAME = 256,
	/* A directory's size counts "." and ".." with three bytes that are not there. */
	DIRECTORY_EXTRA = 3,
	/* Bytes of a whole path: sixteen times what the kernel takes. */
	MAX_PATH_BYTES = 65536,
};

/* An entry of a listing, before its inode is known. */
typedef struct {
	char *name;
	guint64 reference;
	guint32 number;
	guint type; /* basic */
} raw_entry;

static void loader_clear(img_loader *load)
{
	img_metadata_clear(&load->inodes);
	img_metadata_clear(&load->directories);
	g_free(load->ids);
	g_free(load->by_number);
	g_clear_pointer(&load->listings, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(img_loader, loader_clear)

gboolean img_loader_damaged(const img_loader *load, GError **error, const char *format, ...)
{
	g_autofree char *reason = NULL;
	va_list args;

	va_start(args, format);
	reason = g_strdup_vprintf(format, args);
	va_end(args);
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s; the image is damaged",
		load->tree->label, reason);
}

static gboolean decode_fragments(img_loader *load, const img_metadata *table, GError **error)
{
	guint32 count = load->tree->super.fragment_count;

	load->tree->fragments = g_new(img_fragment, count);
	for (guint32 i = 0; i < count; i++) {
		const guint8 *raw = table->data + (gsize)i * FRAGMENT_ENTRY;
		img_fragment *fragment = &load->tree->fragments[i];

		fragment->start = img_le64(raw);
		fragment->size_word = img_le32(raw + 8);
		if (!img_loader_check_word(load, fragment->size_word, error) ||
			!img_loader_check_extent(load, fragment->start,
				IMG_BLOCK_STORED_SIZE(fragment->size_word), error))
			return FALSE;
	}
	return TRUE;
}

static void decode_ids(img_loader *load, const img_metadata *table)
{
	guint count = load->tree->super.id_count;

	load->ids = g_new(guint32, count);
	for (guint i = 0; i < count; i++)
		load->ids[i] = img_le32(table->data + (gsize)i * ID_ENTRY);
}

/* The tables behind the directories. Sets *end to where these end. */
static gboolean load_side_tables(img_loader *load, img_codec *codec, guint64 *end, GError **error)
{
	const img_super *super = &load->tree->super;
	img_metadata_place place = {&load->tree->source, codec, "fragment table"};
	g_auto(img_metadata) fragments = {0}, exports = {0}, ids = {0};
	guint64 lower = super->directory_table,
		first[3] = {super->id_table, super->id_table, super->id_table};

	if (super->fragment_count > 0) {
		if (!img_metadata_load_table(&fragments, &place, super->fragment_table, lower,
			    (gsize)super->fragment_count * FRAGMENT_ENTRY, &first[0], error) ||
			!decode_fragments(load, &fragments, error))
			return FALSE;
		lower = super->fragment_table;
	}
	place.what = "export table";
	if (super->export_table != G_MAXUINT64) {
		if (!img_metadata_load_table(&exports, &place, super->export_table, lower,
			    (gsize)super->inode_count * EXPORT_ENTRY, &first[1], error))
			return FALSE;
		lower = super->export_table;
	}
	place.what = "id table";
	if (!img_metadata_load_table(&ids, &place, super->id_table, lower,
		    (gsize)super->id_count * ID_ENTRY, &first[2], error))
		return FALSE;
	decode_ids(load, &ids);
	*end = MIN(MIN(first[0], first[1]), first[2]);
	return TRUE;
}

static gboolean load_tables(img_loader *load, GError **error)
{
	const img_super *super = &load->tree->super;
	g_autoptr(img_codec) codec = img_codec_new(super, error);
	img_metadata_place place = {&load->tree->source, codec, "inode table"};
	guint64 end;

	if (!codec || !load_side_tables(load, codec, &end, error))
		return FALSE;
	if (!img_metadata_load(
		    &load->inodes, &place, super->inode_table, super->directory_table, error))
		return FALSE;
	place.what = "directory table";
	return img_metadata_load(&load->directories, &place, super->directory_table, end, error);
}

/* What the name (or the superblock, for the root) says of an inode. */
typedef struct {
	guint64 reference;
	guint32 number; /* 0: not known */
	guint type;     /* basic */
	guint32 entry;
	guint32 path_bytes;
} expectation;

static gboolean add_inode(img_loader *load, const expectation *expected, GError **error)
{
	img_tree *tree = load->tree;
	img_inode inode = {.xattr = IMG_NONE, .fragment = IMG_NONE, .first_entry = expected->entry};
	img_children none = {0, 0};
	img_listing list = {.inode = tree->inodes->len, .path_bytes = expected->path_bytes};
	img_raw_inode raw;

	if (!img_loader_read_header(load, expected->reference, &raw, &inode, error))
		return FALSE;
	if (raw.type != expected->type ||
		(expected->number != 0 && inode.number != expected->number))
		return img_loader_damaged(
			load, error, "a name and its inode %u do not fit", inode.number);
	if (inode.number == 0 || inode.number > tree->super.inode_count ||
		load->by_number[inode.number] != IMG_NONE)
		return img_loader_damaged(load, error,
			"inode number %u is out of range or there twice", inode.number);
	if (!img_loader_read_body(load, &raw, &inode, &list, error))
		return FALSE;
	load->by_number[inode.number] = tree->inodes->len;
	g_array_append_val(tree->inodes, inode);
	g_array_append_val(tree->children, none);
	if (inode.type == IMG_DIR)
		g_array_append_val(load->listings, list);
	return TRUE;
}

static gboolean check_link(
	const img_loader *load, guint32 index, const expectation *expected, GError **error)
{
	const img_inode *inode = img_tree_inode(load->tree, index);

	if (inode->type == IMG_DIR)
		return img_loader_damaged(
			load, error, "directory %u is there twice", inode->number);
	if (inode->inode_ref != expected->reference)
		return img_loader_damaged(
			load, error, "inode number %u is there twice", inode->number);
	return TRUE;
}

static gboolean add_entry(
	img_loader *load, const raw_entry *raw, const img_listing *list, GError **error)
{
	img_tree *tree = load->tree;
	expectation expected = {raw->reference, raw->number, raw->type, tree->entries->len, 0};
	img_entry entry = {raw->name, img_tree_inode(tree, list->inode)->first_entry, 0};

	if (tree->entries->len == IMG_NONE - 1)
		return img_loader_damaged(load, error, "too many names");
	if (raw->number == 0 || raw->number > tree->super.inode_count)
		return img_loader_damaged(
			load, error, "inode number %u is out of range", raw->number);
	expected.path_bytes = list->path_bytes + (guint32)strlen(raw->name) + 1;
	if (expected.path_bytes > MAX_PATH_BYTES)
		return img_loader_damaged(load, error, "a path of over %d bytes", MAX_PATH_BYTES);
	entry.inode = load->by_number[raw->number];
	if (entry.inode != IMG_NONE) {
		if (!check_link(load, entry.inode, &expected, error))
			return FALSE;
	} else {
		entry.inode = tree->inodes->len;
		if (!add_inode(load, &expected, error))
			return FALSE;
	}
	g_array_append_val(tree->entries, entry);
	return TRUE;
}

static gboolean check_name(const img_loader *load, const char *name, gsize length, GError **error)
{
	gboolean dots = (length == 1 && name[0] == '.') ||
			(length == 2 && name[0] == '.' && name[1] == '.');

	if (length > MAX_NAME || dots || memchr(name, '/', length) || memchr(name, '\0', length))
		return img_loader_damaged(load, error, "a file name that no file can have");
	return TRUE;
}

/* The bytes of a listing that are still to be read. */
typedef struct {
	const guint8 *at;
	gsize left;
} cursor;

static const guint8 *take(cursor *from, gsize size)
{
	const guint8 *at = from->at;

	if (size > from->left)
		return NULL;
	from->at += size;
	from->left -= size;
	return at;
}

static gboolean read_entry(
	img_loader *load, cursor *from, const guint8 *header, raw_entry *entry, GError **error)
{
	const guint8 *raw = take(from, ENTRY_HEADER);
	gsize length = raw ? img_le16(raw + 6) + 1u : 0;
	const char *name = raw ? (const char *)take(from, length) : NULL;

	if (!name)
		return img_loader_damaged(load, error, "a directory ends within an entry");
	if (!check_name(load, name, length, error))
		return FALSE;
	entry->name = g_string_chunk_insert_len(load->tree->strings, name, (gssize)length);
	entry->reference = (guint64)img_le32(header + 4) << 16 | img_le16(raw);
	entry->number = img_le32(header + 8) + (guint32)(gint16)img_le16(raw + 2);
	entry->type = img_le16(raw + 4);
	return TRUE;
}

static gboolean read_entries(img_loader *load, cursor from, GArray *entries, GError **error)
{
	while (from.left > 0) {
		const guint8 *header = take(&from, DIRECTORY_HEADER);
		guint32 count = header ? img_le32(header) : 0;

		if (!header || count >= MAX_HEADER_ENTRIES)
			return img_loader_damaged(load, error, "a directory with a bad header");
		for (guint32 i = 0; i <= count; i++) {
			raw_entry entry;

			if (!read_entry(load, &from, header, &entry, error))
				return FALSE;
			g_array_append_val(entries, entry);
		}
	}
	return TRUE;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(((const raw_entry *)a)->name, ((const raw_entry *)b)->name);
}

/* Listings are sorted already, but for those of odd tools. */
static gboolean sort_entries(img_loader *load, GArray *entries, GError **error)
{
	gboolean sorted = TRUE;

	for (guint i = 1; i < entries->len && sorted; i++)
		sorted = compare_names(&g_array_index(entries, raw_entry, i - 1),
				 &g_array_index(entries, raw_entry, i)) < 0;
	if (sorted)
		return TRUE;
	g_array_sort(entries, compare_names);
	for (guint i = 1; i < entries->len; i++)
		if (compare_names(&g_array_index(entries, raw_entry, i - 1),
			    &g_array_index(entries, raw_entry, i)) == 0)
			return img_loader_damaged(load, error, "a directory has a name twice");
	return TRUE;
}

static gboolean find_listing(
	img_loader *load, const img_listing *list, cursor *from, GError **error)
{
	gsize size = list->size > DIRECTORY_EXTRA ? list->size - DIRECTORY_EXTRA : 0;
	gsize available = 0;

	*from = (cursor){NULL, 0};
	if (size == 0)
		return TRUE;
	from->at = img_metadata_at(&load->directories, list->reference, &available);
	if (!from->at || size > available)
		return img_loader_damaged(load, error, "a directory lies outside of its table");
	if (size > load->directories.size - load->listing_bytes)
		return img_loader_damaged(load, error, "directories overlap");
	load->listing_bytes += size;
	from->left = size;
	return TRUE;
}

static gboolean read_listing(img_loader *load, const img_listing *list, GError **error)
{
	g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(raw_entry));
	img_children children = {load->tree->entries->len, 0};
	cursor from;

	if (ro_interrupted(error) || !find_listing(load, list, &from, error) ||
		!read_entries(load, from, entries, error) || !sort_entries(load, entries, error))
		return FALSE;
	for (guint i = 0; i < entries->len; i++)
		if (!add_entry(load, &g_array_index(entries, raw_entry, i), list, error))
			return FALSE;
	children.count = entries->len;
	g_array_index(load->tree->children, img_children, list->inode) = children;
	return TRUE;
}

static gboolean walk(img_loader *load, GError **error)
{
	expectation root = {load->tree->super.root_inode, 0, 1, IMG_NONE, 0};

	if (!add_inode(load, &root, error))
		return FALSE;
	while (load->listings->len > 0) {
		img_listing list =
			g_array_index(load->listings, img_listing, load->listings->len - 1);

		g_array_set_size(load->listings, load->listings->len - 1);
		if (!read_listing(load, &list, error))
			return FALSE;
	}
	return TRUE;
}

/* The shortest inode is a fifo's. */
static gboolean check_counts(const img_loader *load, GError **error)
{
	guint32 count = load->tree->super.inode_count;

	if (count > load->inodes.size / (IMG_INODE_HEADER + 4))
		return img_loader_damaged(
			load, error, "%u inodes do not fit into the inode table", count);
	return TRUE;
}

gboolean img_tree_load(img_tree *tree, GError **error)
{
	g_auto(img_loader) load = {.tree = tree};
	guint32 count = tree->super.inode_count;

	if (!load_tables(&load, error) || !check_counts(&load, error))
		return FALSE;
	load.listings = g_array_new(FALSE, FALSE, sizeof(img_listing));
	load.by_number = g_new(guint32, (gsize)count + 1);
	memset(load.by_number, 0xff, ((gsize)count + 1) * sizeof(guint32));
	load.words_max = load.inodes.size / sizeof(guint32);
	tree->words = g_new(guint32, load.words_max);
	return walk(&load, error);
}
