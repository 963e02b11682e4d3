/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/tree_writer.h"

#include <string.h>

#include "reorder/util/interrupt.h"

/* Not written yet. */
#define NO_REFERENCE G_MAXUINT64

typedef struct {
	ro_splice_tables *tables;
	const ro_splice_inode_source *source;
	gboolean *hot;   /* for each inode */
	gboolean pass;   /* which of them are written now */
	GArray *stack;   /* of level */
	GByteArray *raw; /* of the inode at hand */
} state;

/* A directory that the walk is in. */
typedef struct {
	guint32 directory;
	guint32 next, end; /* entries */
} level;

void ro_splice_tables_clear(ro_splice_tables *tables)
{
	ro_splice_metadata_clear(&tables->inodes);
	ro_splice_metadata_clear(&tables->directories);
	g_clear_pointer(&tables->references, g_free);
}

static void mark_items(gboolean *hot, const GArray *items)
{
	for (guint i = 0; i < items->len; i++)
		hot[g_array_index(items, ro_plan_item, i).inode] = TRUE;
}

/* The directory that holds an entry. */
static guint32 directory_of(const img_tree *tree, guint32 entry)
{
	guint32 parent = img_tree_entry(tree, entry)->parent;

	return parent == IMG_NONE ? 0 : img_tree_entry(tree, parent)->inode;
}

/* Every directory with a hot inode in it is hot. Each is walked up from once. */
static void mark_directories(gboolean *hot, const img_tree *tree)
{
	for (guint32 i = 0; i < img_tree_entry_count(tree); i++) {
		guint32 entry = i;

		while (entry != IMG_NONE && hot[img_tree_entry(tree, entry)->inode] &&
			!hot[directory_of(tree, entry)]) {
			hot[directory_of(tree, entry)] = TRUE;
			entry = img_tree_entry(tree, entry)->parent;
		}
	}
}

static gboolean *find_hot(const img_tree *tree, const ro_plan *plan)
{
	gboolean *hot = g_new0(gboolean, img_tree_inode_count(tree));

	mark_items(hot, plan->files);
	mark_items(hot, plan->dirs);
	mark_items(hot, plan->symlinks);
	mark_directories(hot, tree);
	return hot;
}

static gboolean write_inode(
	state *s, guint32 index, const ro_splice_listing *listing, GError **error)
{
	g_byte_array_set_size(s->raw, 0);
	if (!ro_splice_inode_make(s->source, index, listing, s->raw, error))
		return FALSE;
	s->tables->references[index] = ro_splice_metadata_reference(&s->tables->inodes);
	return ro_splice_metadata_append(&s->tables->inodes, s->raw->data, s->raw->len, error);
}

static gboolean write_directory(state *s, guint32 index, GError **error)
{
	g_auto(ro_splice_listing) listing = {0};

	if (ro_interrupted(error) || !ro_splice_listing_write(&listing, &s->tables->directories,
					     s->source->tree, index, s->tables->references, error))
		return FALSE;
	return write_inode(s, index, &listing, error);
}

static void enter(state *s, guint32 directory)
{
	level next = {.directory = directory};
	guint32 count;

	img_tree_children(s->source->tree, directory, &next.next, &count);
	next.end = next.next + count;
	g_array_append_val(s->stack, next);
}

/* A cold directory has nothing hot below it, but a hot one may have cold ones. */
static gboolean visit(state *s, guint32 index, GError **error)
{
	if (s->tables->references[index] != NO_REFERENCE)
		return TRUE;
	if (img_tree_inode(s->source->tree, index)->type == IMG_DIR)
		enter(s, index);
	else if (s->hot[index] == s->pass)
		return write_inode(s, index, NULL, error);
	return TRUE;
}

static gboolean leave(state *s, GError **error)
{
	guint32 directory = g_array_index(s->stack, level, s->stack->len - 1).directory;

	g_array_set_size(s->stack, s->stack->len - 1);
	return s->hot[directory] != s->pass || write_directory(s, directory, error);
}

static gboolean walk(state *s, GError **error)
{
	enter(s, 0);
	while (s->stack->len > 0) {
		level *top = &g_array_index(s->stack, level, s->stack->len - 1);
		gboolean ok;

		if (top->next < top->end)
			ok = visit(s, img_tree_entry(s->source->tree, top->next++)->inode, error);
		else
			ok = leave(s, error);
		if (!ok)
			return FALSE;
	}
	return TRUE;
}

static gboolean write_all(state *s, GError **error)
{
	for (s->pass = FALSE; s->pass <= TRUE; s->pass++)
		if (!walk(s, error))
			return FALSE;
	return ro_splice_metadata_finish(&s->tables->inodes, error) &&
	       ro_splice_metadata_finish(&s->tables->directories, error);
}

gboolean ro_splice_tables_write(ro_splice_tables *tables, const ro_splice_inode_source *source,
	const ro_plan *plan, ro_splice_compressor *compressor, GError **error)
{
	gsize count = img_tree_inode_count(source->tree);
	g_autofree gboolean *hot = find_hot(source->tree, plan);
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(level));
	g_autoptr(GByteArray) raw = g_byte_array_new();
	state s = {tables, source, hot, FALSE, stack, raw};

	ro_splice_metadata_init(&tables->inodes, compressor);
	ro_splice_metadata_init(&tables->directories, compressor);
	tables->references = g_new(guint64, count);
	memset(tables->references, 0xff, count * sizeof(guint64));
	return write_all(&s, error);
}
