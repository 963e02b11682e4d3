/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/hot_map.h"

#include <string.h>

#include "dm/initrd.h"
#include "dm/names.h"
#include "iso/volume_tree.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "reorder/util/ranges.h"
#include "trace/coverage.h"
#include "trace/read_log.h"

enum {
	PAGE = 4096,
	NEAR_END = 1 << 20,  /* what is so near to the end is meant to be there */
	PROBE_MAX = 1 << 20, /* a longer run of reads is no probing */
	DESCRIPTORS_MAX = 64,
	DIRECTORY_LEVELS = 2,
	MAP_RESERVE = 64 << 10, /* of the text, for all other lines */
};

/* See the header. */
static const ro_range fixed_places[] = {
	{0, 68 << 10},
	{256 << 10, (256 << 10) + PAGE},
	{512 << 10, (512 << 10) + PAGE},
	{1 << 20, (1 << 20) + PAGE},
	{2 << 20, (2 << 20) + PAGE},
	{4 << 20, (4 << 20) + PAGE},
};
enum { FIXED_END = 64 << 10, MEDIUM_ENDS = 516 << 10 };

typedef struct {
	const dmx_hot_map_job *job;
	const li_file *old_image, *new_image;
	guint64 old_base, new_base; /* where the images begin */
	guint64 old_size, new_size; /* of the images */
	GArray *ranges;             /* of the new medium, bytes */
	GArray *placed;             /* of the old image, bytes: data that the map has */
	tr_coverage_parts parts;    /* with a log */
	GArray *outside;  /* with a log: read, but not of the image; bytes of the old medium */
	guint64 left_out; /* bytes read that are not in the map */
} maker;

static void maker_clear(maker *m)
{
	g_clear_pointer(&m->ranges, g_array_unref);
	g_clear_pointer(&m->placed, g_array_unref);
	g_clear_pointer(&m->outside, g_array_unref);
	tr_coverage_parts_clear(&m->parts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(maker, maker_clear)

static void add(maker *m, guint64 start, guint64 end)
{
	ro_ranges_add(m->ranges, start, MIN(end, m->job->new_iso->volume.size));
}

static void add_in_image(maker *m, guint64 start, guint64 end)
{
	add(m, m->new_base + start, m->new_base + MIN(end, m->new_size));
}

/* --- the image --- */

static const img_fragment *fragment_of(const img_tree *tree, const img_inode *inode)
{
	return inode->fragment < img_tree_fragment_count(tree)
		       ? img_tree_fragment(tree, inode->fragment)
		       : NULL;
}

static void add_fragments(maker *m, const img_inode *old, const img_inode *new)
{
	const img_fragment *a = fragment_of(m->job->old_tree, old);
	const img_fragment *b = fragment_of(m->job->new_tree, new);

	if (!a || !b)
		return;
	ro_ranges_add(m->placed, a->start, a->start + IMG_BLOCK_STORED_SIZE(a->size_word));
	add_in_image(m, b->start, b->start + IMG_BLOCK_STORED_SIZE(b->size_word));
}

static void add_whole(maker *m, const img_inode *old, const img_inode *new)
{
	if (old->block_count > 0)
		ro_ranges_add(m->placed, old->data_start, old->data_start + old->data_stored);
	if (new->block_count > 0)
		add_in_image(m, new->data_start, new->data_start + new->data_stored);
	add_fragments(m, old, new);
}

/* All pages of it: a block is of no use in part, and shares its last page with the next one. */
static gboolean was_read(const maker *m, guint64 start, guint64 size)
{
	return size > 0 && ro_ranges_has(m->parts.data, start / PAGE * PAGE,
				   (start + size + PAGE - 1) / PAGE * PAGE);
}

/* Blocks by what was read: with a log these, without the first so many. */
static void add_blocks(maker *m, const img_inode *old, const img_inode *new, guint64 bytes)
{
	guint64 from = old->data_start, to = new->data_start, unpacked = 0;

	for (guint32 i = 0; i < MIN(old->block_count, new->block_count); i++) {
		guint64 from_size = IMG_BLOCK_STORED_SIZE(old->blocks[i]);
		guint64 to_size = IMG_BLOCK_STORED_SIZE(new->blocks[i]);

		if (m->parts.data ? was_read(m, from, from_size) : unpacked < bytes) {
			ro_ranges_add(m->placed, from, from + from_size);
			add_in_image(m, to, to + to_size);
		}
		from += from_size;
		to += to_size;
		unpacked += img_tree_super(m->job->old_tree)->block_size;
	}
	add_fragments(m, old, new);
}

/* Of the inodes of the old tree: the most bytes that an event says were read. Owned by the caller.
 */
static guint64 *bytes_of_inodes(const dmx_hot_map_job *job)
{
	guint64 *bytes = g_new0(guint64, img_tree_inode_count(job->old_tree));

	for (guint i = 0; i < job->trace->events->len; i++) {
		const tr_event *event = g_ptr_array_index(job->trace->events, i);
		guint32 index = event->bytes == TR_BYTES_UNKNOWN
					? IMG_NONE
					: img_tree_resolve(job->old_tree, event->path, TRUE);

		if (index != IMG_NONE)
			bytes[index] = MAX(bytes[index], event->bytes);
	}
	return bytes;
}

static void add_files(maker *m)
{
	const dmx_hot_map_job *job = m->job;
	g_autofree guint64 *bytes = bytes_of_inodes(job);

	for (guint i = 0; i < job->files->len; i++) {
		const dmx_hot_file *file = &g_array_index(job->files, dmx_hot_file, i);
		g_autofree char *path = img_tree_inode_path(job->old_tree, file->inode);
		guint32 index = img_tree_resolve(job->new_tree, path, FALSE);
		const img_inode *old = img_tree_inode(job->old_tree, file->inode), *new;

		if (index == IMG_NONE)
			continue;
		new = img_tree_inode(job->new_tree, index);
		if (new->type != IMG_FILE)
			continue;
		if (file->partly)
			add_blocks(m, old, new, bytes[file->inode]);
		else
			add_whole(m, old, new);
	}
}

static void add_tables(maker *m)
{
	const img_tree *tree = m->job->new_tree;

	add_in_image(m, 0, IMG_SUPER_SIZE);
	add_in_image(m, img_tree_metadata_start(tree), img_tree_super(tree)->bytes_used);
}

/* --- the volume --- */

static void add_path_tables(maker *m, const guint8 *vd)
{
	guint64 size = img_le32(vd + 132);
	/* Two of each byte order; those of the other one lie beside them. */
	guint64 starts[] = {img_le32(vd + 140), img_le32(vd + 144),
		GUINT32_SWAP_LE_BE(img_le32(vd + 148)), GUINT32_SWAP_LE_BE(img_le32(vd + 152))};

	for (gsize i = 0; size < PROBE_MAX && i < G_N_ELEMENTS(starts); i++)
		if (starts[i] > 0)
			add(m, starts[i] * LI_SECTOR, starts[i] * LI_SECTOR + size);
}

/* The descriptors up to their terminator (ECMA-119 8.3), and the primary one's tables. */
static gboolean add_descriptors(maker *m, GError **error)
{
	const li_iso *iso = m->job->new_iso;
	const img_source source = {iso->fd, 0, iso->file_size, iso->path};

	for (guint64 i = 16; i < 16 + DESCRIPTORS_MAX; i++) {
		guint8 vd[LI_SECTOR];

		if (!img_source_read(&source, i * LI_SECTOR, vd, sizeof(vd), error))
			return FALSE;
		add(m, i * LI_SECTOR, (i + 1) * LI_SECTOR);
		if (vd[0] == 1) {
			guint64 root = img_le32(vd + 158);

			add_path_tables(m, vd);
			add(m, root * LI_SECTOR,
				root * LI_SECTOR + MIN(img_le32(vd + 166), PROBE_MAX));
		}
		if (vd[0] == 255 || memcmp(vd + 1, "CD001", 5) != 0)
			break;
	}
	return TRUE;
}

static guint levels(const char *path)
{
	guint count = 0;

	for (; *path; path++)
		count += *path == '/';
	return count;
}

static gboolean add_directories(maker *m, GError **error)
{
	const li_iso *iso = m->job->new_iso;
	g_autoptr(li_tree) tree = li_tree_read(iso->fd, LI_VD_PRIMARY, iso->path, error);
	gsize beside = (gsize)(strrchr(m->job->image, '/') - m->job->image) + 1;

	for (guint i = 0; tree && i < tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(tree->nodes, i);

		if (node->record > 0 && (levels(node->path) <= DIRECTORY_LEVELS + 1 ||
						strncmp(node->path, m->job->image, beside) == 0))
			add(m, node->record / LI_SECTOR * LI_SECTOR,
				node->record / LI_SECTOR * LI_SECTOR + LI_SECTOR);
	}
	return tree != NULL;
}

/* --- what else was read --- */

/* Keeps the distance from the start, or from the end if it was near that. */
static guint64 moved(guint64 at, guint64 old_size, guint64 new_size)
{
	if (at + NEAR_END < old_size)
		return at;
	return at < old_size && old_size - at < new_size ? new_size - (old_size - at) : at;
}

static void add_on_medium(maker *m, guint64 start, guint64 end)
{
	guint64 at = moved(start, m->job->old_iso->file_size, m->job->new_iso->file_size);

	add(m, at, at + (end - start));
}

static void add_probing(maker *m)
{
	for (guint i = 0; i < m->parts.unexplained->len; i++) {
		const ro_range *r = &g_array_index(m->parts.unexplained, ro_range, i);
		guint64 at = moved(r->start, m->old_size, m->new_size);

		if (r->end - r->start > PROBE_MAX) {
			m->left_out += r->end - r->start;
			continue;
		}
		add_in_image(m, at, at + (r->end - r->start));
		add_on_medium(m, m->old_base + r->start, m->old_base + r->end);
	}
}

/* An extent of a file of the old ISO. */
typedef struct {
	const li_file *file;
	guint64 start, end, position; /* on the medium; in the file */
} piece;

static gint by_start(gconstpointer a, gconstpointer b)
{
	const piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static gboolean is_boot_file(const li_iso *iso, const li_file *file)
{
	for (guint i = 0; i < iso->entries->len; i++) {
		const li_entry *entry = g_ptr_array_index(iso->entries, i);

		if (g_str_equal(entry->kernel, file->path))
			return TRUE;
		for (guint k = 0; k < entry->initrds->len; k++)
			if (g_str_equal(entry->initrds->pdata[k], file->path))
				return TRUE;
	}
	return FALSE;
}

/* But for kernels, initrds and the image, which nothing reads as files once Linux runs. */
static GArray *file_pieces(const maker *m)
{
	const li_iso *iso = m->job->old_iso;
	GArray *pieces = g_array_new(FALSE, FALSE, sizeof(piece));

	for (guint i = 0; i < iso->files->len; i++) {
		const li_file *file = g_ptr_array_index(iso->files, i);
		guint64 position = 0;

		if (file == m->old_image || is_boot_file(iso, file))
			continue;
		for (guint k = 0; k < file->extent_count; k++) {
			const li_extent *e = &file->extents[k];
			piece p = {file, e->offset, e->offset + e->length, position};

			g_array_append_val(pieces, p);
			position += e->length;
		}
	}
	g_array_sort(pieces, by_start);
	return pieces;
}

/* At the same place in the new ISO's file, whose extents are consecutive. */
static void add_in_file(maker *m, const piece *p, guint64 start, guint64 end)
{
	const li_file *file = li_iso_find(m->job->new_iso, p->file->path);
	guint64 position = p->position + (start - p->start);

	if (!file || file->extent_count == 0 || position >= file->size)
		return;
	position += file->extents[0].offset;
	add(m, position, position + (end - start));
}

/* The parts of a run that lie in files; returns their bytes. next: the first piece to look at. */
static guint64 add_in_files(maker *m, const GArray *pieces, guint next, const ro_range *run)
{
	guint64 bytes = 0;

	for (; next < pieces->len; next++) {
		const piece *p = &g_array_index(pieces, piece, next);
		guint64 start = MAX(p->start, run->start), end = MIN(p->end, run->end);

		if (p->start >= run->end)
			break;
		if (start >= end)
			continue;
		add_in_file(m, p, start, end);
		bytes += end - start;
	}
	return bytes;
}

static void add_outside(maker *m)
{
	g_autoptr(GArray) pieces = file_pieces(m);
	guint next = 0;

	for (guint i = 0; i < m->outside->len; i++) {
		const ro_range *run = &g_array_index(m->outside, ro_range, i);
		guint64 length = run->end - run->start, in_files;

		while (next < pieces->len && g_array_index(pieces, piece, next).end <= run->start)
			next++;
		in_files = add_in_files(m, pieces, next, run);
		if (length <= PROBE_MAX)
			add_on_medium(m, run->start, run->end);
		else
			m->left_out += length - in_files;
	}
}

static void add_fixed(maker *m)
{
	guint64 end = m->job->new_iso->volume.size;

	for (gsize i = 0; i < G_N_ELEMENTS(fixed_places); i++) {
		add(m, fixed_places[i].start, fixed_places[i].end);
		if (fixed_places[i].start < m->new_size)
			add_in_image(m, fixed_places[i].start, fixed_places[i].end);
	}
	add(m, 0, MEDIUM_ENDS);
	add(m, end - MIN(end, MEDIUM_ENDS), end);
	add_in_image(m, m->new_size - MIN(m->new_size, FIXED_END), m->new_size);
}

/* --- together --- */

/* In whole pages, but for the end of the volume. */
static void align(GArray *ranges, guint64 size)
{
	for (guint i = 0; i < ranges->len; i++) {
		ro_range *r = &g_array_index(ranges, ro_range, i);

		r->start = r->start / PAGE * PAGE;
		r->end = MIN((r->end + PAGE - 1) / PAGE * PAGE, size);
	}
}

/* "extent OFFSET LENGTH\n" */
static guint line_bytes(guint64 size)
{
	guint digits = 1;

	while ((size /= 10) > 0)
		digits++;
	return 9 + 2 * digits;
}

static void merge(maker *m)
{
	gsize bytes = m->job->max_bytes ? m->job->max_bytes : DMX_MAP_BYTES_MAX - MAP_RESERVE;
	guint limit =
		(guint)MIN(DMX_MAP_EXTENTS_MAX, bytes / line_bytes(m->job->new_iso->volume.size));

	align(m->ranges, m->job->new_iso->volume.size);
	for (guint64 gap = DMX_GAP;; gap *= 2) {
		ro_ranges_merge(m->ranges, gap);
		if (m->ranges->len <= MAX(limit, 1))
			return;
	}
}

static GArray *outside_of(const GArray *reads, guint64 start, guint64 end, guint64 limit)
{
	GArray *ranges = ro_ranges_new();

	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		guint64 from = read->offset / PAGE * PAGE;
		guint64 to = MIN((read->offset + read->length + PAGE - 1) / PAGE * PAGE, limit);

		ro_ranges_add(ranges, from, MIN(to, start));
		ro_ranges_add(ranges, MAX(from, end), to);
	}
	ro_ranges_normalise(ranges);
	return ranges;
}

static void count(const maker *m, dmx_hot_map *map)
{
	g_autoptr(GArray) placed = ro_ranges_new();

	if (!m->job->reads)
		return;
	/* The log's data count by pages. */
	g_array_append_vals(placed, m->placed->data, m->placed->len);
	align(placed, G_MAXUINT64);
	ro_ranges_normalise(placed);
	g_autoptr(GArray) covered = ro_ranges_intersect(m->parts.data, placed);
	guint64 others = ro_ranges_total(m->parts.metadata) +
			 ro_ranges_total(m->parts.unexplained) + ro_ranges_total(m->outside);

	map->reads = ro_ranges_total(m->parts.data) + others;
	map->covered = ro_ranges_total(covered) + others - m->left_out;
}

static void finish(maker *m, dmx_hot_map *map)
{
	merge(m);
	map->extents = g_array_new(FALSE, FALSE, sizeof(struct dmx_extent));
	for (guint i = 0; i < m->ranges->len; i++) {
		const ro_range *r = &g_array_index(m->ranges, ro_range, i);
		struct dmx_extent extent = {r->start, r->end - r->start};

		g_array_append_val(map->extents, extent);
	}
	map->bytes = ro_ranges_total(m->ranges);
	count(m, map);
}

static gboolean start(maker *m, GError **error)
{
	const dmx_hot_map_job *job = m->job;

	m->old_image = li_iso_find(job->old_iso, job->image);
	m->new_image = li_iso_find(job->new_iso, job->image);
	if (!m->old_image || !m->new_image || m->old_image->extent_count == 0 ||
		m->new_image->extent_count == 0)
		return ro_fail(
			error, RO_ERROR_FAILED, "%s:%s: not found", job->new_iso->path, job->image);
	m->old_base = m->old_image->extents[0].offset;
	m->new_base = m->new_image->extents[0].offset;
	m->old_size = m->old_image->size;
	m->new_size = img_tree_source(job->new_tree)->size;
	m->ranges = ro_ranges_new();
	m->placed = ro_ranges_new();
	if (!job->reads)
		return TRUE;
	const img_layer layer = {.name = job->image, .tree = job->old_tree};
	if (!tr_coverage_split(job->trace, &layer, m->old_base, job->reads, &m->parts, error))
		return FALSE;
	/* Pages of the medium that have a byte of the image are the image's. */
	m->outside = outside_of(job->reads, m->old_base / PAGE * PAGE,
		(m->old_base + m->old_size + PAGE - 1) / PAGE * PAGE, job->old_iso->file_size);
	return TRUE;
}

gboolean dmx_hot_map_make(const dmx_hot_map_job *job, dmx_hot_map *map, GError **error)
{
	g_auto(maker) m = {.job = job};

	*map = (dmx_hot_map){0};
	if (!start(&m, error))
		return FALSE;
	add_files(&m);
	add_tables(&m);
	if (!add_descriptors(&m, error) || !add_directories(&m, error))
		return FALSE;
	add_fixed(&m);
	if (job->reads) {
		add_probing(&m);
		add_outside(&m);
	}
	finish(&m, map);
	return TRUE;
}

void dmx_hot_map_clear(dmx_hot_map *map)
{
	g_clear_pointer(&map->extents, g_array_unref);
}

/* --- reading it again --- */

/* The last initrd of each entry, each once. Array of const li_file *, owned by the caller. */
gboolean dmx_entry_has_preload(const li_entry *entry)
{
	return strstr(entry->cmdline, "rdinit=/" DMX_LOADER_PATH) != NULL;
}

static GPtrArray *last_initrds(const li_iso *iso)
{
	GPtrArray *files = g_ptr_array_new();

	for (guint i = 0; i < iso->entries->len; i++) {
		const li_entry *entry = g_ptr_array_index(iso->entries, i);
		const li_file *file =
			entry->initrds->len > 0
				? li_iso_find(iso, entry->initrds->pdata[entry->initrds->len - 1])
				: NULL;

		if (file && !g_ptr_array_find(files, file, NULL))
			g_ptr_array_add(files, (gpointer)file);
	}
	return files;
}

static gboolean parse_map(
	const li_iso *iso, const li_file *file, GBytes *text, struct dmx_map *map, GError **error)
{
	gsize size;
	const char *data = g_bytes_get_data(text, &size);
	const char *fault = dmx_map_parse(data, size, map);

	return !fault ||
	       ro_fail(error, RO_ERROR_UNSUITABLE, "%s:%s: the hot map in it is broken: %s",
		       iso->path, file->path, fault);
}

gboolean dmx_hot_map_of_iso(const li_iso *iso, struct dmx_map *map, GError **error)
{
	g_autoptr(GPtrArray) files = last_initrds(iso);
	GError *damage = NULL; /* of the first that cannot be read: another may have the map */

	memset(map, 0, sizeof(*map));
	for (guint i = 0; i < files->len; i++) {
		const li_file *file = files->pdata[i];
		g_autoptr(GBytes) text = dmx_initrd_map(iso, file, damage ? NULL : &damage);

		if (text) {
			g_clear_error(&damage);
			return parse_map(iso, file, text, map, error);
		}
	}
	if (damage) {
		g_propagate_error(error, damage);
		return FALSE;
	}
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: no initrd of it has a hot map; make one with --preload dm", iso->path);
}
