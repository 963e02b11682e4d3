/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pattern becomes a list of tokens; matching runs all ways through the list at the same time,
 * so that no name in an image can make it slow.
 */
#include "reorder/plan/glob.h"

#include <string.h>

#include "reorder/util/error.h"

typedef enum {
	TOKEN_BYTE,
	TOKEN_ONE,  /* one byte, no slash */
	TOKEN_SET,  /* one byte of a set, no slash */
	TOKEN_MANY, /* any number of bytes, no slash */
	TOKEN_ALL,  /* any number of bytes */
	TOKEN_DIRS, /* nothing, or anything that ends in a slash */
} token_kind;

typedef struct {
	token_kind kind;
	guchar byte;
	guint32 set[8];
} token;

struct ro_glob {
	GArray *tokens;
	char *prefix; /* bytes that every match starts with */
	gsize prefix_len;
	gboolean *now, *next; /* places in the list, one more than tokens */
};

static void set_add(token *t, guchar byte)
{
	t->set[byte >> 5] |= 1u << (byte & 31);
}

static gboolean set_has(const token *t, guchar byte)
{
	return t->set[byte >> 5] >> (byte & 31) & 1;
}

/* One byte of a bracket expression, or -1 at the end of the pattern. */
static int set_byte(const char **at)
{
	if (**at == '\\')
		(*at)++;
	if (**at == '\0')
		return -1;
	return (guchar) * (*at)++;
}

static gboolean add_set_members(token *t, const char **at)
{
	const char *first = *at;

	while (**at != ']' || *at == first) {
		int low = set_byte(at);
		int high = low;

		if (low >= 0 && (*at)[0] == '-' && (*at)[1] != ']') {
			(*at)++;
			high = set_byte(at);
		}
		if (low < 0 || high < 0)
			return FALSE;
		for (int byte = low; byte <= high; byte++)
			set_add(t, byte);
	}
	(*at)++;
	return TRUE;
}

/* *at is behind the opening bracket, then behind the closing one. */
static gboolean add_set(GArray *tokens, const char **at)
{
	token t = {.kind = TOKEN_SET};
	gboolean negated = **at == '!' || **at == '^';

	if (negated)
		(*at)++;
	if (!add_set_members(&t, at))
		return FALSE;
	for (int i = 0; negated && i < 8; i++)
		t.set[i] = ~t.set[i];
	t.set['/' >> 5] &= ~(1u << ('/' & 31));
	g_array_append_val(tokens, t);
	return TRUE;
}

/* *at is behind one star; start is where the pattern starts. */
static void add_stars(GArray *tokens, const char *start, const char **at)
{
	token t = {.kind = TOKEN_MANY};
	gboolean component = *at - 1 == start || (*at)[-2] == '/';

	if (**at == '*') {
		t.kind = TOKEN_ALL;
		while (**at == '*')
			(*at)++;
		if (component && **at == '/') {
			t.kind = TOKEN_DIRS;
			(*at)++;
		}
	}
	g_array_append_val(tokens, t);
}

static void add_byte(GArray *tokens, char byte)
{
	token t = {.kind = TOKEN_BYTE, .byte = byte};

	g_array_append_val(tokens, t);
}

/* NULL, or what is wrong. */
static const char *compile(GArray *tokens, const char *start)
{
	const char *at = start;

	while (*at) {
		char byte = *at++;

		if (byte == '*') {
			add_stars(tokens, start, &at);
		} else if (byte == '?') {
			token t = {.kind = TOKEN_ONE};

			g_array_append_val(tokens, t);
		} else if (byte == '[') {
			if (!add_set(tokens, &at))
				return "'[' without ']'";
		} else {
			if (byte == '\\')
				byte = *at++;
			if (byte == '\0')
				return "nothing behind the last '\\'";
			add_byte(tokens, byte);
		}
	}
	return tokens->len ? NULL : "empty pattern";
}

static char *find_prefix(const GArray *tokens)
{
	GString *prefix = g_string_new(NULL);

	for (guint i = 0; i < tokens->len; i++) {
		const token *t = &g_array_index(tokens, token, i);

		if (t->kind != TOKEN_BYTE)
			break;
		g_string_append_c(prefix, t->byte);
	}
	return g_string_free(prefix, FALSE);
}

static const char *skip_start(const char *pattern)
{
	while (pattern[0] == '/' || (pattern[0] == '.' && pattern[1] == '/'))
		pattern += pattern[0] == '/' ? 1 : 2;
	return pattern;
}

ro_glob *ro_glob_new(const char *pattern, GError **error)
{
	g_autoptr(ro_glob) glob = g_new0(ro_glob, 1);
	g_autofree char *trimmed = g_strdup(skip_start(pattern));
	gsize length = strlen(trimmed);
	const char *wrong;

	while (length && trimmed[length - 1] == '/')
		trimmed[--length] = '\0';
	glob->tokens = g_array_new(FALSE, FALSE, sizeof(token));
	wrong = compile(glob->tokens, trimmed);
	if (wrong) {
		ro_fail(error, RO_ERROR_USAGE, "%s: %s", pattern, wrong);
		return NULL;
	}
	glob->prefix = find_prefix(glob->tokens);
	glob->prefix_len = strlen(glob->prefix);
	glob->now = g_new0(gboolean, glob->tokens->len + 1);
	glob->next = g_new0(gboolean, glob->tokens->len + 1);
	return g_steal_pointer(&glob);
}

void ro_glob_free(ro_glob *glob)
{
	if (!glob)
		return;
	g_array_unref(glob->tokens);
	g_free(glob->prefix);
	g_free(glob->now);
	g_free(glob->next);
	g_free(glob);
}

/* Enters a place, and those behind it that can be reached without a byte. */
static void enter(const GArray *tokens, gboolean *places, guint place)
{
	while (!places[place]) {
		places[place] = TRUE;
		if (place == tokens->len || g_array_index(tokens, token, place).kind < TOKEN_MANY)
			return;
		place++;
	}
}

static void step(const GArray *tokens, gboolean *places, guint place, guchar byte)
{
	const token *t = &g_array_index(tokens, token, place);

	switch (t->kind) {
	case TOKEN_BYTE:
		if (byte == t->byte)
			enter(tokens, places, place + 1);
		break;
	case TOKEN_ONE:
		if (byte != '/')
			enter(tokens, places, place + 1);
		break;
	case TOKEN_SET:
		if (set_has(t, byte))
			enter(tokens, places, place + 1);
		break;
	case TOKEN_MANY:
		if (byte != '/')
			enter(tokens, places, place);
		break;
	case TOKEN_ALL:
		enter(tokens, places, place);
		break;
	case TOKEN_DIRS:
		/* Inside a component: out of it only by its slash. */
		places[place] = TRUE;
		if (byte == '/')
			enter(tokens, places, place + 1);
		break;
	}
}

/* FALSE if no way is left. */
static gboolean advance(const ro_glob *glob, const gboolean *now, gboolean *next, guchar byte)
{
	guint count = glob->tokens->len;
	gboolean any = FALSE;

	memset(next, 0, (count + 1) * sizeof(*next));
	for (guint place = 0; place < count; place++) {
		if (!now[place])
			continue;
		any = TRUE;
		step(glob->tokens, next, place, byte);
	}
	return any;
}

gboolean ro_glob_match(const ro_glob *glob, const char *path)
{
	gboolean *now = glob->now, *next = glob->next;
	guint count = glob->tokens->len;

	if (strncmp(path, glob->prefix, glob->prefix_len) != 0)
		return FALSE;
	memset(now, 0, (count + 1) * sizeof(*now));
	enter(glob->tokens, now, glob->prefix_len);
	for (const char *at = path + glob->prefix_len; *at; at++) {
		gboolean *swap = now;

		if (!advance(glob, now, next, *at))
			return FALSE;
		now = next;
		next = swap;
	}
	return now[count];
}

void ro_glob_quote(GString *pattern, const char *text)
{
	for (; *text; text++) {
		if (strchr("*?[\\", *text))
			g_string_append_c(pattern, '\\');
		g_string_append_c(pattern, *text);
	}
}
