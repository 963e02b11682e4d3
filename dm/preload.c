/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/preload-internal.h"

#include <string.h>

#include "iso/boot_config.h"
#include "iso/checksums.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/child.h"
#include "reorder/util/error.h"

enum {
	LOADER_MAX = 1 << 20,
	SIGNED_CONFIGS_MAX = 300,
};

static void grown_free(gpointer data)
{
	dmx_grown *g = data;

	dmx_initrd_free(g->initrd);
	g_free(g->path);
	g_free(g);
}

static void efi_part_free(gpointer data)
{
	dmx_efi_part *part = data;

	dmx_efi_image_free(part->image);
	g_clear_pointer(&part->choices, g_ptr_array_unref);
	g_clear_pointer(&part->entries, g_ptr_array_unref);
	g_clear_pointer(&part->texts, g_hash_table_unref);
	g_free(part);
}

void dmx_preload_free(dmx_preload *p)
{
	if (!p)
		return;
	g_clear_pointer(&p->loader, g_bytes_unref);
	g_ptr_array_unref(p->choices);
	g_hash_table_unref(p->initrds);
	g_hash_table_unref(p->reasons);
	g_clear_pointer(&p->texts, g_hash_table_unref);
	g_ptr_array_unref(p->efi);
	g_ptr_array_unref(p->paths);
	g_ptr_array_unref(p->result.left);
	dmx_hot_map_clear(&p->result.map);
	g_free(p);
}

const dmx_preload_result *dmx_preload_get_result(const dmx_preload *p)
{
	return &p->result;
}

/* --- signatures --- */

static gboolean is_config(const li_file *file)
{
	return g_str_has_suffix(file->path, ".cfg") && file->size > 0 &&
	       file->size <= LI_CONFIG_MAX_TEXT;
}

static gboolean has_signature_check(const li_iso *iso, const li_file *file)
{
	g_autoptr(GBytes) bytes = li_iso_read(iso, file, LI_CONFIG_MAX_TEXT, NULL);
	gsize size = 0;
	const char *text = bytes ? g_bytes_get_data(bytes, &size) : NULL;

	return text && g_strstr_len(text, (gssize)size, "check_signatures=enforce");
}

/* GRUB would load neither an edited configuration nor a longer initrd. */
static gboolean check_signatures(const li_iso *iso, GError **error)
{
	guint looked_at = 0;

	for (guint i = 0; i < iso->files->len && looked_at < SIGNED_CONFIGS_MAX; i++) {
		const li_file *file = g_ptr_array_index(iso->files, i);
		g_autofree char *signature = NULL;

		if (!is_config(file))
			continue;
		looked_at++;
		signature = g_strconcat(file->path, ".sig", NULL);
		if (li_iso_find(iso, signature) || has_signature_check(iso, file))
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: no preload: GRUB checks signatures (%s), nothing that it loads can be changed",
				iso->path, file->path);
	}
	return TRUE;
}

/* --- before --- */

static gboolean read_loader(dmx_preload *p, GError **error)
{
	g_autofree char *path = ro_own_file("reorder-hot-loader", error);
	g_autoptr(GError) reason = NULL;
	char *data;
	gsize size;

	if (!path)
		return FALSE;
	if (!g_file_get_contents(path, &data, &size, &reason))
		return ro_fail(error, RO_ERROR_FAILED, "%s", reason->message);
	p->loader = g_bytes_new_take(data, size);
	return size <= LOADER_MAX ||
	       ro_fail(error, RO_ERROR_FAILED, "%s: too large for the loader", path);
}

/* Only what an edited entry uses grows. */
static gboolean is_unused(gpointer path, gpointer value, gpointer user)
{
	(void)path;
	(void)user;
	return ((dmx_grown *)value)->entry == NULL;
}

GPtrArray *dmx_preload_grown(const dmx_preload *p)
{
	g_autoptr(GList) paths =
		g_list_sort(g_hash_table_get_keys(p->initrds), (GCompareFunc)strcmp);
	GPtrArray *all = g_ptr_array_new();

	for (GList *at = paths; at; at = at->next)
		g_ptr_array_add(all, g_hash_table_lookup(p->initrds, at->data));
	return all;
}

static gboolean check_list(
	const dmx_preload *p, const li_tree *tree, const char *path, GError **error)
{
	return li_sums_check(p->iso->fd, tree, path, error);
}

/* No signed checksum list may name what changes. */
static gboolean check_lists(const dmx_preload *p, GError **error)
{
	g_autoptr(li_tree) tree = li_tree_read(p->iso->fd, LI_VD_PRIMARY, p->iso->path, error);
	g_autoptr(GList) configs = g_hash_table_get_keys(p->texts);
	g_autoptr(GPtrArray) all = dmx_preload_grown(p);

	if (!tree)
		return FALSE;
	for (GList *at = configs; at; at = at->next)
		if (!check_list(p, tree, at->data, error))
			return FALSE;
	for (guint i = 0; i < all->len; i++)
		if (!check_list(p, tree, ((dmx_grown *)all->pdata[i])->initrd->file->path, error))
			return FALSE;
	for (guint i = 0; i < p->efi->len; i++) {
		const dmx_efi_part *part = g_ptr_array_index(p->efi, i);

		if (part->texts && g_hash_table_size(part->texts) > 0 &&
			!check_list(p, tree, part->image->file->path, error))
			return FALSE;
	}
	return TRUE;
}

dmx_preload *dmx_preload_new(
	const li_iso *iso, const img_tree *tree, const char *workdir, GError **error)
{
	g_autoptr(dmx_preload) p = g_new0(dmx_preload, 1);

	p->iso = iso;
	p->tree = tree;
	p->workdir = workdir;
	p->choices = g_ptr_array_new_with_free_func((GDestroyNotify)dmx_choice_free);
	p->initrds = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, grown_free);
	p->reasons = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, g_free);
	p->efi = g_ptr_array_new_with_free_func(efi_part_free);
	p->paths = g_ptr_array_new_with_free_func(g_free);
	p->result.left = g_ptr_array_new_with_free_func(g_free);
	if (!read_loader(p, error) || !check_signatures(iso, error) || !dmx_preload_edit(p, error))
		return NULL;
	g_hash_table_foreach_remove(p->initrds, is_unused, NULL);
	return check_lists(p, error) ? g_steal_pointer(&p) : NULL;
}
