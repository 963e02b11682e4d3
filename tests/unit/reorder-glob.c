/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fnmatch.h>
#include <glib.h>
#include <string.h>

#include "reorder/plan/glob.h"
#include "reorder/plan/order.h"
#include "reorder/util/error.h"

typedef struct {
	const char *pattern, *path;
	gboolean matches;
} match_case;

static const match_case cases[] = {
	{"etc/passwd", "etc/passwd", TRUE},
	{"/etc/passwd", "etc/passwd", TRUE},
	{"./etc/passwd", "etc/passwd", TRUE},
	{"//./etc/passwd//", "etc/passwd", TRUE},
	{"etc/passwd", "etc/passwd-", FALSE},
	{"etc/passwd", "xetc/passwd", FALSE},
	{"*", "etc", TRUE},
	{"*", "etc/passwd", FALSE},
	{"*", ".hidden", TRUE},
	{"etc/*", "etc/", TRUE},
	{"e?c", "etc", TRUE},
	{"e?c", "e/c", FALSE},
	{"usr/lib/*.so.*", "usr/lib/libc.so.6", TRUE},
	{"usr/lib/*.so.*", "usr/lib/x/libc.so.6", FALSE},
	{"**", "a/b/c", TRUE},
	{"**/c", "c", TRUE},
	{"**/c", "a/b/c", TRUE},
	{"**/c", "a/bc", FALSE},
	{"a/**/c", "a/c", TRUE},
	{"a/**/c", "a/x/y/c", TRUE},
	{"a/**/c", "a/xc", FALSE},
	{"a/**/c", "ab/c", FALSE},
	{"a/**", "a/x/y", TRUE},
	{"a/**", "a", FALSE},
	{"a**c", "a/b/c", TRUE},
	{"**/**/c", "a/c", TRUE},
	{"**/*.ko", "lib/modules/x/a.ko", TRUE},
	{"[abc]x", "bx", TRUE},
	{"[a-c]x", "bx", TRUE},
	{"[a-c]x", "dx", FALSE},
	{"[!a-c]x", "dx", TRUE},
	{"[^a-c]x", "bx", FALSE},
	{"[]]x", "]x", TRUE},
	{"[!]]x", "]x", FALSE},
	{"[a-]x", "-x", TRUE},
	{"[\\]]x", "]x", TRUE},
	{"a[/]b", "a/b", FALSE},
	{"a[!x]b", "a/b", FALSE},
	{"\\*", "*", TRUE},
	{"\\*", "a", FALSE},
	{"a\\\\b", "a\\b", TRUE},
	{"a\nb", "a\nb", TRUE},
	{"a?b", "a\nb", TRUE},
	{"?\x85", "\xe9\x85", TRUE},
	{"[\x80-\xff]", "\xa0", TRUE},
	{"[!\x80-\xff]", "\xa0", FALSE},
};

static void test_patterns(void)
{
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(ro_glob) glob = ro_glob_new(cases[i].pattern, NULL);

		g_assert_nonnull(glob);
		if (ro_glob_match(glob, cases[i].path) != cases[i].matches)
			g_error("pattern %s, path %s", cases[i].pattern, cases[i].path);
	}
}

static void refuse(const char *pattern, const char *message)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(ro_glob) glob = ro_glob_new(pattern, &error);

	g_assert_null(glob);
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	g_assert_cmpstr(error->message, ==, message);
}

static void test_malformed(void)
{
	refuse("a[b", "a[b: '[' without ']'");
	refuse("a[]", "a[]: '[' without ']'");
	refuse("a[b-", "a[b-: '[' without ']'");
	refuse("a[\\", "a[\\: '[' without ']'");
	refuse("a/b\\", "a/b\\: nothing behind the last '\\'");
	refuse("", ": empty pattern");
	refuse("./", "./: empty pattern");
}

static char *random_text(guint64 *state, const char *const *pieces, guint count)
{
	GString *text = g_string_new(NULL);

	for (guint64 n = 1 + ro_random_below(state, 8); n > 0; n--)
		g_string_append(text, pieces[ro_random_below(state, count)]);
	return g_string_free(text, FALSE);
}

/* What a shell would do, where both know the syntax. */
static void test_like_fnmatch(void)
{
	static const char *const pattern_pieces[] = {
		"a", "b", "*a", "*b", "?", "/", "[ab]", "[!a]", "."};
	static const char *const path_pieces[] = {"a", "b", "c", "/", "."};
	guint64 state = 1;

	for (guint i = 0; i < 200000; i++) {
		g_autofree char *tail =
			random_text(&state, pattern_pieces, G_N_ELEMENTS(pattern_pieces));
		g_autofree char *pattern = g_strconcat("a", tail, "a", NULL);
		g_autofree char *middle =
			random_text(&state, path_pieces, G_N_ELEMENTS(path_pieces));
		g_autofree char *path = g_strconcat("a", middle, "a", NULL);
		g_autoptr(ro_glob) glob = ro_glob_new(pattern, NULL);

		if (ro_glob_match(glob, path) != (fnmatch(pattern, path, FNM_PATHNAME) == 0))
			g_error("pattern %s, path %s", pattern, path);
	}
}

static void test_quote(void)
{
	const char *text = "a*b?c[d]\\e/ \n\xff";
	g_autoptr(GString) pattern = g_string_new(NULL);
	g_autoptr(ro_glob) glob = NULL;

	ro_glob_quote(pattern, text);
	glob = ro_glob_new(pattern->str, NULL);
	g_assert_true(ro_glob_match(glob, text));
	g_assert_false(ro_glob_match(glob, "aXbXcd\\e/ \n\xff"));
}

/* Backtracking would take longer than the universe has time. */
static void test_hostile_name(void)
{
	g_autofree char *path = g_strnfill(4000, 'a');
	g_autoptr(ro_glob) stars = ro_glob_new("*a*a*a*a*a*a*a*a*a*a*b", NULL);
	g_autoptr(ro_glob) dirs = ro_glob_new("**/**/**/**a**a**a**a**b", NULL);
	gint64 start = g_get_monotonic_time();

	g_assert_false(ro_glob_match(stars, path));
	g_assert_false(ro_glob_match(dirs, path));
	g_assert_cmpint(g_get_monotonic_time() - start, <, 2 * G_USEC_PER_SEC);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/glob/patterns", test_patterns);
	g_test_add_func("/glob/malformed pattern is named", test_malformed);
	g_test_add_func("/glob/agrees with fnmatch", test_like_fnmatch);
	g_test_add_func("/glob/quoted text stands for itself", test_quote);
	g_test_add_func("/glob/time is bounded", test_hostile_name);
	return g_test_run();
}
