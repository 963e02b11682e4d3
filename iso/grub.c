/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configurations of GRUB 2 (GRUB manual, "Writing full configuration files directly"): as much of
 * its shell as it takes to see the menu. Conditions that only the running machine could answer are
 * taken as true. Entries of branches that are not taken ("dead") are listed too, but have no place
 * in the menu.
 */
#include <string.h>

#include "iso/boot_config.h"
#include "reorder/util/bytes_hash.h"

enum {
	MAX_NESTING = 48,
	MAX_WORD = 16384, /* bytes, expanded */
	MAX_VALUE = 4096, /* bytes of a variable */
	MAX_VARIABLES = 1000,
	WORD_COST = 32,
	MAX_EXPANDED = 32 << 20, /* bytes, all words together */
	MAX_ITEMS = 4000,
	NO_ITEM = -1,
};

typedef enum { TOKEN_WORD, TOKEN_SEPARATOR, TOKEN_OPEN, TOKEN_CLOSE } token_kind;

typedef struct {
	token_kind kind;
	const char *text; /* words: as written, with quotes */
	gsize length;
	guint line;
} token;

/* One file while it runs. */
typedef struct {
	const char *path;
	const char *text; /* of the file, which the tokens point into */
	GArray *tokens;
	guint at;
} script;

/* A menuentry or submenu. */
typedef struct {
	char *title, *id;
	gint parent;   /* index of the item it is in */
	gint position; /* among its siblings; NO_ITEM if it is dead */
	gint children; /* items in it that are not dead */
	li_entry *entry;
} item;

/* What the commands of a menu entry have said so far. */
typedef struct {
	char *kernel, *cmdline;
	GPtrArray *initrds;
	li_place args; /* where the words of cmdline stand */
	guint dead;    /* how deep in branches that are not taken the entry stands */
} boot;

typedef struct {
	li_config *config;
	GHashTable *variables;      /* name to value */
	GHashTable *dead_variables; /* set in branches that are not taken */
	GPtrArray *items;           /* of item */
	gint menu;                  /* index of the item that is being filled */
	gint top_children;
	boot *boot; /* of the menu entry that is being read */
	guint dead, nesting, files;
	li_place args;    /* of the command that runs: all words behind the first */
	gboolean status;  /* of the last command */
	gsize bytes_left; /* of expanded words, in all */
} grub;

static void run_block(grub *g, script *s);
static void run_file(grub *g, const char *name);

static void item_free(item *i)
{
	g_free(i->title);
	g_free(i->id);
	g_free(i);
}

/* ---- words ---- */

static gboolean is_separator(char c)
{
	return c == '\n' || c == ';' || c == '&' || c == '|';
}

static gboolean ends_word(char c)
{
	return c == '\0' || g_ascii_isspace(c) || is_separator(c) || c == '{' || c == '}';
}

/* Behind the closing quote of a quoted part; lines are counted. */
static const char *skip_quoted(const char *at, guint *line)
{
	char quote = *at++;

	for (; *at && *at != quote; at++) {
		if (*at == '\\' && quote == '"' && at[1])
			at++;
		if (*at == '\n')
			(*line)++;
	}
	return *at ? at + 1 : at;
}

static const char *skip_word(const char *at, guint *line)
{
	while (!ends_word(*at)) {
		if (*at == '\'' || *at == '"')
			at = skip_quoted(at, line);
		else if (*at == '\\' && at[1]) {
			*line += at[1] == '\n';
			at += 2;
		} else if (at[0] == '$' && at[1] == '{')
			at += strcspn(at, "}\n") + (at[strcspn(at, "}\n")] == '}');
		else
			at++;
	}
	return at;
}

static const char *skip_blank(const char *at, guint *line)
{
	for (;;) {
		if (at[0] == '\\' && at[1] == '\n') {
			(*line)++;
			at += 2;
		} else if (*at && *at != '\n' && g_ascii_isspace(*at))
			at++;
		else if (*at == '#')
			at += strcspn(at, "\n");
		else
			return at;
	}
}

static token_kind kind_of(char c)
{
	if (c == '{')
		return TOKEN_OPEN;
	if (c == '}')
		return TOKEN_CLOSE;
	return is_separator(c) ? TOKEN_SEPARATOR : TOKEN_WORD;
}

static GArray *tokenize(const char *text)
{
	GArray *tokens = g_array_new(FALSE, FALSE, sizeof(token));
	guint line = 1;

	for (const char *at = skip_blank(text, &line); *at; at = skip_blank(at, &line)) {
		token t = {kind_of(*at), at, 1, line};

		if (t.kind == TOKEN_WORD)
			at = skip_word(at, &line);
		else
			line += *at++ == '\n';
		t.length = (gsize)(at - t.text);
		g_array_append_val(tokens, t);
	}
	return tokens;
}

static const token *peek(const script *s)
{
	return s->at < s->tokens->len ? &g_array_index(s->tokens, token, s->at) : NULL;
}

static gboolean is_word(const token *t, const char *word)
{
	return t && t->kind == TOKEN_WORD && t->length == strlen(word) &&
	       memcmp(t->text, word, t->length) == 0;
}

/* ---- variables and expansion ---- */

static const char *get(const grub *g, const char *name)
{
	const char *value = g->dead > 0 ? g_hash_table_lookup(g->dead_variables, name) : NULL;

	if (!value)
		value = g_hash_table_lookup(g->variables, name);
	return value ? value : "";
}

static void set(grub *g, const char *name, const char *value)
{
	GHashTable *variables = g->dead > 0 ? g->dead_variables : g->variables;

	if (strlen(value) <= MAX_VALUE && g_hash_table_size(variables) < MAX_VARIABLES)
		g_hash_table_replace(variables, g_strdup(name), g_strdup(value));
}

static void leave_dead(grub *g)
{
	if (--g->dead == 0)
		g_hash_table_remove_all(g->dead_variables);
}

/* The word that is being put together. */
typedef struct {
	grub *g;
	GPtrArray *words;
	GString *word;
	gboolean present; /* also if it is empty, but quoted */
} expansion;

/* A word costs more than its bytes. What is over a word's limit is left out; all words' limit ends
 * the run. */
static void put(expansion *e, const char *text, gsize length)
{
	gsize cost = length + (e->present ? 0 : WORD_COST);

	e->present = TRUE;
	if (e->word->len + length > MAX_WORD)
		return;
	if (cost > e->g->bytes_left) {
		e->g->config->commands_left = 0;
		return;
	}
	e->g->bytes_left -= cost;
	g_string_append_len(e->word, text, (gssize)length);
}

static void end_word(expansion *e)
{
	if (e->present)
		g_ptr_array_add(e->words, g_strdup(e->word->str));
	g_string_truncate(e->word, 0);
	e->present = FALSE;
}

/* Outside quotes the value falls apart into words. */
static void put_value(expansion *e, const char *value, gboolean quoted)
{
	if (quoted) {
		put(e, value, strlen(value));
		return;
	}
	while (*value) {
		gsize space = strspn(value, " \t\n"), length;

		if (space > 0)
			end_word(e);
		value += space;
		length = strcspn(value, " \t\n");
		if (length > 0)
			put(e, value, length);
		value += length;
	}
}

static const char *put_variable(expansion *e, const char *at, const char *end, gboolean quoted)
{
	gboolean braced = at + 1 < end && at[1] == '{';
	const char *name = at + (braced ? 2 : 1), *name_end = name;
	g_autofree char *key = NULL;

	while (name_end < end && (g_ascii_isalnum(*name_end) || *name_end == '_'))
		name_end++;
	if (name_end == name && name_end < end && !braced && strchr("?#*@", *name_end))
		return name_end + 1;
	if (name_end == name) {
		put(e, at, 1);
		return at + 1;
	}
	key = g_strndup(name, (gsize)(name_end - name));
	put_value(e, get(e->g, key), quoted);
	return braced && name_end < end && *name_end == '}' ? name_end + 1 : name_end;
}

static const char *put_double_quoted(expansion *e, const char *at, const char *end)
{
	put(e, "", 0);
	for (at++; at < end && *at != '"';) {
		if (*at == '\\' && at + 1 < end && strchr("\\\"$\n", at[1])) {
			put(e, at + 1, at[1] == '\n' ? 0 : 1);
			at += 2;
		} else if (*at == '$')
			at = put_variable(e, at, end, TRUE);
		else
			put(e, at++, 1);
	}
	return at < end ? at + 1 : end;
}

static const char *put_single_quoted(expansion *e, const char *at, const char *end)
{
	const char *close = memchr(at + 1, '\'', (gsize)(end - at - 1));
	const char *stop = close ? close : end;

	put(e, at + 1, (gsize)(stop - at - 1));
	return close ? close + 1 : end;
}

static void expand(grub *g, const token *t, GPtrArray *words)
{
	const char *at = t->text, *end = t->text + t->length;
	expansion e = {g, words, g_string_new(NULL), FALSE};

	while (at < end) {
		if (*at == '\'')
			at = put_single_quoted(&e, at, end);
		else if (*at == '"')
			at = put_double_quoted(&e, at, end);
		else if (*at == '$')
			at = put_variable(&e, at, end, FALSE);
		else if (*at == '\\' && at + 1 < end) {
			put(&e, at + 1, at[1] == '\n' ? 0 : 1);
			at += 2;
		} else
			put(&e, at++, 1);
	}
	end_word(&e);
	g_string_free(e.word, TRUE);
}

/* The words up to a separator or brace, expanded. */
static GPtrArray *read_words(grub *g, script *s)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	const token *t;

	for (; (t = peek(s)) && t->kind == TOKEN_WORD; s->at++)
		expand(g, t, words);
	return words;
}

/* ---- conditions ---- */

static char *without_device(const char *path)
{
	const char *close = path[0] == '(' ? strchr(path, ')') : NULL;

	return li_config_path("/", close ? close + 1 : path);
}

static gboolean exists(const grub *g, const char *name)
{
	g_autofree char *path = without_device(name);

	return li_config_exists(g->config, path);
}

static gboolean compare(const char *a, const char *op, const char *b)
{
	gint64 left = g_ascii_strtoll(a, NULL, 10), right = g_ascii_strtoll(b, NULL, 10);

	if (strcmp(op, "=") == 0 || strcmp(op, "==") == 0)
		return strcmp(a, b) == 0;
	if (strcmp(op, "!=") == 0)
		return strcmp(a, b) != 0;
	if (strcmp(op, "-eq") == 0)
		return left == right;
	if (strcmp(op, "-ne") == 0)
		return left != right;
	if (strcmp(op, "-lt") == 0)
		return left < right;
	if (strcmp(op, "-le") == 0)
		return left <= right;
	if (strcmp(op, "-gt") == 0)
		return left > right;
	if (strcmp(op, "-ge") == 0)
		return left >= right;
	return TRUE;
}

static gboolean test_primary(const grub *g, char **words, guint count)
{
	if (count == 0)
		return FALSE;
	if (strcmp(words[0], "!") == 0)
		return !test_primary(g, words + 1, count - 1);
	if (count == 1)
		return words[0][0] != '\0';
	if (count >= 3)
		return compare(words[0], words[1], words[2]);
	if (strcmp(words[0], "-z") == 0)
		return words[1][0] == '\0';
	if (strcmp(words[0], "-n") == 0)
		return words[1][0] != '\0';
	if (strlen(words[0]) == 2 && strchr("defs", words[0][1]))
		return exists(g, words[1]);
	return TRUE;
}

/* "-o" binds less than "-a". */
static gboolean test(const grub *g, char **words, guint count)
{
	gboolean all = TRUE;
	guint start = 0;

	for (guint i = 0; i <= count; i++) {
		gboolean or = i == count || strcmp(words[i], "-o") == 0;

		if (! or &&strcmp(words[i], "-a") != 0)
			continue;
		all = test_primary(g, words + start, i - start) && all;
		if (or &&all)
			return TRUE;
		if (or)
			all = TRUE;
		start = i + 1;
	}
	return FALSE;
}

/* ---- commands ---- */

static void assign(grub *g, const char *text)
{
	const char *equals = strchr(text, '=');
	g_autofree char *name = equals ? g_strndup(text, (gsize)(equals - text)) : NULL;

	/* A submenu's own default is not the menu's. */
	if (name && (g->menu == NO_ITEM || strcmp(name, "default") != 0))
		set(g, name, equals + 1);
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
static gboolean is_booting(const grub *g)
{
	return g->boot && g->boot->dead == g->dead;
}

static void command_linux(grub *g, GPtrArray *words)
{
	GString *cmdline = g_string_new(NULL);
	guint i = 1;

	while (i < words->len && g_str_has_prefix(words->pdata[i], "--"))
		i++;
	if (i < words->len && is_booting(g)) {
		g_free(g->boot->kernel);
		g->boot->kernel = without_device(words->pdata[i]);
		for (i++; i < words->len; i++)
			append_argument(cmdline, words->pdata[i]);
		g->boot->args = g->args;
		g_free(g->boot->cmdline);
		g->boot->cmdline = g_string_free(g_steal_pointer(&cmdline), FALSE);
	}
	if (cmdline)
		g_string_free(cmdline, TRUE);
}

static void command_initrd(grub *g, GPtrArray *words)
{
	if (!is_booting(g))
		return;
	g_ptr_array_set_size(g->boot->initrds, 0);
	for (guint i = 1; i < words->len; i++) {
		const char *word = words->pdata[i];

		/* "newc:NAME:FILE" makes GRUB pack the file; it is no initrd by itself. */
		if (g_str_has_prefix(word, "--") || g_str_has_prefix(word, "newc:"))
			continue;
		g_ptr_array_add(g->boot->initrds, without_device(word));
	}
}

static void command_source(grub *g, GPtrArray *words)
{
	if (words->len > 1)
		run_file(g, words->pdata[1]);
}

static void command_set(grub *g, GPtrArray *words)
{
	for (guint i = 1; i < words->len; i++)
		assign(g, words->pdata[i]);
}

static void command_unset(grub *g, GPtrArray *words)
{
	for (guint i = 1; i < words->len; i++)
		set(g, words->pdata[i], "");
}

static void command_test(grub *g, GPtrArray *words)
{
	guint count = words->len - 1;

	if (count > 0 && strcmp(words->pdata[count], "]") == 0)
		count--;
	g->status = test(g, (char **)words->pdata + 1, count);
}

static void command_false(grub *g, GPtrArray *words G_GNUC_UNUSED)
{
	g->status = FALSE;
}

static const struct {
	const char *name;
	void (*run)(grub *g, GPtrArray *words);
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

static void run_command(grub *g, GPtrArray *words)
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

static item *item_at(const grub *g, gint index)
{
	return index == NO_ITEM ? NULL : g->items->pdata[index];
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

static void take_arguments(item *new_item, const GPtrArray *words)
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

static item *add_item(grub *g, const GPtrArray *words)
{
	item *parent = item_at(g, g->menu), *new_item = g_new0(item, 1);
	gint *children = parent ? &parent->children : &g->top_children;

	take_arguments(new_item, words);
	new_item->parent = g->menu;
	new_item->position = g->dead > 0 ? NO_ITEM : (*children)++;
	g_ptr_array_add(g->items, new_item);
	return new_item;
}

static void run_braces(grub *g, script *s)
{
	if (!peek(s) || peek(s)->kind != TOKEN_OPEN)
		return;
	s->at++;
	run_block(g, s);
	if (peek(s) && peek(s)->kind == TOKEN_CLOSE)
		s->at++;
}

static void finish_entry(grub *g, const script *s, guint line, item *entry, const boot *b)
{
	li_draft draft = {entry->title, s->path, line, b->kernel, b->initrds,
		b->cmdline ? b->cmdline : "", b->args};

	if (b->kernel)
		entry->entry = li_config_add(g->config, &draft);
}

/* menuentry and submenu: a name, then a block in braces. */
static void run_menuentry(grub *g, script *s)
{
	const token *name = peek(s);
	guint line = name ? name->line : 0;
	g_autoptr(GPtrArray) words = read_words(g, s);
	boot b = {.initrds = g_ptr_array_new_with_free_func(g_free), .dead = g->dead};
	boot *outer = g->boot;
	gint menu = g->menu;
	item *entry;

	if (g->items->len < MAX_ITEMS) {
		entry = add_item(g, words);
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

static void run_dead(grub *g, script *s)
{
	g->dead++;
	run_block(g, s);
	leave_dead(g);
}

/* From behind "if" or "elif" to its branch's end. Returns whether the branch was taken. */
static gboolean run_branch(grub *g, script *s, gboolean taken_before)
{
	gboolean taken;

	/* The condition's commands end at "then". */
	run_block(g, s);
	taken = g->status && !taken_before;
	if (is_word(peek(s), "then"))
		s->at++;
	if (taken)
		run_block(g, s);
	else
		run_dead(g, s);
	return taken;
}

static void run_if(grub *g, script *s)
{
	gboolean taken;

	s->at++;
	taken = run_branch(g, s, FALSE);
	while (is_word(peek(s), "elif")) {
		s->at++;
		taken = run_branch(g, s, taken) || taken;
	}
	if (is_word(peek(s), "else")) {
		s->at++;
		if (taken)
			run_dead(g, s);
		else
			run_block(g, s);
	}
	if (is_word(peek(s), "fi"))
		s->at++;
	g->status = TRUE;
}

static void skip_separators(script *s)
{
	while (peek(s) && peek(s)->kind == TOKEN_SEPARATOR)
		s->at++;
}

/* for NAME in WORD…; do …; done. The list is expanded as it is: no patterns. */
static void run_for(grub *g, script *s)
{
	g_autoptr(GPtrArray) words = read_words(g, s);
	guint body;

	skip_separators(s);
	if (is_word(peek(s), "do"))
		s->at++;
	body = s->at;
	for (guint i = 3; i < words->len && g->config->commands_left > 0; i++) {
		g->config->commands_left--;
		s->at = body;
		set(g, words->pdata[1], words->pdata[i]);
		run_block(g, s);
	}
	if (words->len <= 3)
		run_dead(g, s);
	if (is_word(peek(s), "done"))
		s->at++;
}

/* while and until: their commands are looked at, once, for entries. */
static void run_while(grub *g, script *s)
{
	s->at++;
	run_block(g, s);
	if (is_word(peek(s), "do"))
		s->at++;
	run_dead(g, s);
	if (is_word(peek(s), "done"))
		s->at++;
}

/* A function's commands likewise. */
static void run_function(grub *g, script *s)
{
	g_ptr_array_unref(read_words(g, s));
	g->dead++;
	run_braces(g, s);
	leave_dead(g);
}

static const struct {
	const char *word;
	void (*run)(grub *g, script *s);
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
static li_place args_of(const script *s, guint first)
{
	const token *t = NULL;
	li_place place = {NULL, 0, 0};

	for (first++; first < s->at; first++) {
		t = &g_array_index(s->tokens, token, first);
		if (t->length < 2 || memcmp(t->text, "--", 2) != 0)
			break;
	}
	if (first >= s->at)
		return place;
	place.config = s->path;
	place.start = (gsize)(t->text - s->text) + t->length;
	t = &g_array_index(s->tokens, token, s->at - 1);
	place.end = (gsize)(t->text - s->text) + t->length;
	return place;
}

static void run_statement(grub *g, script *s)
{
	guint first = s->at;

	for (gsize i = 0; i < G_N_ELEMENTS(structures); i++)
		if (is_word(peek(s), structures[i].word)) {
			structures[i].run(g, s);
			return;
		}
	g_autoptr(GPtrArray) words = read_words(g, s);

	g->args = args_of(s, first);
	run_command(g, words);
}

static gboolean ends_block(const token *t)
{
	static const char *const words[] = {"then", "elif", "else", "fi", "do", "done"};

	if (t->kind == TOKEN_CLOSE)
		return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
		if (is_word(t, words[i]))
			return TRUE;
	return FALSE;
}

/* Runs statements up to a word that ends a block, which is left. */
static void run_block(grub *g, script *s)
{
	if (g->nesting >= MAX_NESTING) {
		g->config->commands_left = 0;
		return;
	}
	g->nesting++;
	while (peek(s) && !ends_block(peek(s)) && g->config->commands_left > 0) {
		g->config->commands_left--;
		if (peek(s)->kind == TOKEN_WORD)
			run_statement(g, s);
		else if (peek(s)->kind == TOKEN_OPEN)
			run_braces(g, s);
		else
			s->at++;
	}
	g->nesting--;
}

static void run_file(grub *g, const char *name)
{
	g_autofree char *path = without_device(name);
	g_autofree char *text = NULL;
	script s = {0};

	if (g->files >= LI_CONFIG_MAX_DEPTH)
		return;
	text = li_config_text(g->config, path, &s.path);
	if (!text)
		return;
	g->files++;
	s.text = text;
	s.tokens = tokenize(text);
	while (peek(&s) && g->config->commands_left > 0) {
		run_block(g, &s);
		/* A closing word without its opening one. */
		s.at++;
	}
	g_array_unref(s.tokens);
	g->files--;
}

/* ---- the default ---- */

static gboolean is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static gboolean matches(const item *i, const char *name)
{
	return i->position != NO_ITEM &&
	       (g_strcmp0(i->id, name) == 0 || strcmp(i->title, name) == 0);
}

static gint find_item(const grub *g, gint parent, const char *name)
{
	gint64 number = is_number(name) ? g_ascii_strtoll(name, NULL, 10) : -1;

	for (guint i = 0; i < g->items->len; i++) {
		const item *candidate = g->items->pdata[i];

		if (candidate->parent == parent &&
			(matches(candidate, name) ||
				(number >= 0 && candidate->position == number)))
			return (gint)i;
	}
	return NO_ITEM;
}

/* "default" is a number, a title or an id, or such a thing for each menu with ">" between them. */
static li_entry *default_entry(const grub *g)
{
	const char *name = g_hash_table_lookup(g->variables, "default");
	g_auto(GStrv) parts = g_strsplit(name && *name ? name : "0", ">", MAX_NESTING);
	gint found = NO_ITEM, parent = NO_ITEM;

	for (gsize i = 0; parts[i]; i++) {
		found = find_item(g, parent, parts[i]);
		if (found == NO_ITEM)
			break;
		parent = found;
	}
	/* GRUB starts the first one if the default isn't there. */
	if (found == NO_ITEM)
		found = find_item(g, NO_ITEM, "0");
	while (found != NO_ITEM && !item_at(g, found)->entry && item_at(g, found)->children > 0)
		found = find_item(g, found, "0");
	return found == NO_ITEM ? NULL : item_at(g, found)->entry;
}

/* What GRUB itself sets, for an x86 machine. */
static void preset(grub *g, const char *path)
{
	static const char *const features[] = {"feature_menuentry_id", "feature_default_font_path",
		"feature_all_video_module", "feature_timeout_style", "feature_platform_search_hint",
		"feature_menuentry_options", "feature_200_final"};
	gboolean pc = g->config->bios_is_grub && !g_str_has_prefix(path, "/EFI");
	g_autofree char *dir = g_path_get_dirname(path);

	for (gsize i = 0; i < G_N_ELEMENTS(features); i++)
		set(g, features[i], "y");
	set(g, "menuentry_id_option", "--id");
	set(g, "grub_platform", pc ? "pc" : "efi");
	set(g, "grub_cpu", pc ? "i386" : "x86_64");
	set(g, "prefix", li_config_exists(g->config, "/boot/grub") ? "/boot/grub" : dir);
	set(g, "config_directory", dir);
	set(g, "config_file", path);
}

void li_grub_read(li_config *config, const char *path)
{
	guint first = config->iso->entries->len;
	grub g = {
		.config = config,
		.variables = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, g_free),
		.dead_variables = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, g_free),
		.items = g_ptr_array_new_with_free_func((GDestroyNotify)item_free),
		.menu = NO_ITEM,
		.bytes_left = MAX_EXPANDED,
	};

	preset(&g, path);
	run_file(&g, path);
	li_config_set_default(config, first, default_entry(&g));
	g_hash_table_destroy(g.variables);
	g_hash_table_destroy(g.dead_variables);
	g_ptr_array_unref(g.items);
}
