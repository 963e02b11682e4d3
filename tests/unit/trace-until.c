/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --until and the kernel command line of a virtual boot. */
#include <string.h>

#include "reorder/util/error.h"
#include "trace/boot.h"
#include "trace/cmdline.h"

static void test_seconds(void)
{
	tr_until until;

	g_assert_true(tr_until_parse("idle:20", &until, NULL));
	g_assert_cmpint(until.kind, ==, TR_UNTIL_IDLE);
	g_assert_cmpfloat(until.seconds, ==, 20);
	g_assert_true(tr_until_parse("time:0.5", &until, NULL));
	g_assert_cmpint(until.kind, ==, TR_UNTIL_TIME);
	g_assert_cmpfloat(until.seconds, ==, 0.5);
	g_assert_null(until.regex);
}

static void test_regex(void)
{
	tr_until until;

	g_assert_true(tr_until_parse("console:^(a|b): login:", &until, NULL));
	g_assert_cmpint(until.kind, ==, TR_UNTIL_CONSOLE);
	g_assert_true(g_regex_match(until.regex, "b: login: ", 0, NULL));
	/* Bytes, not UTF-8. */
	g_assert_true(g_regex_match(until.regex, "a: login: \xff", 0, NULL));
	g_regex_unref(until.regex);
}

static void test_refused(void)
{
	static const char *const bad[] = {"", "idle", "idle:", "idle:0", "idle:-1", "idle:1e3",
		"idle:0x10", "idle:nan", "idle:inf", "idle:5s", "idle: 5", "idle:1.2.3", "idle:.",
		"time:", "time:2000000", "console:", "console:(", "console", "login:", "IDLE:5"};

	for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		tr_until until;
		g_assert_false(tr_until_parse(bad[i], &until, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
		g_assert_nonnull(strstr(error->message, bad[i]));
		g_assert_null(until.regex);
	}
}

#define OWN "console=ttyS0 plymouth.ignore-serial-consoles panic=-1"

static const struct {
	const char *original, *wanted;
} cmdlines[] = {
	{"", "console=tty0 " OWN " rdinit=/a"},
	{"boot=live  quiet", "boot=live quiet console=tty0 " OWN " rdinit=/a"},
	{"console=ttyS0,9600 console=tty1", "console=ttyS0,9600 console=tty1 " OWN " rdinit=/a"},
	{"boot=live toram=filesystem.squashfs panic=30 toram",
		"boot=live panic=30 console=tty0 " OWN " rdinit=/a"},
	{"root=live:CDLABEL=X rd.live.image rd.live.check rd.writable.fsimg rd.live.ram=1",
		"root=live:CDLABEL=X rd.live.image console=tty0 " OWN " rdinit=/a"},
	{"archisobasedir=arch copytoram=y",
		"archisobasedir=arch console=tty0 " OWN " copytoram=n rdinit=/a"},
	{"boot=casper integrity-check quiet splash ---",
		"boot=casper quiet splash --- console=tty0 " OWN " rdinit=/a"},
	{"rdinit=/own boot=live -- single toram",
		"rdinit=/own boot=live console=tty0 " OWN " rdinit=/a -- single toram"},
	{"dyndbg=\"file x -- toram +p\" toramx=1 console=ttyS1",
		"dyndbg=\"file x -- toram +p\" toramx=1 console=tty0 " OWN " rdinit=/a"},
};

static void test_cmdline(void)
{
	for (guint i = 0; i < G_N_ELEMENTS(cmdlines); i++) {
		tr_cmdline_job job = {.original = cmdlines[i].original, .rdinit = "/a"};
		g_autofree char *got = tr_cmdline_new(&job, NULL);
		g_assert_cmpstr(got, ==, cmdlines[i].wanted);
	}
}

static void test_cmdline_dropped(void)
{
	g_autoptr(GPtrArray) dropped = g_ptr_array_new_with_free_func(g_free);
	tr_cmdline_job job = {.original = "a copytoram=y b", .dropped = dropped};
	g_autofree char *got = tr_cmdline_new(&job, NULL);

	g_assert_cmpstr(got, ==, "a b console=tty0 " OWN);
	g_assert_cmpuint(dropped->len, ==, 1);
	g_assert_cmpstr(g_ptr_array_index(dropped, 0), ==, "copytoram=y");
}

static void test_cmdline_too_long(void)
{
	g_autofree char *room = g_strnfill(2047 - strlen(" console=tty0 " OWN), 'x');
	g_autofree char *more = g_strconcat(room, "x", NULL);
	g_autoptr(GError) error = NULL;
	tr_cmdline_job fits = {.original = room}, longer = {.original = more};
	g_autofree char *got = tr_cmdline_new(&fits, NULL);

	g_assert_cmpuint(strlen(got), ==, 2047);
	g_assert_null(tr_cmdline_new(&longer, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/until/seconds", test_seconds);
	g_test_add_func("/until/regex", test_regex);
	g_test_add_func("/until/refused", test_refused);
	g_test_add_func("/cmdline/words", test_cmdline);
	g_test_add_func("/cmdline/dropped-words-are-named", test_cmdline_dropped);
	g_test_add_func("/cmdline/too-long", test_cmdline_too_long);
	return g_test_run();
}
