/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The page of a fixed comparison is tests/golden/report.html. After a wanted change: look at the
 * new one, which WRITE_GOLDEN=FILE writes, and put it there.
 */
#include <glib.h>
#include <string.h>

#include "tests/unit/compare-fixture.h"
#include "trace/compare_text.h"
#include "trace/report.h"

static GString *page(gboolean ordered, guint runs)
{
	tr_comparison c;

	fixture_comparison(&c, ordered, runs);
	GString *html = tr_report_html(&c);
	tr_comparison_clear(&c);
	g_string_replace(html, "reorder-livecd " REORDER_VERSION, "reorder-livecd VERSION", 0);
	return html;
}

static void the_golden_page(void)
{
	g_autofree char *golden = NULL;
	const char *write = g_getenv("WRITE_GOLDEN");
	GString *html = page(TRUE, 5);

	if (write)
		g_assert_true(g_file_set_contents(write, html->str, (gssize)html->len, NULL));
	g_assert_true(g_file_get_contents("tests/golden/report.html", &golden, NULL, NULL));
	if (strcmp(html->str, golden) != 0) {
		gsize at = strspn(html->str, "");
		while (html->str[at] && html->str[at] == golden[at])
			at++;
		g_test_message("differs from byte %" G_GSIZE_FORMAT " on:\n%.200s\nwanted:\n%.200s",
			at, html->str + at, golden + at);
		g_test_fail();
	}
	g_string_free(html, TRUE);
}

/* A foreign parser's word on it: xmllint knows HTML, but not the newer elements. */
static void the_page_is_well_formed(void)
{
	static const char checker[] =
		"import sys, html.parser\n"
		"void = {'meta', 'rect', 'path', 'line', 'circle', 'link', 'br'}\n"
		"class P(html.parser.HTMLParser):\n"
		"    def __init__(self):\n"
		"        super().__init__(); self.stack = []; self.seen = set()\n"
		"    def handle_starttag(self, tag, attrs):\n"
		"        self.seen.add(tag)\n"
		"        names = [n for n, _ in attrs]\n"
		"        assert len(names) == len(set(names)), (tag, attrs)\n"
		"        for n, v in attrs:\n"
		"            assert n not in ('src', 'href') and not n.startswith('on'), (tag, n)\n"
		"            assert 'nan' not in v and 'inf' not in v.split(), (tag, n, v)\n"
		"        if tag not in void: self.stack.append(tag)\n"
		"    def handle_endtag(self, tag):\n"
		"        if tag not in void: assert self.stack.pop() == tag, (tag, self.getpos())\n"
		"p = P(); p.feed(sys.stdin.read()); p.close()\n"
		"assert not p.stack and 'script' not in p.seen and 'svg' in p.seen, p.stack\n";
	g_autofree char *python = g_find_program_in_path("python3");
	g_autofree char *path = NULL;
	int fd, status;

	if (!python) {
		g_test_skip("no python3 here");
		return;
	}
	for (guint i = 0; i < 3; i++) {
		GString *html = page(i > 0, i + 1);
		g_autofree char *command = NULL;
		fd = g_file_open_tmp("report-XXXXXX", &path, NULL);
		g_assert_cmpint(write(fd, html->str, html->len), ==, html->len);
		close(fd);
		g_autofree char *program = g_shell_quote(checker);
		command = g_strdup_printf("sh -c \"$0\" ");
		g_clear_pointer(&command, g_free);
		g_autofree char *script = g_strdup_printf("python3 -c %s < %s", program, path);
		const char *argv[] = {"sh", "-c", script, NULL};
		g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
			NULL, NULL, NULL, &status, NULL));
		g_assert_cmpint(status, ==, 0);
		unlink(path);
		g_clear_pointer(&path, g_free);
		g_string_free(html, TRUE);
	}
}

static void what_comes_from_outside_is_escaped(void)
{
	tr_comparison c;

	fixture_comparison(&c, TRUE, 2);
	g_free(c.sides[1].volume_id);
	c.sides[1].volume_id = g_strdup("<script>x</script>\xff\x01\"'&");
	g_ptr_array_add(c.missing, g_strdup("<img src=x>"));
	GString *html = tr_report_html(&c);
	g_assert_null(strstr(html->str, "<script"));
	g_assert_null(strstr(html->str, "<img"));
	g_assert_nonnull(
		strstr(html->str, "&lt;script&gt;x&lt;/script&gt;\\377\\001&quot;&apos;&amp;")
			?: strstr(html->str,
				   "&lt;script&gt;x&lt;/script&gt;\\377\\001&quot;&#39;&amp;"));
	g_assert_true(g_utf8_validate(html->str, (gssize)html->len, NULL));
	g_string_free(html, TRUE);
	tr_comparison_clear(&c);
}

static void the_headline_says_what_is_known(void)
{
	static const struct {
		gboolean ordered;
		guint runs;
		const char *text;
	} cases[] = {
		{TRUE, 5, "B starts "},
		{TRUE, 1, "in a single boot of each: nothing is known about the noise"},
		{FALSE, 4, "is within the noise"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		tr_comparison c;
		fixture_comparison(&c, cases[i].ordered, cases[i].runs);
		g_autofree char *headline = tr_comparison_headline(&c);
		g_assert_nonnull(strstr(headline, cases[i].text));
		tr_comparison_clear(&c);
	}
}

static void words_that_read_the_whole_medium_are_said(void)
{
	tr_comparison c;

	fixture_comparison(&c, TRUE, 2);
	c.sides[0].whole_reads = g_strdup("toram");
	g_autoptr(GPtrArray) notes = tr_comparison_notes(&c);
	g_assert_nonnull(strstr(g_ptr_array_index(notes, 0), "toram"));
	g_assert_nonnull(strstr(g_ptr_array_index(notes, 0), "order of the files cannot help"));
	tr_comparison_clear(&c);
}

/* A hundred times the reads of a desktop's boot do not make a page that no browser opens. */
static void the_page_of_a_long_log_stays_small(void)
{
	tr_comparison c;

	fixture_comparison(&c, FALSE, 1);
	GArray *reads = g_array_index(c.sides[0].runs, tr_measured, 0).reads;
	double end = g_array_index(c.sides[0].runs, tr_measured, 0).marks.at[TR_PHASE_COUNT];
	g_array_set_size(reads, 0);
	for (guint i = 0; i < 200000; i++) {
		tr_read read = {end * i / 200000, (i % 7) * 40 * MB, 4096, 0.0001};
		g_array_append_val(reads, read);
	}
	GString *html = tr_report_html(&c);
	g_assert_cmpuint(html->len, <, 4 << 20);
	g_string_free(html, TRUE);
	tr_comparison_clear(&c);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/report/golden", the_golden_page);
	g_test_add_func("/report/well-formed", the_page_is_well_formed);
	g_test_add_func("/report/escaped", what_comes_from_outside_is_escaped);
	g_test_add_func("/report/headline", the_headline_says_what_is_known);
	g_test_add_func("/report/whole-reads", words_that_read_the_whole_medium_are_said);
	g_test_add_func("/report/long-log", the_page_of_a_long_log_stays_small);
	return g_test_run();
}
