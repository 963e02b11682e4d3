/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands and control structures. */
#include "iso/grub-internal.h"

#include <string.h>

static void run_block(li_grub *g, li_grub_script *s);

/* ---- commands ---- */

static void assign(li_grub *g, const char *text)
{
	const char *equals = strchr(text, '=');
	g_autofree char *name = equals ? g_strndup(text, (gsize)(equals - text)) : NULL;

	/* A submenu's own default is not the menu's. */
	if (name && (g->menu == LI_GRUB_NO_ITEM || strcmp(name, "default") != 0))
		li_grub_set(g, name, equals + 1);
}

static gboolean is_assignment(const char *word)
{
	gsize length = strspn(word, G_CSET_A_2_Z G_CSET_a_2_z "0123456789_");

	return length > 0 && word[length] == '=';
}

/* As GRUB hands the words to the kernel: quoted where that is needed (grub-core/lib/cmdline.c). */
static void append_argument(GString *cmdline, const char *word)
{
	gboolean quote = strchr(word, ' ') != NULL;

	if (cmdline->len > 0)
		g_string_append_c(cmdline, ' ');
	if (quote)
		g_string_append_c(cmdline, '"');
	for (; *word; word++) {
		if (strchr("\\'\"", *word))
			g_string_append_c(cmdline, '\\');
		g_string_append_c(cmdline, *word);
	}
	if (quote)
		g_string_append_c(cmdline, '"');
}

/* In a menu entry, and not in a branch of it that is not taken. */
static gboolean is_booting(const li_grub *g)
{
	return g->boot && g->boot->dead == g->dead;
}

static void command_linux(li_grub *g, GPtrArray *words)
{
	GString *cmdline = g_string_new(NULL);
	guint i = 1;

	while (i < words->len && g_str_has_prefix(words->pdata[i], "--"))
		i++;
	if (i < words->len && is_booting(g)) {
		g_free(g->boot->kernel);
		g->boot->kernel = li_grub_path(words->pdata[i]);
		for (i++; i < words->len; i++)
			append_argument(cmdline, words->pdata[i]);
		g->boot->args = g->args;
		g_free(g->boot->cmdline);
		g->boot->cmdline = g_string_free(g_steal_pointer(&cmdline), FALSE);
	}
	if (cmdline)
		g_string_free(cmdline, TRUE);
}

static void command_initrd(li_grub *g, GPtrArray *words)
{
	if (!is_booting(g))
		return;
	g_ptr_array_set_size(g->boot->initrds, 0);
	for (guint i = 1; i < words->len; i++) {
		const char *word = words->pdata[i];

		/* "newc:NAME:FILE" makes GRUB pack the file; it is no initrd by itself. */
		if (g_str_has_prefix(word, "--") || g_str_has_prefix(word, "newc:"))
			continue;
		g_ptr_array_add(g->boot->initrds, li_grub_path(word));
	}
}

static void command_source(li_grub *g, GPtrArray *words)
{
	if (words->len > 1)
		li_grub_run_file(g, words->pdata[1]);
}

static void command_set(li_grub *g, GPtrArray *words)
{
	for (guint i = 1; i < words->len; i++)
		assign(g, words->pdata[i]);
}

static void command_unset(li_grub *g, GPtrArray *words)
{
	for (guint i = 1; i < words->len; i++)
		li_grub_set(g, words->pdata[i], "");
}

static void command_test(li_grub *g, GPtrArray *words)
{
	guint count = words->len - 1;

	if (count > 0 && strcmp(words->pdata[count], "]") == 0)
		count--;
	g->status = li_grub_test(g, (char **)words->pdata + 1, count);
}

static void command_false(li_grub *g, GPtrArray *words G_GNUC_UNUSED)
{
	g->status = FALSE;
}

static const struct {
	const char *name;
	void (*run)(li_grub *g, GPtrArray *words);
} commands[] = {
	{"linux", command_linux},
	{"linux16", command_linux},
	{"linuxefi", command_linux},
	{"initrd", command_initrd},
	{"initrd16", command_initrd},
	{"initrdefi", command_initrd},
	{"source", command_source},
	{".", command_source},
	{"configfile", command_source},
	{"set", command_set},
	{"unset", command_unset},
	{"[", command_test},
	{"test", command_test},
	{"false", command_false},
};

static void run_command(li_grub *g, GPtrArray *words)
{
	const char *name = words->len > 0 ? words->pdata[0] : "";

	/* Whatever is not known works. */
	g->status = TRUE;
	if (is_assignment(name))
		assign(g, name);
	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(name, commands[i].name) == 0)
			commands[i].run(g, words);
}

/* ---- menu entries ---- */

static void run_braces(li_grub *g, li_grub_script *s)
{
	if (!li_grub_peek(s) || li_grub_peek(s)->kind != LI_GRUB_OPEN)
		return;
	s->at++;
	run_block(g, s);
	if (li_grub_peek(s) && li_grub_peek(s)->kind == LI_GRUB_CLOSE)
		s->at++;
}

static void finish_entry(
	li_grub *g, const li_grub_script *s, guint line, li_grub_item *entry, const li_grub_boot *b)
{
	li_draft draft = {entry->title, s->path, line, b->kernel, b->initrds,
		b->cmdline ? b->cmdline : "", b->args};

	if (b->kernel)
		entry->entry = li_config_add(g->config, &draft);
}

/* menuentry and submenu: a name, then a block in braces. */
static void run_menuentry(li_grub *g, li_grub_script *s)
{
	const li_grub_token *name = li_grub_peek(s);
	guint line = name ? name->line : 0;
	g_autoptr(GPtrArray) words = li_grub_read_words(g, s);
	li_grub_boot b = {.initrds = g_ptr_array_new_with_free_func(g_free), .dead = g->dead};
	li_grub_boot *outer = g->boot;
	gint menu = g->menu;
	li_grub_item *entry;

	if (g->items->len < LI_GRUB_MAX_ITEMS) {
		entry = li_grub_add_item(g, words);
		g->menu = (gint)g->items->len - 1;
		g->boot = &b;
		run_braces(g, s);
		finish_entry(g, s, line, entry, &b);
	} else
		g->config->commands_left = 0;
	g->menu = menu;
	g->boot = outer;
	g_free(b.kernel);
	g_free(b.cmdline);
	g_ptr_array_unref(b.initrds);
}

/* ---- control structures ---- */

static void run_dead(li_grub *g, li_grub_script *s)
{
	g->dead++;
	run_block(g, s);
	li_grub_leave_dead(g);
}

/* From behind "if" or "elif" to its branch's end. Returns whether the branch was taken. */
static gboolean run_branch(li_grub *g, li_grub_script *s, gboolean taken_before)
{
	gboolean taken;

	/* The condition's commands end at "then". */
	run_block(g, s);
	taken = g->status && !taken_before;
	if (li_grub_is_word(li_grub_peek(s), "then"))
		s->at++;
	if (taken)
		run_block(g, s);
	else
		run_dead(g, s);
	return taken;
}

static void run_if(li_grub *g, li_grub_script *s)
{
	gboolean taken;

	s->at++;
	taken = run_branch(g, s, FALSE);
	while (li_grub_is_word(li_grub_peek(s), "elif")) {
		s->at++;
		taken = run_branch(g, s, taken) || taken;
	}
	if (li_grub_is_word(li_grub_peek(s), "else")) {
		s->at++;
		if (taken)
			run_dead(g, s);
		else
			run_block(g, s);
	}
	if (li_grub_is_word(li_grub_peek(s), "fi"))
		s->at++;
	g->status = TRUE;
}

static void skip_separators(li_grub_script *s)
{
	while (li_grub_peek(s) && li_grub_peek(s)->kind == LI_GRUB_SEPARATOR)
		s->at++;
}

/* for NAME in WORD…; do …; done. The list is expanded as it is: no patterns. */
static void run_for(li_grub *g, li_grub_script *s)
{
	g_autoptr(GPtrArray) words = li_grub_read_words(g, s);
	guint body;

	skip_separators(s);
	if (li_grub_is_word(li_grub_peek(s), "do"))
		s->at++;
	body = s->at;
	for (guint i = 3; i < words->len && g->config->commands_left > 0; i++) {
		g->config->commands_left--;
		s->at = body;
		li_grub_set(g, words->pdata[1], words->pdata[i]);
		run_block(g, s);
	}
	if (words->len <= 3)
		run_dead(g, s);
	if (li_grub_is_word(li_grub_peek(s), "done"))
		s->at++;
}

/* while and until: their commands are looked at, once, for entries. */
static void run_while(li_grub *g, li_grub_script *s)
{
	s->at++;
	run_block(g, s);
	if (li_grub_is_word(li_grub_peek(s), "do"))
		s->at++;
	run_dead(g, s);
	if (li_grub_is_word(li_grub_peek(s), "done"))
		s->at++;
}

/* A function's commands likewise. */
static void run_function(li_grub *g, li_grub_script *s)
{
	g_ptr_array_unref(li_grub_read_words(g, s));
	g->dead++;
	run_braces(g, s);
	li_grub_leave_dead(g);
}

static const struct {
	const char *word;
	void (*run)(li_grub *g, li_grub_script *s);
} structures[] = {
	{"if", run_if},
	{"for", run_for},
	{"while", run_while},
	{"until", run_while},
	{"function", run_function},
	{"menuentry", run_menuentry},
	{"submenu", run_menuentry},
	{"hiddenentry", run_menuentry},
};

/* Where the words from the token first on to the one that is next stand, but for the command and
 * its options and the word behind them. */
static li_place args_of(const li_grub_script *s, guint first)
{
	const li_grub_token *t = NULL;
	li_place place = {NULL, 0, 0};

	for (first++; first < s->at; first++) {
		t = &g_array_index(s->tokens, li_grub_token, first);
		if (t->length < 2 || memcmp(t->text, "--", 2) != 0)
			break;
	}
	if (first >= s->at)
		return place;
	place.config = s->path;
	place.start = (gsize)(t->text - s->text) + t->length;
	t = &g_array_index(s->tokens, li_grub_token, s->at - 1);
	place.end = (gsize)(t->text - s->text) + t->length;
	return place;
}

static void run_statement(li_grub *g, li_grub_script *s)
{
	guint first = s->at;

	for (gsize i = 0; i < G_N_ELEMENTS(structures); i++)
		if (li_grub_is_word(li_grub_peek(s), structures[i].word)) {
			structures[i].run(g, s);
			return;
		}
	g_autoptr(GPtrArray) words = li_grub_read_words(g, s);

	g->args = args_of(s, first);
	run_command(g, words);
}

static gboolean ends_block(const li_grub_token *t)
{
	static const char *const words[] = {"then", "elif", "else", "fi", "do", "done"};

	if (t->kind == LI_GRUB_CLOSE)
		return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
		if (li_grub_is_word(t, words[i]))
			return TRUE;
	return FALSE;
}

/* Runs statements up to a word that ends a block, which is left. */
static void run_block(li_grub *g, li_grub_script *s)
{
	if (g->nesting >= LI_GRUB_MAX_NESTING) {
		g->config->commands_left = 0;
		return;
	}
	g->nesting++;
	while (li_grub_peek(s) && !ends_block(li_grub_peek(s)) && g->config->commands_left > 0) {
		g->config->commands_left--;
		if (li_grub_peek(s)->kind == LI_GRUB_WORD)
			run_statement(g, s);
		else if (li_grub_peek(s)->kind == LI_GRUB_OPEN)
			run_braces(g, s);
		else
			s->at++;
	}
	g->nesting--;
}

void li_grub_run_file(li_grub *g, const char *name)
{
	g_autofree char *path = li_grub_path(name);
	g_autofree char *text = NULL;
	li_grub_script s = {0};

	if (g->files >= LI_CONFIG_MAX_DEPTH)
		return;
	text = li_config_text(g->config, path, &s.path);
	if (!text)
		return;
	g->files++;
	s.text = text;
	s.tokens = li_grub_tokenize(text);
	while (li_grub_peek(&s) && g->config->commands_left > 0) {
		run_block(g, &s);
		/* A closing word without its opening one. */
		s.at++;
	}
	g_array_unref(s.tokens);
	g->files--;
}
