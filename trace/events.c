/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/events.h"

#include <string.h>

#include "trace/agent/protocol.h"
#include "trace/guest_mounts.h"

struct tr_events {
	const img_layer *layers;
	guint layer_count;
	GPtrArray *list;     /* of tr_event */
	GArray *by_number;   /* guint32: index into list or IMG_NONE */
	GPtrArray *by_inode; /* for each layer guint32 *: for each inode an index into list or
				IMG_NONE */
	double last_time;
	tr_events_counts counts;
};

/* What an access is to. */
typedef struct {
	guint layer;
	guint32 inode;
	char *path; /* owned */
} object;

static void object_clear(object *o)
{
	g_free(o->path);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(object, object_clear)

static void free_event(gpointer event)
{
	tr_event_free(event);
}

static guint32 *new_indexes(const img_tree *tree)
{
	guint32 count = img_tree_inode_count(tree);
	guint32 *indexes = g_new(guint32, count);

	for (guint32 i = 0; i < count; i++)
		indexes[i] = IMG_NONE;
	return indexes;
}

tr_events *tr_events_new(const img_layer *layers, guint count)
{
	tr_events *events = g_new0(tr_events, 1);

	events->layers = layers;
	events->layer_count = count;
	events->list = g_ptr_array_new_with_free_func(free_event);
	events->by_number = g_array_new(FALSE, FALSE, sizeof(guint32));
	events->by_inode = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < count; i++)
		g_ptr_array_add(events->by_inode, new_indexes(layers[i].tree));
	return events;
}

void tr_events_free(tr_events *events)
{
	if (!events)
		return;
	if (events->list)
		g_ptr_array_unref(events->list);
	g_array_unref(events->by_number);
	g_ptr_array_unref(events->by_inode);
	g_free(events);
}

const tr_events_counts *tr_events_get_counts(const tr_events *events)
{
	return &events->counts;
}

guint tr_events_count(const tr_events *events)
{
	return events->list->len;
}

/* Reading says more than executing, that more than opening. */
static tr_how strongest(guint hows)
{
	if (hows & TR_HOW_READ)
		return TR_READ;
	return hows & TR_HOW_EXEC ? TR_EXEC : TR_OPEN;
}

static gboolean kind_of(img_type type, tr_kind *kind)
{
	switch (type) {
	case IMG_FILE:
		*kind = TR_FILE;
		return TRUE;
	case IMG_DIR:
		*kind = TR_DIR;
		return TRUE;
	case IMG_SYMLINK:
		*kind = TR_SYMLINK;
		return TRUE;
	default:
		return FALSE;
	}
}

/* Whether a path has neither links nor dots on its way, so that it is one of the inode's own names.
 */
static gboolean is_literal(const img_tree *tree, const char *path)
{
	g_autofree char *prefix = g_strconcat("/", path, NULL);

	if (strstr(prefix, "//") || strstr(prefix, "/./") || strstr(prefix, "/../"))
		return FALSE;
	for (char *slash = strchr(prefix + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		guint32 inode = img_tree_resolve(tree, prefix, FALSE);
		*slash = '/';
		if (inode == IMG_NONE || img_tree_inode(tree, inode)->type != IMG_DIR)
			return FALSE;
	}
	return TRUE;
}

/* Of several hard links the name that was used. */
static char *name_of(const img_tree *tree, guint32 inode, const char *path)
{
	const img_inode *node = img_tree_inode(tree, inode);

	while (*path == '/')
		path++;
	if (node->type != IMG_DIR && node->nlink > 1 && is_literal(tree, path))
		return g_strdup(path);
	return img_tree_inode_path(tree, inode);
}

/* The path at that place, or one that a layer above has made of it. */
static char *path_at(const tr_place *place, const char *renamed)
{
	g_autofree char *root = g_strndup(place->path, place->root);

	return renamed ? g_strconcat(root, renamed, NULL) : g_strdup(place->path);
}

/* The topmost layer that has it. */
static gboolean find_object(tr_events *events, const GArray *places, object *found)
{
	img_layer_answer answer = IMG_LAYER_PASSES;
	g_autofree char *renamed = NULL;
	gboolean ours = FALSE;

	for (guint i = 0; i < places->len && answer == IMG_LAYER_PASSES; i++) {
		const tr_place *place = &g_array_index(places, tr_place, i);
		const img_layer *layer =
			img_layer_named(events->layers, events->layer_count, place->image);

		if (!layer)
			continue;
		ours = TRUE;
		g_free(found->path);
		found->path = path_at(place, renamed);
		g_free(renamed);
		/* The guest has followed the links that lead to it. */
		answer = img_layer_find(layer, found->path, place->root, &found->inode, &renamed);
		found->layer = (guint)(layer - events->layers);
	}
	if (answer == IMG_LAYER_HAS)
		return TRUE;
	if (ours)
		events->counts.unmatched++;
	else
		events->counts.unplaced++;
	return FALSE;
}

/* Index of the object's event; a new one if there was none. IMG_NONE for what is no file, directory
 * or link. */
static guint32 event_of(tr_events *events, const object *o, double time)
{
	const img_layer *layer = &events->layers[o->layer];
	guint32 *indexes = g_ptr_array_index(events->by_inode, o->layer);
	tr_kind kind;

	if (indexes[o->inode] != IMG_NONE)
		return indexes[o->inode];
	if (!kind_of(img_tree_inode(layer->tree, o->inode)->type, &kind))
		return IMG_NONE;
	tr_event *event = g_new0(tr_event, 1);
	event->time = time;
	event->kind = kind;
	event->how = TR_OPEN;
	event->bytes = TR_BYTES_UNKNOWN;
	event->image = g_strdup(layer->name);
	event->path = name_of(layer->tree, o->inode, o->path);
	g_ptr_array_add(events->list, event);
	return indexes[o->inode] = events->list->len - 1;
}

static void strengthen(tr_event *event, guint hows)
{
	event->how = MAX(event->how, strongest(hows));
}

static void remember(tr_events *events, guint32 number, guint32 index)
{
	guint32 none = IMG_NONE;

	while (events->by_number->len <= number)
		g_array_append_val(events->by_number, none);
	g_array_index(events->by_number, guint32, number) = index;
}

gboolean tr_events_add(
	tr_events *events, guint32 number, double time, guint hows, const GArray *places)
{
	guint before = events->list->len;

	events->counts.received++;
	if (number >= TR_EVENTS_MAX) {
		events->counts.refused++;
		return FALSE;
	}
	g_auto(object) found = {0};
	if (!find_object(events, places, &found))
		return FALSE;
	events->last_time =
		MAX(events->last_time, time); /* the list is by time, whatever the guest says */
	guint32 index = event_of(events, &found, events->last_time);
	if (index == IMG_NONE)
		return FALSE;
	strengthen(g_ptr_array_index(events->list, index), hows);
	remember(events, number, index);
	return events->list->len > before;
}

void tr_events_more(tr_events *events, guint32 number, guint hows)
{
	if (number >= events->by_number->len)
		return;
	guint32 index = g_array_index(events->by_number, guint32, number);
	if (index != IMG_NONE)
		strengthen(g_ptr_array_index(events->list, index), hows);
}

GPtrArray *tr_events_steal(tr_events *events)
{
	return g_steal_pointer(&events->list);
}
