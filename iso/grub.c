/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configurations of GRUB 2 (GRUB manual, "Writing full configuration files directly"): as much of
 * its shell as it takes to see the menu. Conditions that only the running machine could answer are
 * taken as true. Entries of branches that are not taken ("dead") are listed too, but have no place
 * in the menu.
 */
#include "iso/grub-internal.h"

#include <string.h>

#include "reorder/util/bytes_hash.h"

/* ---- the menu ---- */

static void item_free(li_grub_item *i)
{
	g_free(i->title);
	g_free(i->id);
	g_free(i);
}

static li_grub_item *item_at(const li_grub *g, gint index)
{
	return index == LI_GRUB_NO_ITEM ? NULL : g->items->pdata[index];
}

/* Options that take a word of their own. */
static gboolean takes_value(const char *option)
{
	static const char *const options[] = {"--class", "--users", "--hotkey", "--source", "--id"};

	for (gsize i = 0; i < G_N_ELEMENTS(options); i++)
		if (strcmp(option, options[i]) == 0)
			return TRUE;
	return FALSE;
}

static void take_arguments(li_grub_item *new_item, const GPtrArray *words)
{
	for (guint i = 1; i < words->len; i++) {
		const char *word = words->pdata[i];

		if (g_str_has_prefix(word, "--id=")) {
			g_free(new_item->id);
			new_item->id = g_strdup(word + 5);
		} else if (takes_value(word) && i + 1 < words->len) {
			i++;
			if (strcmp(word, "--id") == 0) {
				g_free(new_item->id);
				new_item->id = g_strdup(words->pdata[i]);
			}
		} else if (!g_str_has_prefix(word, "--") && !new_item->title)
			new_item->title = g_strdup(word);
	}
	if (!new_item->title)
		new_item->title = g_strdup("");
}

li_grub_item *li_grub_add_item(li_grub *g, const GPtrArray *words)
{
	li_grub_item *parent = item_at(g, g->menu), *new_item = g_new0(li_grub_item, 1);
	gint *children = parent ? &parent->children : &g->top_children;

	take_arguments(new_item, words);
	new_item->parent = g->menu;
	new_item->position = g->dead > 0 ? LI_GRUB_NO_ITEM : (*children)++;
	g_ptr_array_add(g->items, new_item);
	return new_item;
}

/* ---- the default ---- */

static gboolean is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static gboolean matches(const li_grub_item *i, const char *name)
{
	return i->position != LI_GRUB_NO_ITEM &&
	       (g_strcmp0(i->id, name) == 0 || strcmp(i->title, name) == 0);
}

static gint find_item(const li_grub *g, gint parent, const char *name)
{
	gint64 number = is_number(name) ? g_ascii_strtoll(name, NULL, 10) : -1;

	for (guint i = 0; i < g->items->len; i++) {
		const li_grub_item *candidate = g->items->pdata[i];

		if (candidate->parent == parent &&
			(matches(candidate, name) ||
				(number >= 0 && candidate->position == number)))
			return (gint)i;
	}
	return LI_GRUB_NO_ITEM;
}

/* "default" is a number, a title or an id, or such a thing for each menu with ">" between them. */
static li_entry *default_entry(const li_grub *g)
{
	const char *name = g_hash_table_lookup(g->variables, "default");
	g_auto(GStrv) parts = g_strsplit(name && *name ? name : "0", ">", LI_GRUB_MAX_NESTING);
	gint found = LI_GRUB_NO_ITEM, parent = LI_GRUB_NO_ITEM;

	for (gsize i = 0; parts[i]; i++) {
		found = find_item(g, parent, parts[i]);
		if (found == LI_GRUB_NO_ITEM)
			break;
		parent = found;
	}
	/* GRUB starts the first one if the default isn't there. */
	if (found == LI_GRUB_NO_ITEM)
		found = find_item(g, LI_GRUB_NO_ITEM, "0");
	while (found != LI_GRUB_NO_ITEM && !item_at(g, found)->entry &&
		item_at(g, found)->children > 0)
		found = find_item(g, found, "0");
	return found == LI_GRUB_NO_ITEM ? NULL : item_at(g, found)->entry;
}

/* What GRUB itself sets, for an x86 machine. */
static void preset(li_grub *g, const char *path)
{
	static const char *const features[] = {"feature_menuentry_id", "feature_default_font_path",
		"feature_all_video_module", "feature_timeout_style", "feature_platform_search_hint",
		"feature_menuentry_options", "feature_200_final"};
	gboolean pc = g->config->bios_is_grub && !g_str_has_prefix(path, "/EFI");
	g_autofree char *dir = g_path_get_dirname(path);

	for (gsize i = 0; i < G_N_ELEMENTS(features); i++)
		li_grub_set(g, features[i], "y");
	li_grub_set(g, "menuentry_id_option", "--id");
	li_grub_set(g, "grub_platform", pc ? "pc" : "efi");
	li_grub_set(g, "grub_cpu", pc ? "i386" : "x86_64");
	li_grub_set(g, "prefix", li_config_exists(g->config, "/boot/grub") ? "/boot/grub" : dir);
	li_grub_set(g, "config_directory", dir);
	li_grub_set(g, "config_file", path);
}

void li_grub_read(li_config *config, const char *path)
{
	guint first = config->iso->entries->len;
	li_grub g = {
		.config = config,
		.variables = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, g_free),
		.dead_variables = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, g_free),
		.items = g_ptr_array_new_with_free_func((GDestroyNotify)item_free),
		.menu = LI_GRUB_NO_ITEM,
	};

	preset(&g, path);
	li_grub_run_file(&g, path);
	li_config_set_default(config, first, default_entry(&g));
	g_hash_table_destroy(g.variables);
	g_hash_table_destroy(g.dead_variables);
	g_ptr_array_unref(g.items);
}
