/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/boot_config.h"
#include "reorder/util/bytes_hash.h"

#include <string.h>

enum { MAX_NOTES = 50 };

void li_entry_free(li_entry *entry)
{
	if (!entry)
		return;
	g_free(entry->title);
	g_free(entry->config);
	g_free(entry->kernel);
	g_clear_pointer(&entry->initrds, g_ptr_array_unref);
	g_free(entry->cmdline);
	g_free(entry->args.config);
	g_free(entry);
}

gsize li_cmdline_word(const char *text)
{
	gboolean quoted = FALSE;
	gsize i;

	for (i = 0; text[i] && (quoted || !g_ascii_isspace(text[i])); i++)
		if (text[i] == '"')
			quoted = !quoted;
	return i;
}

static const char *word_at(const char *cmdline, const char *name, const char *after)
{
	gsize length = strlen(name);
	const char *at = cmdline;

	while ((at = strstr(at, name))) {
		gboolean starts = at == cmdline || g_ascii_isspace(at[-1]);

		at += length;
		if (starts && (*at == '\0' || strchr(after, *at)))
			return at;
	}
	return NULL;
}

gboolean li_cmdline_has(const char *cmdline, const char *name)
{
	return word_at(cmdline, name, "= \t") != NULL;
}

char *li_cmdline_value(const char *cmdline, const char *name)
{
	const char *value = NULL, *at = cmdline;

	while ((at = word_at(at, name, "="))) {
		if (*at != '=')
			continue;
		value = ++at;
	}
	return value ? g_strndup(value, strcspn(value, " \t")) : NULL;
}

static void note(
	li_config *config, const char *path, guint line, const char *text, const char *name)
{
	GPtrArray *notes = config->iso->notes;

	if (notes->len < MAX_NOTES)
		g_ptr_array_add(notes, g_strdup_printf("%s:%u: %s: %s", path, line, name, text));
}

/* A NUL ends the text: what comes behind is no text. */
static char *text_of(GBytes *bytes)
{
	gsize size = 0;
	const char *data = g_bytes_get_data(bytes, &size);

	return g_strndup(data ? data : "", size);
}

static char *other_text(li_config *config, const char *name, const char **path)
{
	gpointer key, bytes;

	if (!config->texts || !g_hash_table_lookup_extended(config->texts, name, &key, &bytes) ||
		config->files_left == 0 || g_bytes_get_size(bytes) > config->text_left)
		return NULL;
	config->files_left--;
	config->text_left -= g_bytes_get_size(bytes);
	*path = key;
	g_hash_table_add(config->visited, key);
	return text_of(bytes);
}

char *li_config_text(li_config *config, const char *name, const char **path)
{
	const li_file *file = li_iso_find(config->iso, name);
	char *other = other_text(config, file ? file->path : name, path);
	g_autoptr(GBytes) bytes = NULL;

	if (other)
		return other;
	if (!file || config->files_left == 0 || file->size > config->text_left)
		return NULL;
	config->files_left--;
	config->text_left -= (gsize)file->size;
	*path = file->path;
	g_hash_table_add(config->visited, file->path);
	bytes = li_iso_read(config->iso, file, LI_CONFIG_MAX_TEXT, NULL);
	return bytes ? text_of(bytes) : NULL;
}

char *li_config_path(const char *dir, const char *name)
{
	g_autofree char *joined =
		name[0] == '/' ? g_strdup(name) : g_strconcat("/", dir, "/", name, NULL);
	g_auto(GStrv) parts = g_strsplit(joined, "/", -1);
	g_autoptr(GPtrArray) kept = g_ptr_array_new();
	GString *path = g_string_new(NULL);

	for (gsize i = 0; parts[i]; i++) {
		if (strcmp(parts[i], "..") == 0 && kept->len > 0)
			g_ptr_array_set_size(kept, (gint)kept->len - 1);
		else if (parts[i][0] && strcmp(parts[i], ".") != 0 && strcmp(parts[i], "..") != 0)
			g_ptr_array_add(kept, parts[i]);
	}
	for (guint i = 0; i < kept->len; i++)
		g_string_append_printf(path, "/%s", (char *)kept->pdata[i]);
	return g_string_free(path, FALSE);
}

/* The files are sorted: those of a directory follow its name. */
gboolean li_config_exists(const li_config *config, const char *path)
{
	GPtrArray *files = config->iso->files;
	g_autofree char *dir = g_strconcat(path, "/", NULL);
	guint low = 0, high = files->len;

	if (li_iso_find(config->iso, path) ||
		(config->texts && g_hash_table_contains(config->texts, path)))
		return TRUE;
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (strcmp(((const li_file *)files->pdata[middle])->path, dir) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < files->len &&
	       g_str_has_prefix(((const li_file *)files->pdata[low])->path, dir);
}

/* Words on the command line that only live systems have. */
static const char *const live_words[] = {"rd.live.image", "rd.live.dir", "rd.live.squashimg",
	"rd.live.ram", "archisobasedir", "archisolabel", "archisodevice", "archisosearchuuid",
	"misobasedir", "misolabel", "live-media", "live-media-path", "live-config", "layerfs-path",
	"cdroot", "livecd", "liveimg"};

/* Top directories that live frameworks have their kernels in. */
static const char *const live_dirs[] = {"/live/", "/casper/", "/LiveOS/", "/arch/boot/", "/antiX/",
	"/porteus/", "/slax/", "/boot/live/"};

static gboolean looks_live(const li_entry *entry)
{
	g_autofree char *boot = li_cmdline_value(entry->cmdline, "boot");
	g_autofree char *root = li_cmdline_value(entry->cmdline, "root");
	g_autofree char *kernel = g_ascii_strdown(entry->kernel, -1);

	if (strstr(kernel, "memtest") || strstr(kernel, "memdisk") || strstr(kernel, "/install"))
		return FALSE;
	if (g_strcmp0(boot, "live") == 0 || g_strcmp0(boot, "casper") == 0 ||
		(root && g_str_has_prefix(root, "live:")))
		return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(live_words); i++)
		if (li_cmdline_has(entry->cmdline, live_words[i]))
			return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(live_dirs); i++)
		if (g_ascii_strncasecmp(entry->kernel, live_dirs[i], strlen(live_dirs[i])) == 0)
			return TRUE;
	return FALSE;
}

/* Path on the ISO of each initrd; NULL if one is missing or there are too many. */
static GPtrArray *find_initrds(li_config *config, const li_draft *draft)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);

	if (draft->initrds && draft->initrds->len > LI_CONFIG_MAX_INITRDS) {
		note(config, draft->config, draft->line, "too many initrds; entry left out",
			draft->title);
		return NULL;
	}
	for (guint i = 0; draft->initrds && i < draft->initrds->len; i++) {
		const char *name = draft->initrds->pdata[i];
		const li_file *file = li_iso_find(config->iso, name);

		if (!file) {
			note(config, draft->config, draft->line, "not on the ISO; entry left out",
				name);
			return NULL;
		}
		g_ptr_array_add(found, g_strdup(file->path));
	}
	return g_steal_pointer(&found);
}

/* By its digest, so that entries that are left out in the end take little memory. */
static gboolean is_new(li_config *config, const li_draft *draft)
{
	g_autofree char *key = g_strdup_printf("%s\n%u\n%s\n%s\n%s", draft->config, draft->line,
		draft->title, draft->kernel, draft->cmdline);

	return g_hash_table_add(
		config->keys, g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1));
}

li_entry *li_config_add(li_config *config, const li_draft *draft)
{
	const li_file *kernel = li_iso_find(config->iso, draft->kernel);
	GPtrArray *initrds;
	li_entry *entry;

	if (config->iso->entries->len >= LI_CONFIG_MAX_ENTRIES || !is_new(config, draft))
		return NULL;
	if (!kernel) {
		note(config, draft->config, draft->line, "not on the ISO; entry left out",
			draft->kernel);
		return NULL;
	}
	initrds = find_initrds(config, draft);
	if (!initrds)
		return NULL;
	entry = g_new0(li_entry, 1);
	entry->title = g_strdup(draft->title);
	entry->config = g_strdup(draft->config);
	entry->line = draft->line;
	entry->kernel = g_strdup(kernel->path);
	entry->initrds = initrds;
	entry->cmdline = g_strstrip(g_strdup(draft->cmdline));
	entry->args.config = g_strdup(draft->args.config);
	entry->args.start = draft->args.start;
	entry->args.end = draft->args.end;
	entry->is_live = looks_live(entry);
	g_ptr_array_add(config->iso->entries, entry);
	return entry;
}

void li_config_set_default(li_config *config, guint first, li_entry *entry)
{
	GPtrArray *entries = config->iso->entries;
	guint index;

	if (!entry || !g_ptr_array_find(entries, entry, &index) || index < first)
		return;
	entry->is_default = TRUE;
	memmove(entries->pdata + first + 1, entries->pdata + first,
		(index - first) * sizeof(gpointer));
	entries->pdata[first] = entry;
}

/* The places that the loaders look at themselves, in their order; other files of these names come
 * behind. */
static const char *const syslinux_places[] = {"/boot/isolinux/isolinux.cfg",
	"/boot/isolinux/syslinux.cfg", "/isolinux/isolinux.cfg", "/isolinux/syslinux.cfg",
	"/boot/syslinux/isolinux.cfg", "/boot/syslinux/syslinux.cfg", "/syslinux/isolinux.cfg",
	"/syslinux/syslinux.cfg", "/isolinux.cfg", "/syslinux.cfg"};
static const char *const syslinux_names[] = {"isolinux.cfg", "syslinux.cfg", "extlinux.conf"};
static const char *const grub_places[] = {
	"/boot/grub/grub.cfg", "/boot/grub2/grub.cfg", "/EFI/BOOT/grub.cfg", "/grub/grub.cfg"};
static const char *const grub_names[] = {"grub.cfg", "loopback.cfg"};

typedef void (*read_func)(li_config *config, const char *path);

static void read_once(li_config *config, const li_file *file, read_func read)
{
	if (file && !g_hash_table_contains(config->visited, file->path))
		read(config, file->path);
}

static gboolean has_name(const li_file *file, const char *name)
{
	const char *base = strrchr(file->path, '/') + 1;

	return g_ascii_strcasecmp(base, name) == 0;
}

static void read_by_name(li_config *config, const char *name, read_func read)
{
	GPtrArray *files = config->iso->files;

	for (guint i = 0; i < files->len; i++)
		if (has_name(files->pdata[i], name))
			read_once(config, files->pdata[i], read);
}

static void read_all(li_config *config, const char *const *places, gsize place_count,
	const char *const *names, gsize name_count, read_func read)
{
	for (gsize i = 0; i < place_count; i++)
		read_once(config, li_iso_find(config->iso, places[i]), read);
	for (gsize i = 0; i < name_count; i++)
		read_by_name(config, names[i], read);
}

static void read_syslinux(li_config *config)
{
	read_all(config, syslinux_places, G_N_ELEMENTS(syslinux_places), syslinux_names,
		G_N_ELEMENTS(syslinux_names), li_syslinux_read);
}

static void read_grub(li_config *config)
{
	read_all(config, grub_places, G_N_ELEMENTS(grub_places), grub_names,
		G_N_ELEMENTS(grub_names), li_grub_read);
}

/* Which loader the first BIOS boot image is, by its name. */
static gboolean bios_is_grub(const li_iso *iso)
{
	for (guint i = 0; i < iso->boot_images->len; i++) {
		const li_boot_image *image = iso->boot_images->pdata[i];
		g_autofree char *path = image->path ? g_ascii_strdown(image->path, -1) : NULL;

		if (image->platform == 0 && path)
			return !strstr(path, "isolinux") && !strstr(path, "syslinux");
	}
	return FALSE;
}

static void read_all_configs(li_config *config)
{
	if (config->bios_is_grub)
		read_grub(config);
	read_syslinux(config);
	read_grub(config);
}

static void read_entries(li_iso *iso, GHashTable *texts, const char *only)
{
	li_config config = {
		.iso = iso,
		.texts = texts,
		.visited = g_hash_table_new(ro_bytes_hash, g_str_equal),
		.keys = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, NULL),
		.files_left = LI_CONFIG_MAX_FILES,
		.text_left = LI_CONFIG_MAX_ALL,
		.commands_left = LI_CONFIG_MAX_COMMANDS,
		.words_left = LI_CONFIG_MAX_WORDS,
		.bios_is_grub = bios_is_grub(iso),
	};

	if (only)
		li_grub_read(&config, only);
	else
		read_all_configs(&config);
	g_hash_table_destroy(config.visited);
	g_hash_table_destroy(config.keys);
}

void li_boot_config_read(li_iso *iso)
{
	read_entries(iso, NULL, NULL);
}

GPtrArray *li_boot_config_preview(const li_iso *iso, GHashTable *texts, const char *only)
{
	li_iso other = *iso; /* what is read goes into arrays of its own */

	other.entries = g_ptr_array_new_with_free_func((GDestroyNotify)li_entry_free);
	other.notes = g_ptr_array_new_with_free_func(g_free);
	read_entries(&other, texts, only);
	g_ptr_array_unref(other.notes);
	return other.entries;
}
