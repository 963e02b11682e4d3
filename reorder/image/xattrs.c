/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/xattrs.h"

#include "reorder/image/le.h"
#include "reorder/image/metadata.h"
#include "reorder/util/error.h"

/* Linux: fs/squashfs/squashfs_fs.h. */
enum {
	TABLE_HEADER = 16,
	SET_ENTRY = 16, /* reference of the first pair, number of pairs, their size */
	NAME_HEADER = 4,
	VALUE_HEADER = 4,
	TYPE_MASK = 0xff,
	TYPE_OUT_OF_LINE = 0x100, /* in place of the value stands a reference to it */
};

/* What listxattr(2) and getxattr(2) give at most, and so what a file can have. */
enum { MAX_NAMES = 65536, MAX_VALUE = 65536 };

struct img_xattrs {
	const char *label;
	img_metadata sets, pairs;
};

static gboolean damaged(const char *label, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: broken extended attributes; the image is damaged", label);
}

static gboolean load(img_xattrs *xattrs, const img_tree *tree, GError **error)
{
	const img_super *super = img_tree_super(tree);
	g_autoptr(img_codec) codec = img_codec_new(super, error);
	img_metadata_place place = {img_tree_source(tree), codec, "attribute table"};
	guint8 header[TABLE_HEADER];
	guint64 start, end;
	guint32 count;

	if (!codec ||
		!img_source_read(place.source, super->xattr_table, header, sizeof(header), error))
		return FALSE;
	start = img_le64(header);
	count = img_le32(header + 8);
	if (count == 0)
		return TRUE;
	if (start <= super->id_table || start >= super->xattr_table)
		return damaged(xattrs->label, error);
	if (!img_metadata_load_table(&xattrs->sets, &place, super->xattr_table + TABLE_HEADER,
		    start, (gsize)count * SET_ENTRY, &end, error))
		return FALSE;
	return img_metadata_load(&xattrs->pairs, &place, start, end, error);
}

img_xattrs *img_xattrs_new(const img_tree *tree, GError **error)
{
	g_autoptr(img_xattrs) xattrs = g_new0(img_xattrs, 1);

	xattrs->label = img_tree_source(tree)->label;
	if (img_tree_super(tree)->xattr_table != G_MAXUINT64 && !load(xattrs, tree, error))
		return NULL;
	return g_steal_pointer(&xattrs);
}

void img_xattrs_free(img_xattrs *xattrs)
{
	if (!xattrs)
		return;
	img_metadata_clear(&xattrs->sets);
	img_metadata_clear(&xattrs->pairs);
	g_free(xattrs);
}

/* The unread bytes of a set. */
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

static const guint8 *take_value(cursor *from, guint32 *size)
{
	const guint8 *raw = take(from, VALUE_HEADER);

	if (!raw)
		return NULL;
	*size = img_le32(raw);
	return *size <= MAX_VALUE ? take(from, *size) : NULL;
}

static gboolean read_value(const img_xattrs *xattrs, cursor *from, guint type, img_xattr *attribute)
{
	cursor elsewhere;

	attribute->value = take_value(from, &attribute->size);
	if (!attribute->value || !(type & TYPE_OUT_OF_LINE))
		return attribute->value != NULL;
	if (attribute->size != sizeof(guint64))
		return FALSE;
	elsewhere.at = img_metadata_at(&xattrs->pairs, img_le64(attribute->value), &elsewhere.left);
	if (!elsewhere.at)
		return FALSE;
	attribute->value = take_value(&elsewhere, &attribute->size);
	return attribute->value != NULL;
}

static gboolean read_pair(const img_xattrs *xattrs, cursor *from, img_xattr *attribute)
{
	static const char *const prefixes[] = {"user", "trusted", "security"};
	const guint8 *header = take(from, NAME_HEADER);
	guint type = header ? img_le16(header) : 0;
	gsize length = header ? img_le16(header + 2) : 0;
	const guint8 *name = header ? take(from, length) : NULL;

	if (!name || memchr(name, '\0', length) || (type & TYPE_MASK) >= G_N_ELEMENTS(prefixes) ||
		!read_value(xattrs, from, type, attribute))
		return FALSE;
	attribute->name = g_strdup_printf(
		"%s.%.*s", prefixes[type & TYPE_MASK], (int)length, (const char *)name);
	return TRUE;
}

static int compare(gconstpointer a, gconstpointer b)
{
	return strcmp(((const img_xattr *)a)->name, ((const img_xattr *)b)->name);
}

static void clear(gpointer attribute)
{
	g_free(((img_xattr *)attribute)->name);
}

GArray *img_xattrs_get(const img_xattrs *xattrs, guint32 index, GError **error)
{
	g_autoptr(GArray) set = g_array_new(FALSE, FALSE, sizeof(img_xattr));
	const guint8 *raw;
	cursor from;
	guint32 count;
	gsize names = 0;

	g_array_set_clear_func(set, clear);
	if (index == IMG_NONE)
		return g_steal_pointer(&set);
	if (index >= xattrs->sets.size / SET_ENTRY) {
		damaged(xattrs->label, error);
		return NULL;
	}
	raw = xattrs->sets.data + (gsize)index * SET_ENTRY;
	count = img_le32(raw + 8);
	from.at = img_metadata_at(&xattrs->pairs, img_le64(raw), &from.left);
	for (guint32 i = 0; i < count; i++) {
		img_xattr attribute;

		if (!from.at || names > MAX_NAMES || !read_pair(xattrs, &from, &attribute)) {
			damaged(xattrs->label, error);
			return NULL;
		}
		names += strlen(attribute.name) + 1;
		g_array_append_val(set, attribute);
	}
	g_array_sort(set, compare);
	return g_steal_pointer(&set);
}
