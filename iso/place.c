/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/place.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/gpt.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

enum {
	MBR_ENTRIES = 446,
	MBR_ENTRY = 16,
	MBR_COUNT = 4,
	BLOCK = 512,
	GPT_FIRST_BLOCK = 32, /* in an entry */
	HFS_HEADER = 1024,
	CHUNK = 1 << 16,
};

li_vd_kind li_tree_kind(const li_iso *iso)
{
	return iso->volume.joliet && !iso->volume.rock_ridge ? LI_VD_JOLIET : LI_VD_PRIMARY;
}

static gboolean add_tree(
	GPtrArray *trees, const li_iso *iso, li_vd_kind kind, gboolean first, GError **error)
{
	guint64 at;
	li_tree *tree;

	if (!li_vd_find(iso->fd, 0, kind, &at, error))
		return FALSE;
	if (!at)
		return TRUE;
	tree = li_tree_read(iso->fd, kind, iso->path, error);
	if (tree)
		g_ptr_array_insert(trees, first ? 0 : -1, tree);
	return tree != NULL;
}

GPtrArray *li_trees_read(const li_iso *iso, GError **error)
{
	g_autoptr(GPtrArray) trees = g_ptr_array_new_with_free_func((GDestroyNotify)li_tree_free);
	gboolean joliet_names = li_tree_kind(iso) == LI_VD_JOLIET;

	if (!add_tree(trees, iso, LI_VD_PRIMARY, FALSE, error) ||
		!add_tree(trees, iso, LI_VD_JOLIET, joliet_names, error) ||
		!add_tree(trees, iso, LI_VD_ENHANCED, FALSE, error))
		return NULL;
	return g_steal_pointer(&trees);
}

gboolean li_place_holds(const li_place *place, const li_node *node)
{
	return S_ISREG(node->mode) && li_node_start(node) == place->start &&
	       node->size == place->length;
}

typedef gboolean (*visitor)(gpointer data, guint64 offset, guint64 length);

/* Calls visit for each extent of other files, until it says FALSE; then returns that file. */
static const li_node *visit_files(
	const GPtrArray *trees, const li_place *place, visitor visit, gpointer data)
{
	for (guint t = 0; t < trees->len; t++) {
		const li_tree *tree = g_ptr_array_index(trees, t);

		for (guint i = 0; i < tree->nodes->len; i++) {
			const li_node *node = g_ptr_array_index(tree->nodes, i);

			if (!node->extents || li_place_holds(place, node))
				continue;
			for (guint k = 0; k < node->extents->len; k++) {
				const li_extent *e = &g_array_index(node->extents, li_extent, k);

				if (!visit(data, e->offset, e->length))
					return node;
			}
		}
	}
	return NULL;
}

static gboolean is_apart(gpointer data, guint64 offset, guint64 length)
{
	const li_place *place = data;

	return offset >= place->start + place->sectors || offset + length <= place->start;
}

static gboolean lies_apart(
	const li_iso *iso, const GPtrArray *trees, li_place *place, GError **error)
{
	const li_node *node = visit_files(trees, place, is_apart, place);

	if (node)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: lies where the live image lies; make the ISO again", iso->path,
			node->path);
	for (guint i = 0; i < iso->boot_images->len; i++) {
		const li_boot_image *image = g_ptr_array_index(iso->boot_images, i);

		if (!is_apart(place, image->offset, 1))
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: boot image %u lies inside the live image; make the ISO again",
				iso->path, i + 1);
	}
	return TRUE;
}

gboolean li_place_find(const li_iso *iso, const GPtrArray *trees, const li_file *file,
	li_place *place, GError **error)
{
	img_source source;

	if (!li_iso_source(iso, file, &source, error))
		return FALSE;
	place->start = source.offset;
	place->length = file->size;
	place->sectors = (file->size + LI_SECTOR - 1) / LI_SECTOR * LI_SECTOR;
	if (place->start + place->sectors > iso->file_size) /* the last sector is cut off */
		place->sectors = place->length;
	return lies_apart(iso, trees, place, error);
}

/* --- what follows --- */

static gboolean read_bytes(const li_iso *iso, guint64 offset, void *buffer, gsize size)
{
	const img_source disc = {iso->fd, 0, iso->file_size, iso->path};

	return img_source_read(&disc, offset, buffer, size, NULL);
}

static gboolean has_hfs(const li_iso *iso)
{
	char magic[2];

	return !read_bytes(iso, HFS_HEADER, magic, sizeof(magic)) || memcmp(magic, "H+", 2) == 0 ||
	       memcmp(magic, "HX", 2) == 0 || memcmp(magic, "BD", 2) == 0;
}

/* A volume of its own with other directory records (xorriso -boot_image any partition_offset=). */
static gboolean has_volume(const li_iso *iso, guint64 partition)
{
	char magic[5];

	return partition > 0 &&
	       read_bytes(iso, partition + 16 * LI_SECTOR + 1, magic, sizeof(magic)) &&
	       memcmp(magic, "CD001", sizeof(magic)) == 0;
}

/* FALSE: there are directory records or lengths that nobody here can change. */
static gboolean can_change_length(
	const li_iso *iso, const GPtrArray *trees, const li_place *place, guint64 wanted)
{
	const li_volume *volume = &iso->volume;

	if (volume->udf || volume->apm || volume->multi_session || has_hfs(iso) ||
		wanted > G_MAXUINT32)
		return FALSE;
	for (guint t = 0; t < trees->len; t++) {
		const li_tree *tree = g_ptr_array_index(trees, t);

		for (guint i = 0; i < tree->nodes->len; i++) {
			const li_node *node = g_ptr_array_index(tree->nodes, i);

			if (li_place_holds(place, node) &&
				(node->extents->len != 1 || node->zisofs))
				return FALSE;
		}
	}
	return TRUE;
}

/* What is free ends where something begins. */
typedef struct {
	guint64 from, to;
} gap;

static void end_at(gap *g, guint64 offset)
{
	if (offset >= g->from)
		g->to = MIN(g->to, offset);
}

static gboolean end_at_extent(gpointer data, guint64 offset, G_GNUC_UNUSED guint64 length)
{
	end_at(data, offset);
	return TRUE;
}

/* FALSE if one of them is a volume of its own. */
static gboolean end_at_mbr(const li_iso *iso, gap *g)
{
	guint8 sector[BLOCK];

	if (!read_bytes(iso, 0, sector, sizeof(sector)))
		return FALSE;
	for (guint i = 0; iso->volume.mbr && i < MBR_COUNT; i++) {
		const guint8 *entry = sector + MBR_ENTRIES + i * MBR_ENTRY;
		guint64 start = (guint64)img_le32(entry + 8) * BLOCK;

		if (entry[4] == 0)
			continue;
		if (has_volume(iso, start))
			return FALSE;
		end_at(g, start);
	}
	return TRUE;
}

static gboolean end_at_gpt(const li_iso *iso, gap *g)
{
	g_auto(li_gpt) gpt = {0}, backup = {0};
	static const guint8 unused[16] = {0};

	if (!iso->volume.gpt)
		return TRUE;
	if (!li_gpt_read(iso->fd, LI_GPT_BLOCK, &gpt))
		return FALSE;
	end_at(g, gpt.offset);
	end_at(g, gpt.entries_offset);
	end_at(g, gpt.backup);
	if (li_gpt_read(iso->fd, gpt.backup, &backup))
		end_at(g, backup.entries_offset);
	for (guint i = 0; i < gpt.entry_count; i++) {
		const guint8 *entry = gpt.entries + (gsize)i * gpt.entry_size;
		guint64 start = img_le64(entry + GPT_FIRST_BLOCK);

		if (memcmp(entry, unused, sizeof(unused)) == 0)
			continue;
		if (start > G_MAXINT64 / BLOCK || has_volume(iso, start * BLOCK))
			return FALSE;
		end_at(g, start * BLOCK);
	}
	return TRUE;
}

/* Directories, path tables and what else might lie there are no zeros. */
static void end_at_data(const li_iso *iso, gap *g)
{
	guint8 chunk[CHUNK];

	for (guint64 at = g->from; at < g->to; at += CHUNK) {
		gsize size = MIN(CHUNK, g->to - at), zeros = 0;

		if (!read_bytes(iso, at, chunk, size)) {
			g->to = at;
			return;
		}
		while (zeros < size && chunk[zeros] == 0)
			zeros++;
		if (zeros < size)
			g->to = (at + zeros) / LI_SECTOR * LI_SECTOR;
	}
}

guint64 li_place_room(
	const li_iso *iso, const GPtrArray *trees, const li_place *place, guint64 wanted)
{
	gap g = {place->start + place->sectors, place->start + wanted};

	if (wanted <= place->length)
		return wanted;
	if (!can_change_length(iso, trees, place, wanted) || !end_at_mbr(iso, &g) ||
		!end_at_gpt(iso, &g))
		return place->length;
	if (wanted <= place->sectors)
		return wanted;
	end_at(&g, iso->volume.size);
	visit_files(trees, place, end_at_extent, &g);
	for (guint i = 0; i < iso->boot_images->len; i++)
		end_at(&g, ((const li_boot_image *)g_ptr_array_index(iso->boot_images, i))->offset);
	end_at_data(iso, &g);
	return g.to - place->start;
}
