/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/block_tracer.h"

#include "trace/data_map.h"

/* What a loop device reads of the image's file: pages of the guest's cache. */
enum { PAGE = 4096 };

/* No read. */
#define NEVER G_MAXUINT32

typedef struct {
	const img_layer *layer;
	guint64 offset, size;
} image;

typedef struct {
	guint32 image; /* index into images */
	guint32 inode;
	gboolean ahead;
	guint32 read;     /* the one that made its first block whole */
	guint64 position; /* of that block */
	guint32 rest;     /* where in it the file's bytes lie */
} candidate;

struct tr_block_tracer {
	const GArray *reads;
	GArray *images;
	GArray *candidates;
};

/* Of every page of an image: the read that brought it first, or NEVER, and whether it was wanted.
 */
typedef struct {
	const image *image;
	const GArray *reads;
	guint64 count;
	guint32 *first;
	gboolean *wanted;
} page_map;

/* What became of a block. */
typedef struct {
	guint32 read; /* that made it whole, or NEVER */
	gboolean wanted;
} block_use;

tr_block_tracer *tr_block_tracer_new(const GArray *reads)
{
	tr_block_tracer *tracer = g_new0(tr_block_tracer, 1);

	tracer->reads = reads;
	tracer->images = g_array_new(FALSE, FALSE, sizeof(image));
	tracer->candidates = g_array_new(FALSE, FALSE, sizeof(candidate));
	return tracer;
}

void tr_block_tracer_free(tr_block_tracer *tracer)
{
	if (!tracer)
		return;
	g_array_unref(tracer->images);
	g_array_unref(tracer->candidates);
	g_free(tracer);
}

/* --- pages --- */

/* The pages that a read brings, [*from, *to); FALSE if none are of the image. */
static gboolean pages_of(const page_map *map, guint32 index, guint64 *from, guint64 *to)
{
	const tr_read *read = &g_array_index(map->reads, tr_read, index);
	guint64 start = map->image->offset, end = start + map->image->size;

	if (read->offset + read->length <= start || read->offset >= end)
		return FALSE;
	*from = (MAX(read->offset, start) - start) / PAGE;
	*to = (MIN(read->offset + read->length, end) - start + PAGE - 1) / PAGE;
	return *to > *from;
}

static void want(page_map *map, guint64 from, guint64 to)
{
	for (guint64 page = from; page < to; page++)
		map->wanted[page] = TRUE;
}

/* The reader has come to the first page of the read before, all the way from where the one before
 * that started. */
static void want_before(page_map *map, guint64 page)
{
	guint64 from, to, before, ignored;

	if (!pages_of(map, map->first[page - 1], &from, &to))
		return;
	before = from;
	if (from > 0 && map->first[from - 1] < map->first[from])
		pages_of(map, map->first[from - 1], &before, &ignored);
	want(map, MIN(before, from), from + 1);
}

static void take_read(page_map *map, guint32 index)
{
	guint64 from, to;
	gboolean inside = g_array_index(map->reads, tr_read, index).offset >= map->image->offset;

	if (!pages_of(map, index, &from, &to))
		return;
	if (from > 0 && map->first[from - 1] != NEVER)
		want_before(map, from);
	else if (inside)
		want(map, from, from + 1);
	for (guint64 page = from; page < to; page++)
		map->first[page] = MIN(map->first[page], index);
}

static void make_map(page_map *map, const image *of, const GArray *reads)
{
	*map = (page_map){.image = of, .reads = reads};
	map->count = of->size / PAGE + 1;
	map->first = g_new(guint32, map->count);
	map->wanted = g_new0(gboolean, map->count);
	for (guint64 page = 0; page < map->count; page++)
		map->first[page] = NEVER;
	for (guint32 i = 0; i < reads->len; i++)
		take_read(map, i);
}

static void clear_map(page_map *map)
{
	g_free(map->first);
	g_free(map->wanted);
}

/* --- blocks --- */

/* A page with the end of one block and the start of the next: who jumps to it is after the latter.
 */
static gboolean is_entered(const page_map *map, guint64 page, guint64 first_page)
{
	return map->wanted[page] &&
	       (page == first_page || map->first[page - 1] <= map->first[page]);
}

static block_use use_of(const page_map *map, guint64 start, guint64 stored)
{
	block_use use = {0};
	guint64 from = start / PAGE, to = (start + stored + PAGE - 1) / PAGE;

	if (stored == 0 || to > map->count)
		return (block_use){.read = NEVER};
	for (guint64 page = from; page < to; page++) {
		if (map->first[page] == NEVER)
			return (block_use){.read = NEVER};
		use.read = MAX(use.read, map->first[page]);
		use.wanted |= is_entered(map, page, from);
	}
	return use;
}

/* --- files --- */

/* What was wanted says more than what was read ahead. */
static void note_piece(candidate *file, block_use use, const tr_piece *piece)
{
	if (use.read == NEVER || (!use.wanted && !file->ahead))
		return;
	if (file->read != NEVER && file->ahead == !use.wanted && file->read <= use.read)
		return;
	file->ahead = !use.wanted;
	file->read = use.read;
	file->position = piece->start;
	file->rest = piece->rest;
}

/* The file's blocks; its share of a fragment block only if it has none. */
static void look_at_file(
	tr_block_tracer *tracer, const page_map *map, const GArray *pieces, guint32 index)
{
	candidate file = {
		.image = tracer->images->len - 1, .inode = index, .ahead = TRUE, .read = NEVER};

	for (guint i = 0; i < pieces->len; i++) {
		const tr_piece *piece = &g_array_index(pieces, tr_piece, i);

		if (piece->fragment && i > 0)
			break;
		note_piece(&file, use_of(map, piece->start, piece->stored), piece);
	}
	if (file.read != NEVER)
		g_array_append_val(tracer->candidates, file);
}

gboolean tr_block_tracer_add(
	tr_block_tracer *tracer, const img_layer *layer, guint64 offset, GError **error)
{
	g_autoptr(tr_data_map) data = tr_data_map_new(layer, error);
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(tr_piece));
	page_map map;

	if (!data)
		return FALSE;
	image of = {layer, offset, tr_data_map_size(data)};
	g_array_append_val(tracer->images, of);
	make_map(&map, &of, tracer->reads);
	for (guint32 i = 0; i < img_tree_inode_count(layer->tree); i++) {
		if (img_tree_inode(layer->tree, i)->type != IMG_FILE)
			continue;
		tr_data_map_pieces(data, i, pieces);
		look_at_file(tracer, &map, pieces, i);
	}
	clear_map(&map);
	return TRUE;
}

/* --- events --- */

typedef struct {
	const tr_block_tracer *tracer;
	GPtrArray *events;
	gboolean **seen; /* of every image: which directories are in events */
	double start;
} writer;

static int compare_numbers(guint64 a, guint64 b)
{
	return (a > b) - (a < b);
}

static gint by_read(gconstpointer a, gconstpointer b)
{
	const candidate *x = a, *y = b;
	int order = compare_numbers(x->ahead, y->ahead);

	order = order ? order : compare_numbers(x->read, y->read);
	order = order ? order : compare_numbers(x->position, y->position);
	order = order ? order : compare_numbers(x->rest, y->rest);
	return order ? order : compare_numbers(x->inode, y->inode);
}

static void add_event(writer *w, guint32 index, guint32 inode, tr_kind kind, double time)
{
	const image *of = &g_array_index(w->tracer->images, image, index);
	tr_event *event = g_new0(tr_event, 1);

	event->time = time;
	event->kind = kind;
	event->how = TR_BLOCKS;
	event->bytes = TR_BYTES_UNKNOWN;
	event->image = g_strdup(of->layer->name);
	event->path = img_tree_inode_path(of->layer->tree, inode);
	g_ptr_array_add(w->events, event);
}

/* The directories on the way that are not there yet, the root first. */
static void add_parents(writer *w, const candidate *file, double time)
{
	const img_tree *tree = g_array_index(w->tracer->images, image, file->image).layer->tree;
	gboolean *seen = w->seen[file->image];
	g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(guint32));
	guint32 entry = img_tree_inode(tree, file->inode)->first_entry;

	while (entry != IMG_NONE) {
		entry = img_tree_entry(tree, entry)->parent;
		guint32 directory = entry == IMG_NONE ? 0 : img_tree_entry(tree, entry)->inode;
		if (seen[directory])
			break;
		seen[directory] = TRUE;
		g_array_append_val(parents, directory);
	}
	for (guint i = parents->len; i-- > 0;)
		add_event(w, file->image, g_array_index(parents, guint32, i), TR_DIR, time);
}

static double time_of(const writer *w, const candidate *file)
{
	const GArray *reads = w->tracer->reads;
	guint32 read = file->ahead ? reads->len - 1 : file->read;

	return MAX(g_array_index(reads, tr_read, read).time - w->start, 0);
}

static void free_event(gpointer event)
{
	tr_event_free(event);
}

GPtrArray *tr_block_tracer_events(
	const tr_block_tracer *tracer, double start, tr_block_counts *counts)
{
	guint images = tracer->images->len;
	writer w = {.tracer = tracer, .start = start, .seen = g_new(gboolean *, images)};

	w.events = g_ptr_array_new_with_free_func(free_event);
	*counts = (tr_block_counts){0};
	for (guint i = 0; i < images; i++)
		w.seen[i] = g_new0(gboolean,
			img_tree_inode_count(g_array_index(tracer->images, image, i).layer->tree));
	g_array_sort(tracer->candidates, by_read);
	for (guint i = 0; i < tracer->candidates->len; i++) {
		const candidate *file = &g_array_index(tracer->candidates, candidate, i);
		double time = time_of(&w, file);

		add_parents(&w, file, time);
		add_event(&w, file->image, file->inode, TR_FILE, time);
		++*(file->ahead ? &counts->ahead : &counts->wanted);
	}
	for (guint i = 0; i < images; i++)
		g_free(w.seen[i]);
	g_free(w.seen);
	return w.events;
}
