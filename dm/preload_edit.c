/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which entries get the preload, and their configurations, on the ISO and in its EFI images. */
#include "dm/preload-internal.h"

#include <string.h>

#include "iso/boot_config.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/error.h"

/* --- which entries --- */

static const char *last_initrd(const li_entry *entry)
{
	return entry->initrds->len > 0 ? entry->initrds->pdata[entry->initrds->len - 1] : "";
}

/* The initrd of an entry; NULL if it can't have the loader, for a reason that is kept. */
static dmx_grown *initrd_of(dmx_preload *p, const li_entry *entry)
{
	const char *path = last_initrd(entry);
	dmx_grown *g = g_hash_table_lookup(p->initrds, path);
	g_autoptr(GError) reason = NULL;
	dmx_initrd *initrd;

	if (g || g_hash_table_contains(p->reasons, path))
		return g;
	initrd = dmx_initrd_open(p->iso, entry, &reason);
	if (!initrd || (initrd->framework && !initrd->framework->refusal &&
			       !dmx_initrd_find_modules(initrd, p->tree, &reason))) {
		dmx_initrd_free(initrd);
		g_hash_table_insert(p->reasons, g_strdup(path), g_strdup(reason->message));
		return NULL;
	}
	g = g_new0(dmx_grown, 1);
	g->initrd = initrd;
	g_hash_table_insert(p->initrds, g_strdup(path), g);
	return g;
}

static void stay(dmx_choice *choice, const char *reason)
{
	g_free(choice->reason);
	choice->reason = g_strdup(reason);
	choice->framework = NULL;
}

/* The loader's modules are of one kernel. */
static void check_kernel(const dmx_grown *g, dmx_choice *choice)
{
	if (g->entry && !g_str_equal(g->entry->kernel, choice->entry->kernel))
		stay(choice, "its initrd is used with another kernel too");
}

static dmx_choice *choose(dmx_preload *p, const li_entry *entry)
{
	dmx_grown *g = entry->is_live ? initrd_of(p, entry) : NULL;
	dmx_choice *choice = dmx_choice_new(entry, g ? g->initrd->framework : NULL);

	if (entry->is_live && !g)
		stay(choice, g_hash_table_lookup(p->reasons, last_initrd(entry)));
	if (!choice->framework)
		return choice;
	check_kernel(g, choice);
	if (!choice->framework)
		return choice;
	if (!g->entry)
		g->entry = entry;
	guint patience = dmx_framework_patience(choice->framework, entry->cmdline);
	g->patience = g->patience ? MIN(g->patience, patience) : patience;
	return choice;
}

static void count(dmx_preload *p, const dmx_choice *choice)
{
	if (choice->framework)
		p->result.entries++;
	else if (choice->reason)
		g_ptr_array_add(p->result.left, g_strdup_printf("%s:%u: %s", choice->entry->config,
							choice->entry->line, choice->reason));
}

/* What a machine starts without a key is what this is for. */
static gboolean check_default(const dmx_preload *p, GError **error)
{
	const li_entry *entry = li_iso_default_entry(p->iso);

	for (guint i = 0; i < p->choices->len; i++) {
		const dmx_choice *choice = g_ptr_array_index(p->choices, i);

		if (choice->entry != entry || choice->framework)
			continue;
		return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s:%u: no preload: %s",
			p->iso->path, entry->config, entry->line,
			choice->reason ? choice->reason : "no live system");
	}
	return entry ||
	       ro_fail(error, RO_ERROR_UNSUITABLE,
		       "%s: no preload: no boot entry with a kernel was found", p->iso->path);
}

/* --- configurations on the ISO --- */

static GBytes *text_on_iso(const char *path, gpointer user, GError **error)
{
	const dmx_preload *p = user;

	return li_iso_read(p->iso, li_iso_find(p->iso, path), LI_CONFIG_MAX_TEXT, error);
}

static gboolean edit_configs(dmx_preload *p, GError **error)
{
	g_autoptr(GPtrArray) entries = NULL;

	for (guint i = 0; i < p->iso->entries->len; i++) {
		dmx_choice *choice = choose(p, g_ptr_array_index(p->iso->entries, i));

		g_ptr_array_add(p->choices, choice);
		count(p, choice);
	}
	if (!check_default(p, error))
		return FALSE;
	p->texts = dmx_boot_config_edit(p->choices, text_on_iso, p, error);
	if (!p->texts)
		return FALSE;
	entries = li_boot_config_preview(p->iso, p->texts, NULL);
	return dmx_boot_config_same(p->choices, entries, RO_ERROR_UNSUITABLE, error);
}

/* --- configurations in EFI images --- */

static GBytes *text_in_image(const char *path, gpointer user, GError **error)
{
	GBytes *text = g_hash_table_lookup(user, path);

	if (text)
		return g_bytes_ref(text);
	ro_fail(error, RO_ERROR_FAILED, "%s: not in the EFI image", path);
	return NULL;
}

static gboolean is_grub_config(const char *path)
{
	g_autofree char *base = g_path_get_basename(path);

	return g_ascii_strcasecmp(base, "grub.cfg") == 0;
}

/* Entries of all GRUB configurations in the image, with these texts. Owned by the caller. */
static GPtrArray *entries_in(const dmx_preload *p, const dmx_efi_part *part, GHashTable *texts)
{
	g_autoptr(GList) paths =
		g_list_sort(g_hash_table_get_keys(part->image->texts), (GCompareFunc)strcmp);
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)li_entry_free);

	for (GList *at = paths; at; at = at->next) {
		GPtrArray *some;

		if (!is_grub_config(at->data))
			continue;
		some = li_boot_config_preview(p->iso, texts, at->data);
		g_ptr_array_extend_and_steal(all, some);
	}
	return all;
}

static GHashTable *with_edited(const dmx_efi_part *part)
{
	GHashTable *texts = g_hash_table_new(ro_bytes_hash, g_str_equal);
	GHashTableIter iter;
	gpointer path, text;

	g_hash_table_iter_init(&iter, part->image->texts);
	while (g_hash_table_iter_next(&iter, &path, &text)) {
		GBytes *edited = g_hash_table_lookup(part->texts, path);

		g_hash_table_insert(texts, path, edited ? edited : text);
	}
	return texts;
}

/* Entries of the ISO's own configurations come here too: they are edited already. */
static dmx_choice *choose_in(dmx_preload *p, const dmx_efi_part *part, const li_entry *entry)
{
	dmx_choice *choice;

	if (entry->args.config && g_hash_table_contains(part->image->texts, entry->args.config)) {
		choice = choose(p, entry);
		count(p, choice);
		return choice;
	}
	choice = g_new0(dmx_choice, 1);
	choice->entry = entry;
	return choice;
}

static gboolean edit_image(dmx_preload *p, dmx_efi_part *part, GError **error)
{
	g_autoptr(GHashTable) texts = NULL;
	g_autoptr(GPtrArray) entries = NULL;

	part->entries = entries_in(p, part, part->image->texts);
	part->choices = g_ptr_array_new_with_free_func((GDestroyNotify)dmx_choice_free);
	for (guint i = 0; i < part->entries->len; i++)
		g_ptr_array_add(part->choices, choose_in(p, part, part->entries->pdata[i]));
	part->texts = dmx_boot_config_edit(part->choices, text_in_image, part->image->texts, error);
	if (!part->texts)
		return FALSE;
	if (g_hash_table_size(part->texts) == 0)
		return TRUE;
	if (!part->image->file)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: no preload: boot entries lie in an EFI partition behind the volume, which cannot be edited",
			p->iso->path);
	texts = with_edited(part);
	entries = entries_in(p, part, texts);
	return dmx_boot_config_same(part->choices, entries, RO_ERROR_UNSUITABLE, error) &&
	       dmx_efi_image_write(part->image, p->iso, part->texts, error);
}

static gboolean edit_images(dmx_preload *p, GError **error)
{
	for (guint i = 0; i < p->iso->boot_images->len; i++) {
		const li_boot_image *image = g_ptr_array_index(p->iso->boot_images, i);
		g_autofree char *name = g_strdup_printf("efi-%u", i);
		g_autofree char *path = g_build_filename(p->workdir, name, NULL);
		g_autoptr(GError) reason = NULL;
		dmx_efi_part *part;

		if (image->platform != 0xef)
			continue;
		part = g_new0(dmx_efi_part, 1);
		g_ptr_array_add(p->efi, part);
		part->image = dmx_efi_image_open(p->iso, image, path, &reason);
		if (reason) {
			g_propagate_error(error, g_steal_pointer(&reason));
			return FALSE;
		}
		if (part->image && part->image->has_uki)
			ro_warn("%s: the EFI image starts a unified kernel image; booted so, there is no preload",
				p->iso->path);
		if (part->image && !edit_image(p, part, error))
			return FALSE;
	}
	return TRUE;
}

gboolean dmx_preload_edit(dmx_preload *p, GError **error)
{
	return edit_configs(p, error) && edit_images(p, error);
}
