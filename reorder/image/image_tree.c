/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/image_tree.h"
#include "reorder/image/image_tree-internal.h"

#include <string.h>

#include "reorder/util/error.h"

/* As Linux does (MAXSYMLINKS). */
enum { MAX_LINKS = 40 };

/* Longer than any path the kernel takes; stops symlinks that blow each other up. */
enum { MAX_PATH = 65536 };

img_tree *img_tree_new(const img_source *source)
{
	img_tree *tree = g_new0(img_tree, 1);

	tree->label = g_strdup(source->label);
	tree->source = *source;
	tree->source.label = tree->label;
	tree->inodes = g_array_new(FALSE, FALSE, sizeof(img_inode));
	tree->children = g_array_new(FALSE, FALSE, sizeof(img_children));
	tree->entries = g_array_new(FALSE, FALSE, sizeof(img_entry));
	tree->strings = g_string_chunk_new(1 << 16);
	return tree;
}

img_tree *img_tree_open(const img_source *source, GError **error)
{
	g_autoptr(img_tree) tree = img_tree_new(source);

	if (!img_super_read(&tree->source, &tree->super, error) || !img_tree_load(tree, error))
		return NULL;
	return g_steal_pointer(&tree);
}

void img_tree_free(img_tree *tree)
{
	if (!tree)
		return;
	g_array_unref(tree->inodes);
	g_array_unref(tree->children);
	g_array_unref(tree->entries);
	g_string_chunk_free(tree->strings);
	g_free(tree->fragments);
	g_free(tree->words);
	g_free(tree->label);
	g_free(tree);
}

const img_source *img_tree_source(const img_tree *tree)
{
	return &tree->source;
}

const img_super *img_tree_super(const img_tree *tree)
{
	return &tree->super;
}

guint32 img_tree_inode_count(const img_tree *tree)
{
	return tree->inodes->len;
}

const img_inode *img_tree_inode(const img_tree *tree, guint32 index)
{
	g_assert(index < tree->inodes->len);
	return &g_array_index(tree->inodes, img_inode, index);
}

guint32 img_tree_entry_count(const img_tree *tree)
{
	return tree->entries->len;
}

const img_entry *img_tree_entry(const img_tree *tree, guint32 index)
{
	g_assert(index < tree->entries->len);
	return &g_array_index(tree->entries, img_entry, index);
}

guint32 img_tree_fragment_count(const img_tree *tree)
{
	return tree->super.fragment_count;
}

const img_fragment *img_tree_fragment(const img_tree *tree, guint32 index)
{
	g_assert(index < tree->super.fragment_count);
	return &tree->fragments[index];
}

guint64 img_tree_metadata_start(const img_tree *tree)
{
	return tree->super.inode_table;
}

void img_tree_children(const img_tree *tree, guint32 directory, guint32 *first, guint32 *count)
{
	const img_children *children;

	g_assert(directory < tree->children->len);
	children = &g_array_index(tree->children, img_children, directory);
	*first = children->first;
	*count = children->count;
}

guint32 img_tree_lookup(const img_tree *tree, guint32 directory, const char *name)
{
	guint32 low, count;

	img_tree_children(tree, directory, &low, &count);
	while (count > 0) {
		guint32 middle = low + count / 2;
		int order = strcmp(img_tree_entry(tree, middle)->name, name);

		if (order == 0)
			return middle;
		if (order < 0) {
			low = middle + 1;
			count -= count / 2 + 1;
		} else {
			count /= 2;
		}
	}
	return IMG_NONE;
}

char *img_tree_entry_path(const img_tree *tree, guint32 entry)
{
	gsize length = 0;
	char *path, *at;

	if (entry == IMG_NONE)
		return g_strdup("");
	for (guint32 e = entry; e != IMG_NONE; e = img_tree_entry(tree, e)->parent)
		length += strlen(img_tree_entry(tree, e)->name) + 1;
	path = g_malloc(length);
	at = path + length;
	*--at = '\0';
	for (guint32 e = entry; e != IMG_NONE; e = img_tree_entry(tree, e)->parent) {
		const char *name = img_tree_entry(tree, e)->name;
		gsize size = strlen(name);

		at -= size;
		memcpy(at, name, size);
		if (at > path)
			*--at = '/';
	}
	return path;
}

char *img_tree_inode_path(const img_tree *tree, guint32 inode)
{
	return img_tree_entry_path(tree, img_tree_inode(tree, inode)->first_entry);
}

static guint32 parent_directory(const img_tree *tree, guint32 directory)
{
	guint32 entry = img_tree_inode(tree, directory)->first_entry;
	guint32 parent;

	if (entry == IMG_NONE)
		return 0;
	parent = img_tree_entry(tree, entry)->parent;
	return parent == IMG_NONE ? 0 : img_tree_entry(tree, parent)->inode;
}

/* The component at *rest, which moves behind it; NULL if there is none left. */
static char *next_component(const char **rest)
{
	const char *start = *rest + strspn(*rest, "/");
	gsize length = strcspn(start, "/");

	*rest = start + length;
	return length > 0 ? g_strndup(start, length) : NULL;
}

/* One step of a walk; IMG_NONE if there is no such name. */
static guint32 step(const img_tree *tree, guint32 from, const char *component)
{
	guint32 entry;

	if (img_tree_inode(tree, from)->type != IMG_DIR)
		return IMG_NONE;
	if (strcmp(component, ".") == 0)
		return from;
	if (strcmp(component, "..") == 0)
		return parent_directory(tree, from);
	entry = img_tree_lookup(tree, from, component);
	return entry == IMG_NONE ? IMG_NONE : img_tree_entry(tree, entry)->inode;
}

guint32 img_tree_resolve(const img_tree *tree, const char *path, gboolean follow_last)
{
	g_autofree char *text = NULL; /* of the last link and what was behind it */
	const char *rest = path;
	guint32 directory = 0;
	guint links = 0;

	while (TRUE) {
		g_autofree char *component = next_component(&rest);
		const img_inode *inode;
		guint32 found;
		char *joined;

		if (!component)
			return directory;
		found = step(tree, directory, component);
		if (found == IMG_NONE)
			return IMG_NONE;
		inode = img_tree_inode(tree, found);
		if (inode->type != IMG_SYMLINK || (!*rest && !follow_last)) {
			directory = found;
			continue;
		}
		if (++links > MAX_LINKS || strlen(rest) + strlen(inode->target) > MAX_PATH)
			return IMG_NONE;
		if (inode->target[0] == '/')
			directory = 0;
		joined = g_strconcat(inode->target, rest, NULL);
		g_free(text);
		rest = text = joined;
	}
}
