/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that the preload changes: initrds with the map in them, configurations, EFI images. */
#include "dm/preload-internal.h"

#include <stdlib.h>
#include <string.h>

#include "iso/volume_tree.h"
#include "reorder/util/error.h"

enum { ROOM_LEAST = 8 << 10 }; /* bytes more than the estimated map has */

/* The text of the map for one initrd; NULL with the error set. To be freed with free(3). */
static char *map_text(const dmx_grown *g, const li_iso *iso, const GArray *extents, GError **error)
{
	const img_source source = {iso->fd, 0, iso->file_size, iso->path};
	struct dmx_map map = {.patience = g->patience};
	guint8 pvd[DMX_PVD_SIZE];
	char *text;

	if (!img_source_read(&source, DMX_PVD_OFFSET, pvd, sizeof(pvd), error))
		return NULL;
	for (guint i = 0; i < g->initrd->modules->len; i++) {
		const dmx_module *module = g_ptr_array_index(g->initrd->modules, i);

		map.modules[map.module_count++] = module->path;
	}
	map.extents = (struct dmx_extent *)extents->data;
	map.extent_count = extents->len;
	text = dmx_medium_id_read(pvd, &map.id) ? dmx_map_format(&map) : NULL;
	if (!text)
		ro_fail(error, RO_ERROR_FAILED,
			"%s: the hot map breaks a rule of its format; please report this",
			iso->path);
	return text;
}

static gboolean write_bytes(const char *path, const GByteArray *bytes, GError **error)
{
	g_autoptr(GError) reason = NULL;

	return g_file_set_contents(path, (const char *)bytes->data, bytes->len, &reason) ||
	       ro_fail(error, RO_ERROR_FAILED, "%s", reason->message);
}

/* With the map as it is now; size 0: as long as that makes it. */
static gboolean write_initrd(const dmx_preload *p, const dmx_grown *g, const char *text, gsize size,
	gsize *written, GError **error)
{
	g_autoptr(GByteArray) bytes = dmx_initrd_build(g->initrd, p->loader, text, size, error);

	if (!bytes)
		return FALSE;
	*written = bytes->len;
	return write_bytes(g->path, bytes, error);
}

static gsize rounded(gsize size)
{
	return (size + LI_SECTOR - 1) / LI_SECTOR * LI_SECTOR;
}

/* The first time: finds out how long it gets. */
static gboolean size_initrd(
	dmx_preload *p, dmx_grown *g, guint number, const GArray *extents, GError **error)
{
	g_autofree char *name = g_strdup_printf("initrd-%u", number);
	char *text = map_text(g, p->iso, extents, error);
	gsize length = text ? strlen(text) : 0, written;
	gboolean ok;

	if (!text)
		return FALSE;
	g->path = g_build_filename(p->workdir, name, NULL);
	g->room = length + length / 4 + ROOM_LEAST;
	ok = write_initrd(p, g, text, 0, &written, error);
	if (ok) {
		g->size = rounded(written + g->room - length);
		ok = write_initrd(p, g, text, g->size, &written, error);
	}
	free(text);
	p->result.initrds++;
	p->result.grown += g->size - g->initrd->file->size;
	for (guint i = 0; i < g->initrd->modules->len; i++)
		p->result.copies += ((dmx_module *)g->initrd->modules->pdata[i])->bytes != NULL;
	return ok;
}

static void add_replacement(GArray *replacements, const li_replacement *replacement)
{
	g_array_append_vals(replacements, replacement, 1);
}

static gboolean prepare_initrds(
	dmx_preload *p, const GArray *extents, GArray *replacements, GError **error)
{
	g_autoptr(GPtrArray) all = dmx_preload_grown(p);

	for (guint i = 0; i < all->len; i++) {
		dmx_grown *g = g_ptr_array_index(all, i);
		li_replacement replacement = {.file = g->initrd->file, .late = TRUE};

		if (!size_initrd(p, g, i, extents, error))
			return FALSE;
		replacement.content = g->path;
		add_replacement(replacements, &replacement);
	}
	return TRUE;
}

static gboolean prepare_configs(dmx_preload *p, GArray *replacements, GError **error)
{
	g_autoptr(GList) paths = g_list_sort(g_hash_table_get_keys(p->texts), (GCompareFunc)strcmp);
	guint number = 0;

	for (GList *at = paths; at; at = at->next) {
		g_autofree char *name = g_strdup_printf("config-%u", number++);
		char *path = g_build_filename(p->workdir, name, NULL);
		li_replacement replacement = {li_iso_find(p->iso, at->data), path, FALSE, FALSE};
		gsize size;
		const char *text = g_bytes_get_data(g_hash_table_lookup(p->texts, at->data), &size);
		g_autoptr(GError) reason = NULL;

		g_ptr_array_add(p->paths, path);
		if (!g_file_set_contents(path, text, (gssize)size, &reason))
			return ro_fail(error, RO_ERROR_FAILED, "%s", reason->message);
		add_replacement(replacements, &replacement);
	}
	return TRUE;
}

static void prepare_images(const dmx_preload *p, GArray *replacements)
{
	for (guint i = 0; i < p->efi->len; i++) {
		const dmx_efi_part *part = g_ptr_array_index(p->efi, i);
		li_replacement replacement = {.over = TRUE};

		if (!part->texts || g_hash_table_size(part->texts) == 0)
			continue;
		replacement.file = part->image->file;
		replacement.content = part->image->path;
		add_replacement(replacements, &replacement);
	}
}

gboolean dmx_preload_prepare(
	dmx_preload *p, const dmx_hot_map_job *estimate, GArray *replacements, GError **error)
{
	g_auto(dmx_hot_map) map = {0};

	if (!dmx_hot_map_make(estimate, &map, error) ||
		!prepare_initrds(p, map.extents, replacements, error) ||
		!prepare_configs(p, replacements, error))
		return FALSE;
	prepare_images(p, replacements);
	return TRUE;
}

/* Bytes of the text that the extents may take: all that the smallest room leaves. */
static gsize extents_room(const dmx_preload *p, const GPtrArray *all, GError **error)
{
	g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(struct dmx_extent));
	gsize least = G_MAXSIZE;

	for (guint i = 0; i < all->len; i++) {
		const dmx_grown *g = g_ptr_array_index(all, i);
		char *text = map_text(g, p->iso, none, error);

		if (!text)
			return 0;
		least = MIN(least, g->room - strlen(text));
		free(text);
	}
	return least;
}

gboolean dmx_preload_place(dmx_preload *p, const dmx_hot_map_job *job, GError **error)
{
	g_autoptr(GPtrArray) all = dmx_preload_grown(p);
	dmx_hot_map_job limited = *job;

	limited.max_bytes = extents_room(p, all, error);
	if (limited.max_bytes == 0 || !dmx_hot_map_make(&limited, &p->result.map, error))
		return FALSE;
	for (guint i = 0; i < all->len; i++) {
		const dmx_grown *g = g_ptr_array_index(all, i);
		char *text = map_text(g, job->new_iso, p->result.map.extents, error);
		gsize written;
		gboolean ok = text && write_initrd(p, g, text, g->size, &written, error);

		free(text);
		if (!ok)
			return FALSE;
	}
	return dmx_boot_config_same(p->choices, job->new_iso->entries, RO_ERROR_FAILED, error);
}
