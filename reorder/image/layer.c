/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/layer.h"

#include <string.h>

#include "reorder/image/xattrs.h"

enum {
	WHITEOUT = 1, /* nothing of this name is below */
	OPAQUE = 2,   /* a directory of which nothing below shows through */
};

/* What the attributes with an index say; each set is read once. */
typedef struct {
	img_xattrs *xattrs;
	GHashTable *known; /* index → marks */
} reader;

static void reader_clear(reader *r)
{
	g_clear_pointer(&r->xattrs, img_xattrs_free);
	g_clear_pointer(&r->known, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(reader, reader_clear)

static guint marks_of_set(const GArray *set)
{
	guint marks = 0;

	for (guint i = 0; i < set->len; i++) {
		const img_xattr *x = &g_array_index(set, img_xattr, i);

		if (strcmp(x->name, "trusted.overlay.whiteout") == 0)
			marks |= WHITEOUT;
		else if (strcmp(x->name, "trusted.overlay.opaque") == 0 && x->size == 1 &&
			 x->value[0] == 'y')
			marks |= OPAQUE;
	}
	return marks;
}

static gboolean read_marks(reader *r, guint32 index, guint *marks, GError **error)
{
	gpointer key = GUINT_TO_POINTER(index), value;

	if (!g_hash_table_lookup_extended(r->known, key, NULL, &value)) {
		g_autoptr(GArray) set = img_xattrs_get(r->xattrs, index, error);

		if (!set)
			return FALSE;
		value = GUINT_TO_POINTER(marks_of_set(set));
		g_hash_table_insert(r->known, key, value);
	}
	*marks = GPOINTER_TO_UINT(value);
	return TRUE;
}

/* A whiteout is a device 0/0, or an empty file that says so; the root is never opaque. */
static gboolean mark(img_layer *layer, reader *r, guint32 index, GError **error)
{
	const img_inode *inode = img_tree_inode(layer->tree, index);
	gboolean directory = inode->type == IMG_DIR && index != 0;
	guint said = 0;

	if (inode->type == IMG_CHAR_DEVICE && inode->rdev == 0)
		layer->marks[index] = WHITEOUT;
	if (!directory && (inode->type != IMG_FILE || inode->size != 0))
		return TRUE;
	if (!read_marks(r, inode->xattr, &said, error))
		return FALSE;
	layer->marks[index] = (guint8)(said & (directory ? OPAQUE : WHITEOUT));
	return TRUE;
}

gboolean img_layer_init(img_layer *layer, const char *name, const img_tree *tree, GError **error)
{
	guint32 count = img_tree_inode_count(tree);
	g_auto(reader) r = {img_xattrs_new(tree, error), g_hash_table_new(NULL, NULL)};

	*layer = (img_layer){.name = name, .tree = tree};
	if (!r.xattrs)
		return FALSE;
	layer->marks = g_new0(guint8, count);
	for (guint32 i = 0; i < count; i++)
		if (!mark(layer, &r, i, error))
			return FALSE;
	return TRUE;
}

void img_layer_clear(img_layer *layer)
{
	g_clear_pointer(&layer->marks, g_free);
}

const img_layer *img_layer_named(const img_layer *layers, guint count, const char *name)
{
	for (guint i = 0; i < count; i++)
		if (g_strcmp0(layers[i].name, name) == 0)
			return &layers[i];
	return NULL;
}

static gboolean has_mark(const img_layer *layer, guint32 inode, guint which)
{
	return layer->marks && (layer->marks[inode] & which) != 0;
}

/* Whether the way to a path that is not here ends at what is no directory, or leads through an
 * opaque one. */
static gboolean hides_way(const img_layer *layer, const char *path)
{
	g_auto(GStrv) names = g_strsplit(path, "/", -1);
	guint32 directory = 0;

	for (char **name = names; *name; name++) {
		guint32 entry;

		if (!**name)
			continue;
		entry = img_tree_lookup(layer->tree, directory, *name);
		if (entry == IMG_NONE)
			return FALSE;
		directory = img_tree_entry(layer->tree, entry)->inode;
		if (img_tree_inode(layer->tree, directory)->type != IMG_DIR ||
			has_mark(layer, directory, OPAQUE))
			return TRUE;
	}
	return FALSE;
}

img_layer_answer img_layer_find(const img_layer *layer, const char *path, guint32 *inode)
{
	*inode = img_tree_resolve(layer->tree, path, FALSE);
	if (*inode == IMG_NONE)
		return hides_way(layer, path) ? IMG_LAYER_HIDES : IMG_LAYER_PASSES;
	if (!has_mark(layer, *inode, WHITEOUT))
		return IMG_LAYER_HAS;
	*inode = IMG_NONE;
	return IMG_LAYER_HIDES;
}
