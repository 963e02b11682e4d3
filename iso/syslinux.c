/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configurations of isolinux and syslinux (syslinux: doc/syslinux.txt, doc/menu.txt), with the menu
 * system's idea of what the default is.
 */
#include "iso/syslinux-internal.h"

#include <string.h>

static void read_config(
	li_config *config, const char *path, const char *dir, guint depth, gboolean chosen);

static void add_initrds(const li_syslinux *p, const char *list, GPtrArray *initrds)
{
	g_auto(GStrv) names = g_strsplit(list, ",", -1);

	for (gsize i = 0; names[i]; i++)
		if (*g_strstrip(names[i]))
			g_ptr_array_add(initrds, li_syslinux_path(p, names[i]));
}

/* Takes "initrd=…" out of a command line; the last one counts. */
static char *without_initrd(const char *append, char **initrd)
{
	GString *rest = g_string_new(NULL);

	while (*append) {
		gsize word = strcspn(append, " \t");
		gsize space = strspn(append + word, " \t");

		if (g_str_has_prefix(append, "initrd=")) {
			g_free(*initrd);
			*initrd = g_strndup(append + 7, word - 7);
		} else
			g_string_append_len(rest, append, (gssize)(word + space));
		append += word + space;
	}
	return g_string_free(rest, FALSE);
}

static char *plain_title(const li_syslinux_label *l)
{
	g_auto(GStrv) parts = g_strsplit(l->title ? l->title : l->name, "^", 2);

	return g_strstrip(g_strjoinv("", parts));
}

static li_entry *add_linux(const li_syslinux *p, const li_syslinux_label *l)
{
	g_autofree char *initrd = NULL;
	g_autofree char *cmdline = without_initrd(l->append, &initrd);
	g_autofree char *word = li_syslinux_word(l->kernel);
	g_autofree char *kernel = li_syslinux_path(p, word);
	g_autofree char *title = plain_title(l);
	g_autofree char *words =
		g_strconcat(li_syslinux_rest(l->kernel + strlen(word)), " ", cmdline, NULL);
	g_autoptr(GPtrArray) initrds = g_ptr_array_new_with_free_func(g_free);
	li_draft draft = {title, l->config, l->line, kernel, initrds, words,
		l->append_at.config ? l->append_at : l->words_at};

	if (l->initrd)
		add_initrds(p, l->initrd, initrds);
	else if (initrd)
		add_initrds(p, initrd, initrds);
	return li_config_add(p->config, &draft);
}

/* CONFIG FILE [DIR]; the directory may be in APPEND as well. */
static void follow_config(const li_syslinux *p, const li_syslinux_label *l, gboolean chosen)
{
	g_autofree char *word = li_syslinux_word(l->kernel);
	g_autofree char *path = li_syslinux_path(p, word);
	const char *dir_word = li_syslinux_rest(l->kernel + strlen(word));
	g_autofree char *dir = li_syslinux_path(p, *dir_word ? dir_word : l->append);

	read_config(p->config, path, dir, p->depth + 1, chosen);
}

static gboolean has_kernel(const li_syslinux *p, const li_syslinux_label *l)
{
	g_autofree char *path = li_syslinux_path(p, l->kernel);

	return li_iso_find(p->config->iso, path) != NULL;
}

static void add_label(const li_syslinux *p, const li_syslinux_label *l, gboolean chosen)
{
	guint first = p->config->iso->entries->len;
	li_entry *entry;

	if (l->kind == LI_SYSLINUX_CONFIG && l->kernel)
		follow_config(p, l, chosen);
	if (l->kind != LI_SYSLINUX_LINUX || !l->kernel || l->disabled ||
		(l->implicit && !has_kernel(p, l)))
		return;
	entry = add_linux(p, l);
	if (chosen)
		li_config_set_default(p->config, first, entry);
}

static void add_labels(li_syslinux *p, gboolean chosen)
{
	li_syslinux_label *first = li_syslinux_default(p);

	if (first)
		add_label(p, first, chosen);
	for (guint i = 0; i < p->labels->len; i++)
		if (p->labels->pdata[i] != first)
			add_label(p, p->labels->pdata[i], FALSE);
}

/* chosen: a machine without a key would come here. */
static void read_config(
	li_config *config, const char *path, const char *dir, guint depth, gboolean chosen)
{
	li_syslinux_menu main_menu = {0};
	li_syslinux p = {
		.config = config,
		.dir = g_strdup(dir),
		.labels = g_ptr_array_new_with_free_func((GDestroyNotify)li_syslinux_label_free),
		.menus = g_array_new(FALSE, FALSE, sizeof(li_syslinux_menu)),
		.depth = depth,
	};

	g_array_append_val(p.menus, main_menu);
	li_syslinux_parse(&p, path);
	add_labels(&p, chosen);
	g_ptr_array_unref(p.labels);
	g_array_unref(p.menus);
	g_free(p.dir);
	g_free(p.append);
	g_free(p.default_);
	g_free(p.ontimeout);
}

void li_syslinux_read(li_config *config, const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path);

	read_config(config, path, dir, 0, TRUE);
}
