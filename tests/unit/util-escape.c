/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "reorder/util/escape.h"

typedef struct {
	const char *bytes, *text, *utf8;
} sample;

static const sample samples[] = {
	{"usr/bin/dash", "usr/bin/dash", "usr/bin/dash"},
	{"a b", "a\\040b", "a b"},
	{"new\nline", "new\\012line", "new\\012line"},
	{"tab\tdel\x7f", "tab\\011del\\177", "tab\\011del\\177"},
	{"back\\slash", "back\\134slash", "back\\134slash"},
	{"\\040", "\\134040", "\\134040"},
	{"l\xe9", "l\xe9", "l\\351"},
	{"x\x85y\xa0", "x\x85y\xa0", "x\\205y\\240"},
	{"\xc3\xa9", "\xc3\xa9", "\xc3\xa9"},
	{"cut\xc3", "cut\xc3", "cut\\303"},
	{"", "", ""},
};

static void test_golden(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(samples); i++) {
		g_autofree char *text = ro_escape(samples[i].bytes);
		g_autofree char *utf8 = ro_escape_utf8(samples[i].bytes);
		g_assert_cmpstr(text, ==, samples[i].text);
		g_assert_cmpstr(utf8, ==, samples[i].utf8);
		g_assert_true(g_utf8_validate(utf8, -1, NULL));
	}
}

static void test_every_byte_round_trips(void)
{
	char bytes[256];

	for (int i = 0; i < 255; i++)
		bytes[i] = (char)(i + 1);
	bytes[255] = '\0';
	g_autofree char *text = ro_escape(bytes);
	g_autofree char *back = ro_unescape(text);
	g_assert_cmpstr(back, ==, bytes);
}

static void test_bad_escapes(void)
{
	const char *bad[] = {"\\", "a\\0", "\\04", "\\000", "\\777", "\\08x", "\\n", "\\400"};

	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
		g_assert_null(ro_unescape(bad[i]));
}

static void test_printable(void)
{
	g_autofree char *line = ro_printable("a\\040b\n\x1b[31m\xe9\xc3\xa9", FALSE);
	g_autofree char *lines = ro_printable("one\ntwo\r", TRUE);

	g_assert_cmpstr(line, ==, "a\\040b\\012\\033[31m\\351\xc3\xa9");
	g_assert_cmpstr(lines, ==, "one\ntwo\\015");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/escape/golden", test_golden);
	g_test_add_func("/escape/every-byte-round-trips", test_every_byte_round_trips);
	g_test_add_func("/escape/bad-escapes-are-rejected", test_bad_escapes);
	g_test_add_func("/escape/printable", test_printable);
	return g_test_run();
}
