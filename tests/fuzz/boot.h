/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boot configurations that are read, edited for the preload and read again. */
#ifndef TESTS_FUZZ_BOOT_H
#define TESTS_FUZZ_BOOT_H

#include "dm/boot_config.h"
#include "iso/boot_config.h"
#include "tests/fuzz/fuzz.h"

static li_iso *fz_boot_iso(const char *const *paths)
{
	static const char *const others[] = {
		"/live/vmlinuz", "/live/initrd.img", "/boot/grub/theme.txt", NULL};
	li_iso *iso = fz_iso_new();

	for (; *paths; paths++)
		fz_iso_add(iso, *paths, "", 0);
	for (const char *const *path = others; *path; path++)
		fz_iso_add(iso, *path, "", 0);
	fz_iso_ready(iso);
	return iso;
}

/* The input is the texts of the configurations, with a NUL between them. */
static GHashTable *fz_boot_texts(const guint8 *data, gsize size, const char *const *paths)
{
	GHashTable *texts = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);

	for (; *paths; paths++) {
		const guint8 *end = size > 0 ? memchr(data, '\0', size) : NULL;
		gsize length = end ? (gsize)(end - data) : size;

		g_hash_table_insert(texts, g_strdup(*paths), g_bytes_new(data, length));
		data += MIN(length + 1, size);
		size -= MIN(length + 1, size);
	}
	return texts;
}

static GBytes *fz_boot_text(const char *path, gpointer texts, GError **error)
{
	GBytes *text = g_hash_table_lookup(texts, path);

	(void)error;
	g_assert_nonnull(text);
	return g_bytes_ref(text);
}

static GPtrArray *fz_boot_choices(const GPtrArray *entries, GHashTable *texts)
{
	GPtrArray *choices = g_ptr_array_new_with_free_func((GDestroyNotify)dmx_choice_free);

	for (guint i = 0; i < entries->len; i++) {
		const li_entry *entry = g_ptr_array_index(entries, i);
		const dmx_framework *framework = dmx_frameworks;
		GBytes *text;

		while (framework->name && !dmx_framework_has_cmdline(framework, entry->cmdline))
			framework++;
		g_ptr_array_add(choices, dmx_choice_new(entry, framework->name ? framework : NULL));
		if (!entry->args.config)
			continue;
		text = g_hash_table_lookup(texts, entry->args.config);
		g_assert_nonnull(text);
		g_assert_cmpuint(entry->args.start, <=, entry->args.end);
		g_assert_cmpuint(entry->args.end, <=, g_bytes_get_size(text));
	}
	return choices;
}

/* paths: of the configurations, ends with NULL. */
static void fz_boot(const guint8 *data, gsize size, const char *const *paths)
{
	g_autoptr(li_iso) iso = fz_boot_iso(paths);
	g_autoptr(GHashTable) texts = fz_boot_texts(data, size, paths);
	g_autoptr(GPtrArray) entries = li_boot_config_preview(iso, texts, NULL);
	g_autoptr(GPtrArray) choices = fz_boot_choices(entries, texts);
	g_autoptr(GPtrArray) new_entries = NULL;
	g_autoptr(GHashTable) edited = NULL;
	GError *error = NULL;
	GHashTableIter iter;
	gpointer path, text;

	edited = dmx_boot_config_edit(choices, fz_boot_text, texts, &error);
	if (!fz_done(edited != NULL, &error))
		return;
	g_hash_table_iter_init(&iter, edited);
	while (g_hash_table_iter_next(&iter, &path, &text))
		g_hash_table_replace(texts, g_strdup(path), g_bytes_ref(text));
	new_entries = li_boot_config_preview(iso, texts, NULL);
	fz_done(dmx_boot_config_same(choices, new_entries, RO_ERROR_UNSUITABLE, &error), &error);
}

#endif
