/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configurations of isolinux and syslinux (syslinux: doc/syslinux.txt, doc/menu.txt), with the menu
 * system's idea of what the default is.
 */
#include <string.h>

#include "iso/boot_config.h"

/* syslinux itself takes lines of up to 4 KiB (com32/elflink/ldlinux/readconfig.c). */
enum { MAX_LABELS = 2000, MAX_HOPS = 8, MAX_LINE = 4096 };

typedef enum {
	KIND_LINUX,
	KIND_CONFIG,  /* goes on with another configuration */
	KIND_SUBMENU, /* a menu entry that is a menu */
	KIND_OTHER,   /* modules, boot sectors, local boot */
} label_kind;

typedef struct {
	char *name, *title, *kernel, *append, *initrd;
	li_place append_at, words_at; /* of append; of the words behind the kernel's name */
	label_kind kind;
	guint menu;    /* index of the menu it is in */
	guint submenu; /* KIND_SUBMENU: index of the menu it opens */
	gboolean hidden, disabled, is_default;
	gboolean implicit; /* no command said what to start: the label is the kernel's name */
	const char *config;
	guint line;
} label;

typedef struct {
	guint parent;
	label *entry; /* in the parent menu; NULL for the main menu */
	label *chosen;
} menu;

typedef struct {
	li_config *config;
	char *dir;         /* what paths are relative to */
	GPtrArray *labels; /* of label, in order */
	GArray *menus;     /* of menu; 0 is the main one */
	label *current;
	guint menu, start_menu;
	char *append, *default_, *ontimeout;
	li_place append_at;
	const char *text; /* of the file */
	gboolean in_text;
	guint depth; /* of files */
	const char *file, *first_file;
	guint line;
} parser;

static void read_config(
	li_config *config, const char *path, const char *dir, guint depth, gboolean chosen);
static void parse_file(parser *p, const char *name);

static void label_free(label *l)
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

static char *rest_of(const char *text)
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
	return rest_of(text + length);
}

static char *first_word(const char *text)
{
	return g_strndup(text, strcspn(text, " \t"));
}

static gboolean has_suffix(const char *name, const char *suffix)
{
	gsize length = strlen(name), suffix_length = strlen(suffix);

	return length >= suffix_length &&
	       g_ascii_strcasecmp(name + length - suffix_length, suffix) == 0;
}

static gboolean is_menu_module(const char *name)
{
	return has_suffix(name, "menu.c32");
}

/* KERNEL says what it is by its file name. */
static label_kind kind_of_kernel(const char *name)
{
	static const char *const suffixes[] = {
		".c32", ".com", ".cbt", ".bin", ".bss", ".bs", ".0", ".img"};

	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++)
		if (has_suffix(name, suffixes[i]))
			return KIND_OTHER;
	return KIND_LINUX;
}

static label *new_label(parser *p, const char *name, label_kind kind)
{
	label *l;

	if (p->labels->len >= MAX_LABELS)
		return NULL;
	l = g_new0(label, 1);
	l->name = g_strdup(name);
	l->kind = kind;
	l->menu = p->menu;
	l->config = p->file;
	l->line = p->line;
	g_ptr_array_add(p->labels, l);
	return l;
}

/* Ends the label that is being read: it takes the global APPEND as it is now. */
static void finish_label(parser *p)
{
	label *l = p->current;

	p->current = NULL;
	if (!l)
		return;
	if (!l->append) {
		l->append = g_strdup(p->append ? p->append : "");
		l->append_at = p->append_at;
	}
	if (strcmp(l->append, "-") == 0)
		replace(&l->append, "");
	if (l->kind == KIND_OTHER && l->kernel && is_menu_module(l->kernel) && l->append[0]) {
		/* A menu of its own, in the file that it is given. */
		l->kind = KIND_CONFIG;
		g_free(l->kernel);
		l->kernel = first_word(l->append);
		replace(&l->append, "");
	}
	if (l->is_default && !l->hidden && !l->disabled)
		g_array_index(p->menus, menu, l->menu).chosen = l;
}

static void begin_menu(parser *p, const char *title)
{
	menu m = {.parent = p->menu};

	finish_label(p);
	m.entry = new_label(p, NULL, KIND_SUBMENU);
	if (!m.entry)
		return;
	m.entry->title = g_strdup(title);
	m.entry->submenu = p->menus->len;
	p->menu = p->menus->len;
	g_array_append_val(p->menus, m);
}

static void end_menu(parser *p)
{
	finish_label(p);
	p->menu = g_array_index(p->menus, menu, p->menu).parent;
}

/* MENU INCLUDE FILE [TAG]: with a tag it is a menu of its own. */
static void menu_include(parser *p, const char *text)
{
	g_autofree char *name = first_word(text);
	const char *tag = rest_of(text + strlen(name));

	if (*tag)
		begin_menu(p, tag);
	parse_file(p, name);
	if (*tag)
		end_menu(p);
}

static void menu_default(parser *p)
{
	menu *m = &g_array_index(p->menus, menu, p->menu);

	if (p->current)
		p->current->is_default = TRUE;
	else if (m->entry)
		g_array_index(p->menus, menu, m->parent).chosen = m->entry;
}

static void menu_command(parser *p, const char *text)
{
	const char *rest;
	menu *m = &g_array_index(p->menus, menu, p->menu);

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
	label_kind kind;
} starters[] = {
	{"linux", KIND_LINUX},
	{"config", KIND_CONFIG},
	{"boot", KIND_OTHER},
	{"bss", KIND_OTHER},
	{"pxe", KIND_OTHER},
	{"fdimage", KIND_OTHER},
	{"comboot", KIND_OTHER},
	{"com32", KIND_OTHER},
	{"localboot", KIND_OTHER},
};

/* Where a rest of the current line stands. */
static li_place place_of(const parser *p, const char *rest)
{
	gsize start = (gsize)(rest - p->text);

	return (li_place){p->file, start, start + strlen(rest)};
}

static void append_command(parser *p, const char *rest)
{
	li_place place = place_of(p, rest);

	replace(p->current ? &p->current->append : &p->append, rest);
	*(p->current ? &p->current->append_at : &p->append_at) = place;
}

static void start(parser *p, label_kind kind, const char *what)
{
	label *l = p->current;

	replace(&l->kernel, what);
	l->words_at = place_of(p, what + strcspn(what, " \t"));
	l->kind = kind;
	l->implicit = FALSE;
}

static void starter_command(parser *p, const char *text)
{
	const char *rest = after(text, "kernel");

	if (!p->current)
		return;
	if (rest) {
		start(p, kind_of_kernel(rest), rest);
		return;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(starters); i++)
		if ((rest = after(text, starters[i].word))) {
			start(p, starters[i].kind, rest);
			return;
		}
}

/* UI and DEFAULT may name a menu module, which may be given the configuration to show. */
static void default_command(parser *p, const char *text)
{
	g_autofree char *word = first_word(text);
	const char *rest = rest_of(text + strlen(word));

	if (!is_menu_module(word)) {
		replace(&p->default_, text);
		return;
	}
	while (*rest) {
		g_autofree char *name = first_word(rest);

		parse_file(p, name);
		rest = rest_of(rest + strlen(name));
	}
}

static void begin_label(parser *p, const char *name)
{
	finish_label(p);
	p->current = new_label(p, name, KIND_LINUX);
	if (!p->current)
		return;
	p->current->kernel = g_strdup(name);
	p->current->implicit = TRUE;
}

static void parse_line(parser *p, const char *text)
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
		g_autofree char *word = first_word(rest);

		if (is_menu_module(word))
			default_command(p, rest);
	} else if ((rest = after(text, "ontimeout")))
		replace(&p->ontimeout, rest);
	else if ((rest = after(text, "text")))
		p->in_text = after(rest, "help") != NULL;
	else
		starter_command(p, text);
}

static void parse_text(parser *p, char *text)
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
		line = rest_of(g_strchomp(line));
		if (strlen(line) < MAX_LINE)
			parse_line(p, line);
	}
	p->text = outer;
}

static char *resolve(const parser *p, const char *name)
{
	/* "::" is the root of a network boot; here that is the ISO. */
	return li_config_path(p->dir, g_str_has_prefix(name, "::") ? name + 2 : name);
}

static void parse_file(parser *p, const char *name)
{
	g_autofree char *word = first_word(name);
	g_autofree char *path = resolve(p, word);
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

static label *find_label(const parser *p, const char *text)
{
	g_autofree char *name = first_word(text);
	label *other_case = NULL;

	for (guint i = 0; i < p->labels->len; i++) {
		label *l = p->labels->pdata[i];

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
static label *menu_choice(const parser *p, guint index)
{
	const menu *m = &g_array_index(p->menus, menu, index);

	if (m->chosen)
		return m->chosen;
	for (guint i = 0; i < p->labels->len; i++) {
		label *l = p->labels->pdata[i];

		if (l->menu == index && !l->hidden && !l->disabled)
			return l;
	}
	return NULL;
}

/* Modules that choose another label: "whichsys.c32 -iso- LABEL …" and "ifcpu64.c32 LABEL -- …". */
static label *module_choice(const parser *p, const char *module, const char *arguments)
{
	g_auto(GStrv) words = g_strsplit_set(arguments, " \t", -1);
	gboolean which = has_suffix(module, "whichsys.c32");

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
static label *command_choice(parser *p, const char *text)
{
	g_autofree char *word = first_word(text);
	g_autofree char *path = resolve(p, word);
	const char *rest = rest_of(text + strlen(word));
	label *l = find_label(p, word);

	if (l)
		return l;
	if (has_suffix(word, ".c32"))
		return module_choice(p, word, rest);
	if (kind_of_kernel(word) != KIND_LINUX || !li_iso_find(p->config->iso, path))
		return NULL;
	p->file = p->first_file;
	begin_label(p, word);
	l = p->current;
	if (l)
		replace(&l->append, rest);
	finish_label(p);
	return l;
}

static label *first_choice(parser *p)
{
	label *l = p->ontimeout ? command_choice(p, p->ontimeout) : NULL;

	if (!l && p->default_)
		l = command_choice(p, p->default_);
	return l ? l : menu_choice(p, p->start_menu);
}

static label *default_label(parser *p)
{
	label *l = first_choice(p), *next;

	for (guint i = 0; l && i < MAX_HOPS; i++) {
		next = NULL;
		if (l->kind == KIND_SUBMENU)
			next = menu_choice(p, l->submenu);
		else if (l->kind == KIND_OTHER && l->kernel)
			next = module_choice(p, l->kernel, l->append);
		if (!next)
			break;
		l = next;
	}
	return l;
}

static void add_initrds(const parser *p, const char *list, GPtrArray *initrds)
{
	g_auto(GStrv) names = g_strsplit(list, ",", -1);

	for (gsize i = 0; names[i]; i++)
		if (*g_strstrip(names[i]))
			g_ptr_array_add(initrds, resolve(p, names[i]));
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

static char *plain_title(const label *l)
{
	g_auto(GStrv) parts = g_strsplit(l->title ? l->title : l->name, "^", 2);

	return g_strstrip(g_strjoinv("", parts));
}

static li_entry *add_linux(const parser *p, const label *l)
{
	g_autofree char *initrd = NULL;
	g_autofree char *cmdline = without_initrd(l->append, &initrd);
	g_autofree char *word = first_word(l->kernel);
	g_autofree char *kernel = resolve(p, word);
	g_autofree char *title = plain_title(l);
	g_autofree char *words = g_strconcat(rest_of(l->kernel + strlen(word)), " ", cmdline, NULL);
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
static void follow_config(const parser *p, const label *l, gboolean chosen)
{
	g_autofree char *word = first_word(l->kernel);
	g_autofree char *path = resolve(p, word);
	const char *dir_word = rest_of(l->kernel + strlen(word));
	g_autofree char *dir = resolve(p, *dir_word ? dir_word : l->append);

	read_config(p->config, path, dir, p->depth + 1, chosen);
}

static gboolean has_kernel(const parser *p, const label *l)
{
	g_autofree char *path = resolve(p, l->kernel);

	return li_iso_find(p->config->iso, path) != NULL;
}

static void add_label(const parser *p, const label *l, gboolean chosen)
{
	guint first = p->config->iso->entries->len;
	li_entry *entry;

	if (l->kind == KIND_CONFIG && l->kernel)
		follow_config(p, l, chosen);
	if (l->kind != KIND_LINUX || !l->kernel || l->disabled ||
		(l->implicit && !has_kernel(p, l)))
		return;
	entry = add_linux(p, l);
	if (chosen)
		li_config_set_default(p->config, first, entry);
}

static void add_labels(parser *p, gboolean chosen)
{
	label *first = default_label(p);

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
	menu main_menu = {0};
	parser p = {
		.config = config,
		.dir = g_strdup(dir),
		.labels = g_ptr_array_new_with_free_func((GDestroyNotify)label_free),
		.menus = g_array_new(FALSE, FALSE, sizeof(menu)),
		.depth = depth,
	};

	g_array_append_val(p.menus, main_menu);
	parse_file(&p, path);
	finish_label(&p);
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
