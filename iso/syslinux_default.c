/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What syslinux, or its menu, starts if nobody presses a key. */
#include "iso/syslinux-internal.h"

#include <string.h>

enum { MAX_HOPS = 8 };

static li_syslinux_label *find_label(const li_syslinux *p, const char *text)
{
	g_autofree char *name = li_syslinux_word(text);
	li_syslinux_label *other_case = NULL;

	for (guint i = 0; i < p->labels->len; i++) {
		li_syslinux_label *l = p->labels->pdata[i];

		if (!l->name)
			continue;
		if (strcmp(l->name, name) == 0)
			return l;
		if (!other_case && g_ascii_strcasecmp(l->name, name) == 0)
			other_case = l;
	}
	return other_case;
}

/* The entry that the menu starts on. */
static li_syslinux_label *menu_choice(const li_syslinux *p, guint index)
{
	const li_syslinux_menu *m = &g_array_index(p->menus, li_syslinux_menu, index);

	if (m->chosen)
		return m->chosen;
	for (guint i = 0; i < p->labels->len; i++) {
		li_syslinux_label *l = p->labels->pdata[i];

		if (l->menu == index && !l->hidden && !l->disabled)
			return l;
	}
	return NULL;
}

/* Modules that choose another label: "whichsys.c32 -iso- LABEL …" and "ifcpu64.c32 LABEL -- …". */
static li_syslinux_label *module_choice(
	const li_syslinux *p, const char *module, const char *arguments)
{
	g_auto(GStrv) words = g_strsplit_set(arguments, " \t", -1);
	gboolean which = li_syslinux_has_suffix(module, "whichsys.c32");

	if (!which && !g_strrstr(module, "ifcpu"))
		return NULL;
	for (gsize i = 0; words[i]; i++) {
		if (!which && words[i][0])
			return find_label(p, words[i]);
		if (which && strcmp(words[i], "-iso-") == 0 && words[i + 1])
			return find_label(p, words[i + 1]);
	}
	return NULL;
}

/* DEFAULT may be a command line instead of a label: a kernel, or a module that chooses. */
static li_syslinux_label *command_choice(li_syslinux *p, const char *text)
{
	g_autofree char *word = li_syslinux_word(text);
	g_autofree char *path = li_syslinux_path(p, word);
	const char *rest = li_syslinux_rest(text + strlen(word));
	li_syslinux_label *l = find_label(p, word);

	if (l)
		return l;
	if (li_syslinux_has_suffix(word, ".c32"))
		return module_choice(p, word, rest);
	if (li_syslinux_kernel_kind(word) != LI_SYSLINUX_LINUX ||
		!li_iso_find(p->config->iso, path))
		return NULL;
	return li_syslinux_add_command(p, word, rest);
}

static li_syslinux_label *first_choice(li_syslinux *p)
{
	li_syslinux_label *l = p->ontimeout ? command_choice(p, p->ontimeout) : NULL;

	if (!l && p->default_)
		l = command_choice(p, p->default_);
	return l ? l : menu_choice(p, p->start_menu);
}

li_syslinux_label *li_syslinux_default(li_syslinux *p)
{
	li_syslinux_label *l = first_choice(p), *next;

	for (guint i = 0; l && i < MAX_HOPS; i++) {
		next = NULL;
		if (l->kind == LI_SYSLINUX_SUBMENU)
			next = menu_choice(p, l->submenu);
		else if (l->kind == LI_SYSLINUX_OTHER && l->kernel)
			next = module_choice(p, l->kernel, l->append);
		if (!next)
			break;
		l = next;
	}
	return l;
}
