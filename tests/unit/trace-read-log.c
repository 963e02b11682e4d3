/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "trace/medium/drive.h"
#include "trace/read_log.h"

#define HEADER "reorder-livecd reads 1\n# size 1000000\n# drive cd\n"

static char *path;

static GArray *parse(const char *text, gssize length, GError **error)
{
	g_assert_true(g_file_set_contents(path, text, length, NULL));
	return tr_read_log_read(path, error);
}

static const tr_read *nth(const GArray *reads, guint i)
{
	return &g_array_index(reads, tr_read, i);
}

static void reads_every_line(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) reads = parse(HEADER "0.000123 0 2048 0.061000\n"
					       "1.500000 9007199254740992 65536 0.000000\n"
					       "1.500000 2048 0 0.000000\n",
		-1, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(reads->len, ==, 3);
	g_assert_cmpfloat(nth(reads, 0)->time, ==, 0.000123);
	g_assert_cmpfloat(nth(reads, 0)->delay, ==, 0.061);
	g_assert_cmpuint(nth(reads, 1)->offset, ==, 9007199254740992);
	g_assert_cmpuint(nth(reads, 1)->length, ==, 65536);
	g_assert_cmpuint(nth(reads, 2)->length, ==, 0);
}

static void a_log_without_reads_is_one(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) reads = parse("reorder-livecd reads 1\n", -1, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(reads->len, ==, 0);
}

/* The plugin may be killed at any time: what is left of a log is the lines that are whole. */
static void cut_at_every_byte(void)
{
	const char *text = HEADER "0.5 0 2048 0.1\n0.75 4096 2048 0.1\n";
	gsize first = strlen("reorder-livecd reads 1\n");
	gsize one = strlen(HEADER "0.5 0 2048 0.1\n"), all = strlen(text);

	for (gsize cut = 0; cut <= all; cut++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GArray) reads = parse(text, (gssize)cut, &error);
		if (cut < first) {
			g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
			continue;
		}
		g_assert_no_error(error);
		g_assert_cmpuint(reads->len, ==, cut == all ? 2u : cut >= one ? 1u : 0u);
	}
}

static void bad_lines_are_named(void)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", ":1: empty"},
		{"reorder-livecd trace 1\n", ":1: wrong first line"},
		{HEADER "0.1 0 1\n", ":4: expected"},
		{HEADER "0.1 0 1 0.1 5\n", ":4: expected"},
		{HEADER "\n", ":4: expected"},
		{HEADER "x 0 1 0.1\n", ":4: expected"},
		{HEADER "-1 0 1 0.1\n", ":4: expected"},
		{HEADER "nan 0 1 0.1\n", ":4: expected"},
		{HEADER "1e99 0 1 0.1\n", ":4: expected"},
		{HEADER "0.1 -5 1 0.1\n", ":4: expected"},
		{HEADER "0.1 0 1 -0.1\n", ":4: expected"},
		{HEADER "0.1  0 1 0.1\n", ":4: expected"},
		{HEADER "0.1 18446744073709551616 1 0.1\n", ":4: expected"},
		{HEADER "0.1 18446744073709551615 1 0.1\n", ":4: offset or length"},
		{HEADER "0.1 9223372036854775807 1 0.1\n", ":4: offset or length"},
		{HEADER "0.2 0 1 0.1\n0.1 0 1 0.1\n", ":5: time runs backwards"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(parse(cases[i].text, -1, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
		g_assert_true(g_str_has_prefix(error->message, path));
		g_assert_nonnull(strstr(error->message, cases[i].reason));
	}
}

static void nul_bytes_and_endless_lines(void)
{
	g_autoptr(GString) text = g_string_new(HEADER);
	g_autoptr(GError) error = NULL;

	g_string_append_len(text, "0.1 0 \0001 0.1\n0.2 0 1 0.1\n", 26);
	g_assert_null(parse(text->str, (gssize)text->len, &error));
	g_assert_nonnull(strstr(error->message, ":4: a NUL byte or a line too long"));
	g_clear_error(&error);

	g_string_assign(text, HEADER);
	for (guint i = 0; i < 1000; i++)
		g_string_append(text, "# long ");
	g_string_append(text, "\n");
	g_assert_null(parse(text->str, (gssize)text->len, &error));
	g_assert_nonnull(strstr(error->message, ":4: a NUL byte or a line too long"));
}

static void a_file_that_is_not_there(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(tr_read_log_read("/nonexistent/log", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_assert_nonnull(strstr(error->message, "/nonexistent/log: open: No such file"));
}

static GArray *reads_of(const tr_read *list, guint count)
{
	GArray *reads = g_array_new(FALSE, FALSE, sizeof(tr_read));

	return g_array_append_vals(reads, list, count);
}

/*
 * Four reads without a pause: 0–2 MB, a quarter of the disc further on 1 MB, the 1 MB behind it,
 * back to the start.
 */
static const tr_read four[] = {
	{0, 0, 2000000, 0},
	{0, 177000000, 1000000, 0},
	{0, 178000000, 1000000, 0},
	{0, 0, 1000000, 0},
};

static void totals_of_the_whole_log(void)
{
	g_autoptr(GArray) reads = reads_of(four, 4);
	tr_read_totals t;

	tr_read_log_totals(reads, 0, G_MAXUINT64, &t);
	g_assert_cmpuint(t.requests, ==, 4);
	g_assert_cmpuint(t.bytes, ==, 5000000);
	g_assert_cmpuint(t.jumps, ==, 2);
	g_assert_cmpuint(t.long_seeks, ==, 2);
	/* Transfers integrated numerically; seeks 120 ms (a quarter of the disc) and 121 ms. */
	g_assert_cmpfloat_with_epsilon(
		t.drive_seconds, 1.3288306 + 0.5687534 + 0.4480636 + 0.7862190, 1e-6);
}

static void totals_of_a_part_book_the_whole_drive(void)
{
	g_autoptr(GArray) reads = reads_of(four, 4);
	tr_read_totals t;

	/* The third read only: it follows the second one, so it is no jump and no seek. */
	tr_read_log_totals(reads, 178000000, 1000000, &t);
	g_assert_cmpuint(t.requests, ==, 1);
	g_assert_cmpuint(t.bytes, ==, 1000000);
	g_assert_cmpuint(t.jumps, ==, 0);
	g_assert_cmpuint(t.long_seeks, ==, 0);
	g_assert_cmpfloat_with_epsilon(t.drive_seconds, 0.4480636, 1e-6);

	/* Only bytes inside count, the drive's time is that of the request. */
	tr_read_log_totals(reads, 177500000, 1000, &t);
	g_assert_cmpuint(t.requests, ==, 1);
	g_assert_cmpuint(t.bytes, ==, 1000);
	g_assert_cmpuint(t.jumps, ==, 1);
	g_assert_cmpuint(t.long_seeks, ==, 1);
	g_assert_cmpfloat_with_epsilon(t.drive_seconds, 0.5687534, 1e-6);

	tr_read_log_totals(reads, 2000000, 1000000, &t);
	g_assert_cmpuint(t.requests, ==, 0);
	tr_read_log_totals(reads, G_MAXUINT64, G_MAXUINT64, &t);
	g_assert_cmpuint(t.requests, ==, 0);
}

static void totals_are_linear(void)
{
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	tr_read_totals t;

	for (guint i = 0; i < 1000000; i++) {
		tr_read r = {i * 0.001, (guint64)(i * 7919ull % 100000) * 2048, 2048, 0};
		g_array_append_val(reads, r);
	}
	g_test_timer_start();
	tr_read_log_totals(reads, 0, G_MAXUINT64, &t);
	g_test_message("a million reads in %.3f s", g_test_timer_elapsed());
	g_assert_cmpuint(t.requests, ==, 1000000);
	g_assert_cmpfloat(g_test_timer_last(), <, 30);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_autofree char *dir = g_dir_make_tmp("read-log-XXXXXX", NULL);
	path = g_build_filename(dir, "log", NULL);
#define TEST(f) g_test_add_func("/read-log/" #f, f)
	TEST(reads_every_line);
	TEST(a_log_without_reads_is_one);
	TEST(cut_at_every_byte);
	TEST(bad_lines_are_named);
	TEST(nul_bytes_and_endless_lines);
	TEST(a_file_that_is_not_there);
	TEST(totals_of_the_whole_log);
	TEST(totals_of_a_part_book_the_whole_drive);
	TEST(totals_are_linear);
	int status = g_test_run();
	g_unlink(path);
	g_rmdir(dir);
	g_free(path);
	return status;
}
