/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/seal.h"

#include <string.h>

#include "reorder/util/interrupt.h"

enum { CHUNK = 1 << 20, HASH_ALIGN = 512 };

static const char verity_magic[8] = "verity\0";

/* Files beside the image, by what is appended to its name or takes the place of its suffix. */
static const struct {
	const char *suffix;
	gboolean verity;
} companions[] = {
	{".sig", FALSE},
	{".asc", FALSE},
	{".gpg", FALSE},
	{".sign", FALSE},
	{".cms.sig", FALSE},
	{".p7s", FALSE},
	{".verity", TRUE},
	{".roothash", TRUE},
};

static char *stem(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	return dot && dot > slash + 1 ? g_strndup(path, (gsize)(dot - path)) : g_strdup(path);
}

static const li_file *companion(const li_iso *iso, const char *path, const char *suffix)
{
	g_autofree char *whole = g_strconcat(path, suffix, NULL);
	g_autofree char *start = stem(path);
	g_autofree char *instead = g_strconcat(start, suffix, NULL);
	const li_file *file = li_iso_find(iso, whole);

	return file ? file : li_iso_find(iso, instead);
}

static char *find_companion(const li_iso *iso, const char *path)
{
	for (gsize i = 0; i < G_N_ELEMENTS(companions); i++) {
		const li_file *file = companion(iso, path, companions[i].suffix);

		if (!file)
			continue;
		if (companions[i].verity)
			return g_strdup_printf(
				"dm-verity (%s): any change would make its boot fail", file->path);
		return g_strdup_printf("signed (%s): a signature cannot be made anew", file->path);
	}
	return NULL;
}

static gboolean is_verity_word(const char *word)
{
	static const char *const starts[] = {"roothash=", "usrhash=", "verity.", "systemd.verity_"};

	for (gsize i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(word, starts[i]))
			return TRUE;
	return (g_str_has_prefix(word, "dm-mod.create=") || g_str_has_prefix(word, "dm=")) &&
	       strstr(word, "verity");
}

static char *verity_of_entry(const li_entry *entry)
{
	g_auto(GStrv) words = g_strsplit_set(entry->cmdline, " \t", -1);

	for (gsize i = 0; words[i]; i++)
		if (is_verity_word(words[i]))
			return g_strdup_printf(
				"dm-verity (%.*s in %s:%u): any change would make its boot fail",
				(int)strcspn(words[i], "="), words[i], entry->config, entry->line);
	return NULL;
}

static char *find_verity_entry(const li_iso *iso)
{
	char *found = NULL;

	for (guint i = 0; !found && i < iso->entries->len; i++)
		found = verity_of_entry(iso->entries->pdata[i]);
	return found;
}

/* Offset of the first byte that is not zero; size if there is none. */
static gsize first_data(const guint8 *bytes, gsize size)
{
	gsize at = 0;

	while (at < size && bytes[at] == 0)
		at++;
	return at;
}

static char *describe_tail(const img_source *source, guint64 at)
{
	char magic[sizeof(verity_magic)] = {0};

	if (img_source_read(source, at - at % HASH_ALIGN, magic, sizeof(magic), NULL) &&
		memcmp(magic, verity_magic, sizeof(magic)) == 0)
		return g_strdup(
			"dm-verity (hash tree behind the image): any change would make its boot fail");
	return g_strdup_printf("data behind the filesystem (at byte %" G_GUINT64_FORMAT
			       " of the image) that would be lost",
		at);
}

/* Padding is zeros; anything else behind the filesystem has a purpose. */
static char *find_tail(const img_source *source, guint64 at)
{
	g_autofree guint8 *chunk = g_malloc(CHUNK);

	while (at < source->size && !ro_interrupted(NULL)) {
		gsize size = (gsize)MIN(CHUNK, source->size - at), data;

		if (!img_source_read(source, at, chunk, size, NULL))
			return g_strdup("cannot be read to its end");
		data = first_data(chunk, size);
		if (data < size)
			return describe_tail(source, at + data);
		at += size;
	}
	return NULL;
}

char *li_seal_find(
	const li_iso *iso, const li_file *file, const img_source *source, guint64 bytes_used)
{
	char *found = find_companion(iso, file->path);

	if (!found)
		found = find_verity_entry(iso);
	return found ? found : find_tail(source, bytes_used);
}

/* Names of the lists that live ISOs have: md5sum.txt, MD5SUMS, sha256sum.txt, SHA512SUMS, … */
static gboolean is_checksum_list(const char *base)
{
	g_autofree char *folded = g_ascii_strdown(base, -1);

	return (g_str_has_prefix(folded, "md5") || g_str_has_prefix(folded, "sha")) &&
	       strstr(folded, "sum");
}

static gboolean is_signed(const li_iso *iso, const char *path)
{
	for (gsize i = 0; i < G_N_ELEMENTS(companions); i++) {
		g_autofree char *name = g_strconcat(path, companions[i].suffix, NULL);

		if (!companions[i].verity && li_iso_find(iso, name))
			return TRUE;
	}
	return FALSE;
}

void li_seal_note_lists(li_iso *iso)
{
	for (guint i = 0; i < iso->files->len; i++) {
		const char *path = ((const li_file *)iso->files->pdata[i])->path;

		if (is_checksum_list(strrchr(path, '/') + 1) && is_signed(iso, path))
			g_ptr_array_add(iso->notes,
				g_strdup_printf(
					"%s is signed; if it lists the image, the signature will not match the new list",
					path));
	}
}
