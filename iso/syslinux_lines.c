/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of syslinux's configurations: they make labels and menus. */
#include "iso/syslinux-internal.h"

#include <string.h>

/* syslinux itself takes lines of up to 4 KiB (com32/elflink/ldlinux/readconfig.c). */
enum { MAX_LABELS = 2000, MAX_LINE = 4096 };

static void parse_file(li_syslinux *p, const char *name);

void li_syslinux_label_free(li_syslinux_label *l)
{
	g_free(l->name);
	g_free(l->title);
	g_free(l->kernel);
	g_free(l->append);
	g_free(l->initrd);
	g_free(l);
}

static void replace(char **to, const char *text)
{
	g_free(*to);
	*to = g_strdup(text);
}

char *li_syslinux_rest(const char *text)
{
	while (g_ascii_isspace(*text))
		text++;
	return (char *)text;
}

/* If text starts with the keyword (in any case), what comes behind it, else NULL. */
static const char *after(const char *text, const char *keyword)
{
	gsize length = strlen(keyword);

	if (g_ascii_strncasecmp(text, keyword, length) != 0 ||
		(text[length] && !g_ascii_isspace(text[length])))
		return NULL;
	return li_syslinux_rest(text + length);
}

char *li_syslinux_word(const char *text)
{
	return g_strndup(text, strcspn(text, " \t"));
}

gboolean li_syslinux_has_suffix(const char *name, const char *suffix)
{
	gsize length = strlen(name), suffix_length = strlen(suffix);

	return length >= suffix_length &&
	       g_ascii_strcasecmp(name + length - suffix_length, suffix) == 0;
}

static gboolean is_menu_module(const char *name)
{
	return li_syslinux_has_suffix(name, "menu.c32");
}

li_syslinux_kind li_syslinux_kernel_kind(const char *name)
{
	static const char *const suffixes[] = {
		".c32", ".com", ".cbt", ".bin", ".bss", ".bs", ".0", ".img"};

	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++)
		if (li_syslinux_has_suffix(name, suffixes[i]))
			return LI_SYSLINUX_OTHER;
	return LI_SYSLINUX_LINUX;
}

static li_syslinux_label *new_label(li_syslinux *p, const char *name, li_syslinux_kind kind)
{
	li_syslinux_label *l;

	if (p->labels->len >= MAX_LABELS)
		return NULL;
	l = g_new0(li_syslinux_label, 1);
	l->name = g_strdup(name);
	l->kind = kind;
	l->menu = p->menu;
	l->config = p->file;
	l->line = p->line;
	g_ptr_array_add(p->labels, l);
	return l;
}

/* Ends the label that is being read: it takes the global APPEND as it is now. */
static void finish_label(li_syslinux *p)
{
	li_syslinux_label *l = p->current;

	p->current = NULL;
	if (!l)
		return;
	if (!l->append) {
		l->append = g_strdup(p->append ? p->append : "");
		l->append_at = p->append_at;
	}
	if (strcmp(l->append, "-") == 0)
		replace(&l->append, "");
	if (l->kind == LI_SYSLINUX_OTHER && l->kernel && is_menu_module(l->kernel) &&
		l->append[0]) {
		/* A menu of its own, in the file that it is given. */
		l->kind = LI_SYSLINUX_CONFIG;
		g_free(l->kernel);
		l->kernel = li_syslinux_word(l->append);
		replace(&l->append, "");
	}
	if (l->is_default && !l->hidden && !l->disabled)
		g_array_index(p->menus, li_syslinux_menu, l->menu).chosen = l;
}

static void begin_menu(li_syslinux *p, const char *title)
{
	li_syslinux_menu m = {.parent = p->menu};

	finish_label(p);
	m.entry = new_label(p, NULL, LI_SYSLINUX_SUBMENU);
	if (!m.entry)
		return;
	m.entry->title = g_strdup(title);
	m.entry->submenu = p->menus->len;
	p->menu = p->menus->len;
	g_array_append_val(p->menus, m);
}

static void end_menu(li_syslinux *p)
{
	finish_label(p);
	p->menu = g_array_index(p->menus, li_syslinux_menu, p->menu).parent;
}

/* MENU INCLUDE FILE [TAG]: with a tag it is a menu of its own. */
static void menu_include(li_syslinux *p, const char *text)
{
	g_autofree char *name = li_syslinux_word(text);
	const char *tag = li_syslinux_rest(text + strlen(name));

	if (*tag)
		begin_menu(p, tag);
	parse_file(p, name);
	if (*tag)
		end_menu(p);
}

static void menu_default(li_syslinux *p)
{
	li_syslinux_menu *m = &g_array_index(p->menus, li_syslinux_menu, p->menu);

	if (p->current)
		p->current->is_default = TRUE;
	else if (m->entry)
		g_array_index(p->menus, li_syslinux_menu, m->parent).chosen = m->entry;
}

static void menu_command(li_syslinux *p, const char *text)
{
	const char *rest;
	li_syslinux_menu *m = &g_array_index(p->menus, li_syslinux_menu, p->menu);

	if ((rest = after(text, "label"))) {
		if (p->current)
			replace(&p->current->title, rest);
		else if (m->entry)
			replace(&m->entry->title, rest);
	} else if (after(text, "default"))
		menu_default(p);
	else if (after(text, "hide") && p->current)
		p->current->hidden = TRUE;
	else if ((after(text, "disable") || after(text, "separator")) && p->current)
		p->current->disabled = TRUE;
	else if ((rest = after(text, "begin")))
		begin_menu(p, rest);
	else if (after(text, "end"))
		end_menu(p);
	else if (after(text, "start"))
		p->start_menu = p->menu;
	else if ((rest = after(text, "include")))
		menu_include(p, rest);
}

/* Commands that say what a label starts. */
static const struct {
	const char *word;
	li_syslinux_kind kind;
} starters[] = {
	{"linux", LI_SYSLINUX_LINUX},
	{"config", LI_SYSLINUX_CONFIG},
	{"boot", LI_SYSLINUX_OTHER},
	{"bss", LI_SYSLINUX_OTHER},
	{"pxe", LI_SYSLINUX_OTHER},
	{"fdimage", LI_SYSLINUX_OTHER},
	{"comboot", LI_SYSLINUX_OTHER},
	{"com32", LI_SYSLINUX_OTHER},
	{"localboot", LI_SYSLINUX_OTHER},
};

/* Where a rest of the current line stands. */
static li_place place_of(const li_syslinux *p, const char *rest)
{
	gsize start = (gsize)(rest - p->text);

	return (li_place){p->file, start, start + strlen(rest)};
}

static void append_command(li_syslinux *p, const char *rest)
{
	li_place place = place_of(p, rest);

	replace(p->current ? &p->current->append : &p->append, rest);
	*(p->current ? &p->current->append_at : &p->append_at) = place;
}

static void start(li_syslinux *p, li_syslinux_kind kind, const char *what)
{
	li_syslinux_label *l = p->current;

	replace(&l->kernel, what);
	l->words_at = place_of(p, what + strcspn(what, " \t"));
	l->kind = kind;
	l->implicit = FALSE;
}

static void starter_command(li_syslinux *p, const char *text)
{
	const char *rest = after(text, "kernel");

	if (!p->current)
		return;
	if (rest) {
		start(p, li_syslinux_kernel_kind(rest), rest);
		return;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(starters); i++)
		if ((rest = after(text, starters[i].word))) {
			start(p, starters[i].kind, rest);
			return;
		}
}

/* UI and DEFAULT may name a menu module, which may be given the configuration to show. */
static void default_command(li_syslinux *p, const char *text)
{
	g_autofree char *word = li_syslinux_word(text);
	const char *rest = li_syslinux_rest(text + strlen(word));

	if (!is_menu_module(word)) {
		replace(&p->default_, text);
		return;
	}
	while (*rest) {
		g_autofree char *name = li_syslinux_word(rest);

		parse_file(p, name);
		rest = li_syslinux_rest(rest + strlen(name));
	}
}

static void begin_label(li_syslinux *p, const char *name)
{
	finish_label(p);
	p->current = new_label(p, name, LI_SYSLINUX_LINUX);
	if (!p->current)
		return;
	p->current->kernel = g_strdup(name);
	p->current->implicit = TRUE;
}

static void parse_line(li_syslinux *p, const char *text)
{
	const char *rest;

	if (p->in_text) {
		p->in_text = !after(text, "endtext");
		return;
	}
	if ((rest = after(text, "menu")))
		menu_command(p, rest);
	else if ((rest = after(text, "include")))
		parse_file(p, rest);
	else if ((rest = after(text, "label")))
		begin_label(p, rest);
	else if ((rest = after(text, "append")))
		append_command(p, rest);
	else if ((rest = after(text, "initrd")) && p->current)
		replace(&p->current->initrd, rest);
	else if ((rest = after(text, "default")))
		default_command(p, rest);
	else if ((rest = after(text, "ui"))) {
		g_autofree char *word = li_syslinux_word(rest);

		if (is_menu_module(word))
			default_command(p, rest);
	} else if ((rest = after(text, "ontimeout")))
		replace(&p->ontimeout, rest);
	else if ((rest = after(text, "text")))
		p->in_text = after(rest, "help") != NULL;
	else
		starter_command(p, text);
}

static void parse_text(li_syslinux *p, char *text)
{
	const char *outer = p->text;
	char *line = text, *next;

	p->text = text;
	for (p->line = 1; line && p->config->commands_left > 0; p->line++, line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		p->config->commands_left--;
		/* Nothing moves: places are counted from the start of the text. */
		line = li_syslinux_rest(g_strchomp(line));
		if (strlen(line) < MAX_LINE)
			parse_line(p, line);
	}
	p->text = outer;
}

char *li_syslinux_path(const li_syslinux *p, const char *name)
{
	/* "::" is the root of a network boot; here that is the ISO. */
	return li_config_path(p->dir, g_str_has_prefix(name, "::") ? name + 2 : name);
}

static void parse_file(li_syslinux *p, const char *name)
{
	g_autofree char *word = li_syslinux_word(name);
	g_autofree char *path = li_syslinux_path(p, word);
	g_autofree char *text = NULL;
	const char *file = p->file, *found = NULL;
	guint line = p->line;

	if (p->depth >= LI_CONFIG_MAX_DEPTH)
		return;
	text = li_config_text(p->config, path, &found);
	if (!text)
		return;
	p->depth++;
	p->file = found;
	if (!p->first_file)
		p->first_file = found;
	parse_text(p, text);
	p->in_text = FALSE;
	p->depth--;
	p->file = file;
	p->line = line;
}

void li_syslinux_parse(li_syslinux *p, const char *name)
{
	parse_file(p, name);
	finish_label(p);
}

li_syslinux_label *li_syslinux_add_command(li_syslinux *p, const char *kernel, const char *append)
{
	li_syslinux_label *l;

	p->file = p->first_file;
	begin_label(p, kernel);
	l = p->current;
	if (l)
		replace(&l->append, append);
	finish_label(p);
	return l;
}
