/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/preload.h"

#include <stdlib.h>
#include <string.h>

#include "dm/boot_config.h"
#include "dm/efi_image.h"
#include "dm/initrd.h"
#include "iso/boot_config.h"
#include "iso/checksums.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/child.h"
#include "reorder/util/error.h"

enum {
	LOADER_MAX = 1 << 20,
	ROOM_LEAST = 8 << 10, /* bytes more than the estimated map has */
	SIGNED_CONFIGS_MAX = 300,
};

/* An initrd that grows. */
typedef struct {
	dmx_initrd *initrd;
	const li_entry *entry; /* the first that is edited, whose patience counts; NULL: none yet */
	guint patience;
	char *path; /* of the new one */
	gsize size, room;
} grown;

/* The configurations in an EFI image. */
typedef struct {
	dmx_efi_image *image;
	GPtrArray *entries, *choices; /* of all its configurations, one after the other */
	GHashTable *texts;            /* the edited ones */
} efi_part;

struct dmx_preload {
	const li_iso *iso;
	const img_tree *tree;
	const char *workdir;
	GBytes *loader;
	GPtrArray *choices;  /* of dmx_choice, one for each of iso->entries */
	GHashTable *initrds; /* path of the last initrd → grown */
	GHashTable *reasons; /* likewise → why it has none (char *) */
	GHashTable *texts;   /* edited configurations on the ISO */
	GPtrArray *efi;      /* of efi_part */
	GPtrArray *paths;    /* of char *: local files that the replacements name */
	dmx_preload_result result;
};

static void grown_free(gpointer data)
{
	grown *g = data;

	dmx_initrd_free(g->initrd);
	g_free(g->path);
	g_free(g);
}

static void efi_part_free(gpointer data)
{
	efi_part *part = data;

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

/* --- which entries --- */

static const char *last_initrd(const li_entry *entry)
{
	return entry->initrds->len > 0 ? entry->initrds->pdata[entry->initrds->len - 1] : "";
}

/* The initrd of an entry; NULL if it can't have the loader, for a reason that is kept. */
static grown *initrd_of(dmx_preload *p, const li_entry *entry)
{
	const char *path = last_initrd(entry);
	grown *g = g_hash_table_lookup(p->initrds, path);
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
	g = g_new0(grown, 1);
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
static void check_kernel(const grown *g, dmx_choice *choice)
{
	if (g->entry && !g_str_equal(g->entry->kernel, choice->entry->kernel))
		stay(choice, "its initrd is used with another kernel too");
}

static dmx_choice *choose(dmx_preload *p, const li_entry *entry)
{
	grown *g = entry->is_live ? initrd_of(p, entry) : NULL;
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
static GPtrArray *entries_in(const dmx_preload *p, const efi_part *part, GHashTable *texts)
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

static GHashTable *with_edited(const efi_part *part)
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
static dmx_choice *choose_in(dmx_preload *p, const efi_part *part, const li_entry *entry)
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

static gboolean edit_image(dmx_preload *p, efi_part *part, GError **error)
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
		efi_part *part;

		if (image->platform != 0xef)
			continue;
		part = g_new0(efi_part, 1);
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
	return ((grown *)value)->entry == NULL;
}

static GPtrArray *all_grown(const dmx_preload *p)
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
	g_autoptr(GPtrArray) all = all_grown(p);

	if (!tree)
		return FALSE;
	for (GList *at = configs; at; at = at->next)
		if (!check_list(p, tree, at->data, error))
			return FALSE;
	for (guint i = 0; i < all->len; i++)
		if (!check_list(p, tree, ((grown *)all->pdata[i])->initrd->file->path, error))
			return FALSE;
	for (guint i = 0; i < p->efi->len; i++) {
		const efi_part *part = g_ptr_array_index(p->efi, i);

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
	if (!read_loader(p, error) || !check_signatures(iso, error) || !edit_configs(p, error) ||
		!edit_images(p, error))
		return NULL;
	g_hash_table_foreach_remove(p->initrds, is_unused, NULL);
	return check_lists(p, error) ? g_steal_pointer(&p) : NULL;
}

/* --- the initrds --- */

/* The text of the map for one initrd; NULL with the error set. To be freed with free(3). */
static char *map_text(const grown *g, const li_iso *iso, const GArray *extents, GError **error)
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
static gboolean write_initrd(const dmx_preload *p, const grown *g, const char *text, gsize size,
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
	dmx_preload *p, grown *g, guint number, const GArray *extents, GError **error)
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
	g_autoptr(GPtrArray) all = all_grown(p);

	for (guint i = 0; i < all->len; i++) {
		grown *g = g_ptr_array_index(all, i);
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
		const efi_part *part = g_ptr_array_index(p->efi, i);
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
		const grown *g = g_ptr_array_index(all, i);
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
	g_autoptr(GPtrArray) all = all_grown(p);
	dmx_hot_map_job limited = *job;

	limited.max_bytes = extents_room(p, all, error);
	if (limited.max_bytes == 0 || !dmx_hot_map_make(&limited, &p->result.map, error))
		return FALSE;
	for (guint i = 0; i < all->len; i++) {
		const grown *g = g_ptr_array_index(all, i);
		char *text = map_text(g, job->new_iso, p->result.map.extents, error);
		gsize written;
		gboolean ok = text && write_initrd(p, g, text, g->size, &written, error);

		free(text);
		if (!ok)
			return FALSE;
	}
	return dmx_boot_config_same(p->choices, job->new_iso->entries, RO_ERROR_FAILED, error);
}
