/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words, variables, and how the ones become of the others. */
#include "iso/grub-internal.h"

#include <string.h>

enum {
	MAX_WORD = 16384, /* bytes, expanded */
	MAX_VALUE = 4096, /* bytes of a variable */
	MAX_VARIABLES = 1000,
	WORD_COST = 32,
};

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

static li_grub_token_kind kind_of(char c)
{
	if (c == '{')
		return LI_GRUB_OPEN;
	if (c == '}')
		return LI_GRUB_CLOSE;
	return is_separator(c) ? LI_GRUB_SEPARATOR : LI_GRUB_WORD;
}

GArray *li_grub_tokenize(const char *text)
{
	GArray *tokens = g_array_new(FALSE, FALSE, sizeof(li_grub_token));
	guint line = 1;

	for (const char *at = skip_blank(text, &line); *at; at = skip_blank(at, &line)) {
		li_grub_token t = {kind_of(*at), at, 1, line};

		if (t.kind == LI_GRUB_WORD)
			at = skip_word(at, &line);
		else
			line += *at++ == '\n';
		t.length = (gsize)(at - t.text);
		g_array_append_val(tokens, t);
	}
	return tokens;
}

const li_grub_token *li_grub_peek(const li_grub_script *s)
{
	return s->at < s->tokens->len ? &g_array_index(s->tokens, li_grub_token, s->at) : NULL;
}

gboolean li_grub_is_word(const li_grub_token *t, const char *word)
{
	return t && t->kind == LI_GRUB_WORD && t->length == strlen(word) &&
	       memcmp(t->text, word, t->length) == 0;
}

/* ---- variables and expansion ---- */

static const char *get(const li_grub *g, const char *name)
{
	const char *value = g->dead > 0 ? g_hash_table_lookup(g->dead_variables, name) : NULL;

	if (!value)
		value = g_hash_table_lookup(g->variables, name);
	return value ? value : "";
}

void li_grub_set(li_grub *g, const char *name, const char *value)
{
	GHashTable *variables = g->dead > 0 ? g->dead_variables : g->variables;

	if (strlen(value) <= MAX_VALUE && g_hash_table_size(variables) < MAX_VARIABLES)
		g_hash_table_replace(variables, g_strdup(name), g_strdup(value));
}

void li_grub_leave_dead(li_grub *g)
{
	if (--g->dead == 0)
		g_hash_table_remove_all(g->dead_variables);
}

/* The word that is being put together. */
typedef struct {
	li_grub *g;
	GPtrArray *words;
	GString *word;
	gboolean present; /* also if it is empty, but quoted */
} expansion;

/* Pays for bytes that are looked at. FALSE, and the end of the run, if all words' limit is reached.
 */
static gboolean pay(li_grub *g, gsize cost)
{
	if (cost > g->config->words_left) {
		g->config->commands_left = 0;
		return FALSE;
	}
	g->config->words_left -= cost;
	return TRUE;
}

/* A word costs more than its bytes. What is over a word's limit is left out. */
static void put(expansion *e, const char *text, gsize length)
{
	gsize cost = length + (e->present ? 0 : WORD_COST);

	e->present = TRUE;
	if (pay(e->g, cost) && e->word->len + length <= MAX_WORD)
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

static void expand(li_grub *g, const li_grub_token *t, GPtrArray *words)
{
	const char *at = t->text, *end = t->text + t->length;
	expansion e = {g, words, g_string_new(NULL), FALSE};

	if (!pay(g, t->length))
		end = at;
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
GPtrArray *li_grub_read_words(li_grub *g, li_grub_script *s)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	const li_grub_token *t;

	for (; (t = li_grub_peek(s)) && t->kind == LI_GRUB_WORD; s->at++)
		expand(g, t, words);
	return words;
}
