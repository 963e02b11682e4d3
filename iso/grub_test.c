/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions. What only the running machine could answer is true. */
#include "iso/grub-internal.h"

#include <string.h>

char *li_grub_path(const char *path)
{
	const char *close = path[0] == '(' ? strchr(path, ')') : NULL;

	return li_config_path("/", close ? close + 1 : path);
}

static gboolean exists(const li_grub *g, const char *name)
{
	g_autofree char *path = li_grub_path(name);

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

static gboolean test_primary(const li_grub *g, char **words, guint count)
{
	if (count == 0)
		return FALSE;
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

static gboolean test_negated(const li_grub *g, char **words, guint count)
{
	guint negations = 0;

	while (negations < count && strcmp(words[negations], "!") == 0)
		negations++;
	return test_primary(g, words + negations, count - negations) ^ (negations & 1);
}

/* "-o" binds less than "-a". */
gboolean li_grub_test(const li_grub *g, char **words, guint count)
{
	gboolean all = TRUE;
	guint start = 0;

	for (guint i = 0; i <= count; i++) {
		gboolean ends_term = i == count || strcmp(words[i], "-o") == 0;

		if (!ends_term && strcmp(words[i], "-a") != 0)
			continue;
		all = test_negated(g, words + start, i - start) && all;
		if (ends_term && all)
			return TRUE;
		if (ends_term)
			all = TRUE;
		start = i + 1;
	}
	return FALSE;
}
