/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/boot_config.h"

#include <string.h>

#include "reorder/util/bytes_hash.h"
#include "reorder/util/error.h"

/* Linux, x86: COMMAND_LINE_SIZE with the NUL; isolinux takes as much. */
enum { CMDLINE_SIZE = 2048 };

dmx_choice *dmx_choice_new(const li_entry *entry, const dmx_framework *framework)
{
	dmx_choice *choice = g_new0(dmx_choice, 1);
	g_autofree char *unfit = NULL;

	choice->entry = entry;
	if (!entry->is_live)
		return choice;
	if (!framework)
		choice->reason = g_strdup("its live framework is not known");
	else if (framework->refusal)
		choice->reason = g_strdup(framework->refusal);
	else if (!dmx_framework_has_cmdline(framework, entry->cmdline))
		choice->reason =
			g_strdup_printf("its command line does not start %s", framework->name);
	else if ((unfit = dmx_framework_unfit(framework, entry->cmdline)))
		choice->reason = g_strdup_printf(
			"%s: reads the medium in another way, or is not from it", unfit);
	else if (!entry->is_default && dmx_is_fail_safe(entry->title, entry->cmdline))
		choice->reason = g_strdup("fail-safe, left as the way without preload");
	else
		choice->framework = framework;
	return choice;
}

void dmx_choice_free(dmx_choice *choice)
{
	g_free(choice->reason);
	g_free(choice);
}

static gboolean refuse(const li_entry *entry, gint code, const char *reason, GError **error)
{
	return ro_fail(error, code, "%s:%u: %s", entry->config, entry->line, reason);
}

static gboolean check(const dmx_choice *choice, GError **error)
{
	const li_entry *entry = choice->entry;
	g_autofree char *cmdline = dmx_framework_edit(choice->framework, entry->cmdline);

	if (!entry->args.config)
		return refuse(entry, RO_ERROR_UNSUITABLE,
			"the preload cannot be added: the entry has no text of a command line",
			error);
	if (strlen(cmdline) >= CMDLINE_SIZE)
		return refuse(entry, RO_ERROR_UNSUITABLE,
			"the preload cannot be added: the command line would be longer than the kernel takes",
			error);
	return TRUE;
}

/* By file, then by position. */
static gint by_place(gconstpointer a, gconstpointer b)
{
	const li_entry *x = (*(dmx_choice *const *)a)->entry;
	const li_entry *y = (*(dmx_choice *const *)b)->entry;
	gint order = strcmp(x->args.config, y->args.config);

	return order ? order : (x->args.start > y->args.start) - (x->args.start < y->args.start);
}

/* Those that are edited, each place once. */
static GPtrArray *places(const GPtrArray *choices, GError **error)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	GPtrArray *once;

	for (guint i = 0; i < choices->len; i++) {
		dmx_choice *choice = g_ptr_array_index(choices, i);

		if (!choice->framework)
			continue;
		if (!check(choice, error))
			return NULL;
		g_ptr_array_add(all, choice);
	}
	g_ptr_array_sort(all, by_place);
	once = g_ptr_array_new();
	for (guint i = 0; i < all->len; i++)
		if (i == 0 || by_place(&all->pdata[i - 1], &all->pdata[i]) != 0)
			g_ptr_array_add(once, all->pdata[i]);
	return once;
}

/* Appends the old text up to the entry's place, then what comes there; returns where the old text
 * goes on. A place that is not in the text is not this text's: the proof will tell. */
static gsize append_edited(
	GByteArray *new, const guint8 *old, gsize size, gsize at, const dmx_choice *choice)
{
	gsize start = choice->entry->args.start, end = choice->entry->args.end;
	g_autofree char *words = NULL, *edited = NULL;

	if (start < at || end < start || end > size)
		return at;
	words = g_strndup((const char *)old + start, end - start);
	edited = dmx_framework_edit(choice->framework, words);
	g_byte_array_append(new, old + at, (guint)(start - at));
	g_byte_array_append(new, (const guint8 *)edited, (guint)strlen(edited));
	return end;
}

/* All places of one file, from number *next on. */
static GBytes *edit_file(
	const GPtrArray *all, guint *next, dmx_text_func text, gpointer user, GError **error)
{
	const dmx_choice *choice = g_ptr_array_index(all, *next);
	const char *config = choice->entry->args.config;
	g_autoptr(GBytes) bytes = text(config, user, error);
	GByteArray *new;
	gsize size, at = 0;
	const guint8 *old;

	if (!bytes)
		return NULL;
	old = g_bytes_get_data(bytes, &size);
	new = g_byte_array_new();
	for (; *next < all->len; ++*next) {
		choice = g_ptr_array_index(all, *next);
		if (!g_str_equal(choice->entry->args.config, config))
			break;
		at = append_edited(new, old, size, at, choice);
	}
	g_byte_array_append(new, old + at, (guint)(size - at));
	return g_byte_array_free_to_bytes(new);
}

GHashTable *dmx_boot_config_edit(
	const GPtrArray *choices, dmx_text_func text, gpointer user, GError **error)
{
	g_autoptr(GPtrArray) all = places(choices, error);
	g_autoptr(GHashTable) texts = g_hash_table_new_full(
		ro_bytes_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);

	for (guint at = 0; all && at < all->len;) {
		const dmx_choice *choice = g_ptr_array_index(all, at);
		GBytes *edited = edit_file(all, &at, text, user, error);

		if (!edited)
			return NULL;
		g_hash_table_insert(texts, g_strdup(choice->entry->args.config), edited);
	}
	return all ? g_steal_pointer(&texts) : NULL;
}

/* Word by word: how many blanks there are makes no difference to anybody. */
static gboolean same_words(const char *a, const char *b)
{
	for (;;) {
		gsize x, y;

		a += strspn(a, " \t");
		b += strspn(b, " \t");
		x = strcspn(a, " \t");
		y = strcspn(b, " \t");
		if (x != y || memcmp(a, b, x) != 0)
			return FALSE;
		if (x == 0)
			return TRUE;
		a += x;
		b += y;
	}
}

static gboolean same_initrds(const GPtrArray *a, const GPtrArray *b)
{
	for (guint i = 0; a->len == b->len && i < a->len; i++)
		if (!g_str_equal(a->pdata[i], b->pdata[i]))
			return FALSE;
	return a->len == b->len;
}

static gboolean same_entry(const dmx_choice *choice, const li_entry *new)
{
	const li_entry *old = choice->entry;
	g_autofree char *cmdline = choice->framework
					   ? dmx_framework_edit(choice->framework, old->cmdline)
					   : g_strdup(old->cmdline);

	return g_str_equal(old->title, new->title) && g_str_equal(old->config, new->config) &&
	       old->line == new->line &&g_str_equal(old->kernel, new->kernel) &&
	       same_initrds(old->initrds, new->initrds) &&
	       old->is_default == new->is_default &&same_words(cmdline, new->cmdline);
}

gboolean dmx_boot_config_same(
	const GPtrArray *choices, const GPtrArray *entries, gint code, GError **error)
{
	for (guint i = 0; i < choices->len; i++) {
		const dmx_choice *choice = g_ptr_array_index(choices, i);

		if (i >= entries->len || !same_entry(choice, g_ptr_array_index(entries, i)))
			return refuse(choice->entry, code,
				"the preload cannot be added: the command line is put together in a way that cannot be edited safely",
				error);
	}
	if (entries->len == choices->len)
		return TRUE;
	return ro_fail(error, code, "the boot configuration has other entries once it is edited");
}
