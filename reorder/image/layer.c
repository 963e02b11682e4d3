/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/layer.h"

#include <limits.h>
#include <string.h>

#include "reorder/image/xattrs.h"

enum {
	WHITEOUT = 1, /* nothing of this name is below */
	OPAQUE = 2,   /* a directory of which nothing below shows through */
	REDIRECT = 4, /* a directory that has another path below */
};

static const char redirect[] = "trusted.overlay.redirect";

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
		else if (strcmp(x->name, redirect) == 0 && x->size > 0)
			marks |= REDIRECT;
	}
	return marks;
}

static gboolean read_redirect(img_layer *layer, reader *r, guint32 index, GError **error)
{
	g_autoptr(GArray) set =
		img_xattrs_get(r->xattrs, img_tree_inode(layer->tree, index)->xattr, error);

	for (guint i = 0; set && i < set->len; i++) {
		const img_xattr *x = &g_array_index(set, img_xattr, i);

		if (strcmp(x->name, redirect) == 0)
			g_hash_table_insert(layer->redirects, GUINT_TO_POINTER(index),
				g_strndup((const char *)x->value, x->size));
	}
	return set != NULL;
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
	return !directory || !(said & REDIRECT) || read_redirect(layer, r, index, error);
}

gboolean img_layer_init(img_layer *layer, const char *name, const img_tree *tree, GError **error)
{
	guint32 count = img_tree_inode_count(tree);
	g_auto(reader) r = {img_xattrs_new(tree, error), g_hash_table_new(NULL, NULL)};

	*layer = (img_layer){.name = name, .tree = tree};
	if (!r.xattrs)
		return FALSE;
	layer->redirects = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	layer->marks = g_new0(guint8, count);
	for (guint32 i = 0; i < count; i++)
		if (!mark(layer, &r, i, error))
			return FALSE;
	return TRUE;
}

void img_layer_clear(img_layer *layer)
{
	g_clear_pointer(&layer->marks, g_free);
	g_clear_pointer(&layer->redirects, g_hash_table_unref);
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

/* Goes on from where the layers below have the directory above to where they have this one. */
static void go_down(const img_layer *layer, guint32 directory, const char *name, GString *there)
{
	gpointer key = GUINT_TO_POINTER(directory);
	const char *to = layer->redirects ? g_hash_table_lookup(layer->redirects, key) : NULL;

	if (to && to[0] == '/')
		g_string_truncate(there, 0);
	else
		g_string_append_c(there, '/');
	g_string_append(there, to ? to : name);
}

static guint32 directory_at(const img_layer *layer, const char *path, gsize length)
{
	g_autofree char *top = g_strndup(path, length);
	guint32 inode = img_tree_resolve(layer->tree, top, FALSE);

	return inode != IMG_NONE && img_tree_inode(layer->tree, inode)->type == IMG_DIR ? inode
											: IMG_NONE;
}

/* Where the next layer has a path that is not here; NULL if the way to it ends at what is no
 * directory, or leads through an opaque one, or to a path that there can't be. */
static char *way_below(const img_layer *layer, const char *path, gsize root)
{
	g_auto(GStrv) names = g_strsplit(path + root, "/", -1);
	guint32 directory = directory_at(layer, path, root);
	g_autoptr(GString) there = g_string_new(NULL);

	for (char **name = names; *name; name++) {
		guint32 entry = IMG_NONE;

		if (!**name)
			continue;
		if (directory != IMG_NONE)
			entry = img_tree_lookup(layer->tree, directory, *name);
		if (entry == IMG_NONE) {
			directory = IMG_NONE;
			g_string_append_printf(there, "/%s", *name);
			continue;
		}
		directory = img_tree_entry(layer->tree, entry)->inode;
		if (img_tree_inode(layer->tree, directory)->type != IMG_DIR ||
			has_mark(layer, directory, OPAQUE))
			return NULL;
		go_down(layer, directory, *name, there);
		if (there->len > PATH_MAX)
			return NULL;
	}
	return g_strdup(there->str);
}

img_layer_answer img_layer_find(
	const img_layer *layer, const char *path, gsize root, guint32 *inode, char **below)
{
	*below = NULL;
	*inode = img_tree_resolve(layer->tree, path, FALSE);
	if (*inode == IMG_NONE) {
		*below = way_below(layer, path, root);
		return *below ? IMG_LAYER_PASSES : IMG_LAYER_HIDES;
	}
	if (!has_mark(layer, *inode, WHITEOUT))
		return IMG_LAYER_HAS;
	*inode = IMG_NONE;
	return IMG_LAYER_HIDES;
}
