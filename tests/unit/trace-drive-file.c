/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <string.h>

#include "reorder/util/error.h"
#include "trace/drive_file.h"

static void clear(tr_drive_choice *choice)
{
	tr_drive_choice_clear(choice);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(tr_drive_choice, clear)

static void a_profile_by_its_name(void)
{
	g_auto(tr_drive_choice) choice;
	g_autoptr(GError) error = NULL;

	g_assert_true(tr_drive_choose("cd", &choice, &error));
	g_assert_cmpstr(choice.params.name, ==, "cd");
	g_assert_cmpfloat(choice.params.rate_outer, ==, 3.6e6);
}

static void a_drive_of_ones_own(void)
{
	static const char text[] = "# my old stick\n\nlike usb2\n  name  old stick \n"
				   "about\tUSB 2, from 2006\r\nrate_inner 8e6\nrate_outer 8e6\n";
	g_auto(tr_drive_choice) choice;
	g_autoptr(GError) error = NULL;

	g_assert_true(tr_drive_parse("stick.drive", text, strlen(text), &choice, &error));
	g_assert_cmpstr(choice.params.name, ==, "old stick");
	g_assert_cmpstr(choice.params.about, ==, "USB 2, from 2006");
	g_assert_cmpfloat(choice.params.rate_inner, ==, 8e6);
	g_assert_cmpfloat(choice.params.request, ==, 0.0006);
	g_assert_cmpfloat(choice.params.capacity, ==, 16e9);
}

static void the_name_of_the_file_is_the_drives(void)
{
	static const char text[] = "rate_inner 1e6\nrate_outer 1e6\ncapacity 1e9";
	g_auto(tr_drive_choice) choice;
	g_autoptr(GError) error = NULL;

	g_assert_true(tr_drive_parse("/some/where/mine.txt", text, strlen(text), &choice, &error));
	g_assert_cmpstr(choice.params.name, ==, "mine.txt");
	g_assert_cmpfloat(choice.params.seek_min, ==, 0);
}

static void the_plugin_gets_every_number(void)
{
	g_auto(GStrv) words = tr_drive_plugin_parameters(tr_drive_find("cd"), 5);

	g_assert_true(g_strv_contains((const char *const *)words, "rate_inner=1500000"));
	g_assert_true(g_strv_contains((const char *const *)words, "seek_full=0.12"));
	g_assert_true(g_strv_contains((const char *const *)words, "buffer=2097152"));
	g_assert_true(g_strv_contains((const char *const *)words, "slow=5"));
	g_assert_cmpuint(g_strv_length(words), ==, 9);
}

static void what_is_refused(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "no number in it"},
		{"name x\n", "no number in it"},
		{"like none\nrate_inner 1e6\n", "rate_outer must both be above 0"},
		{"like cd\nspeed 5\n", ":2: \"speed\": unknown"},
		{"like cd\nrequest fast\n", ":2: \"fast\": not a number"},
		{"like cd\nrequest -1\n", "not a number from 0 on"},
		{"like cd\nrequest 1e999\n", "not a number from 0 on"},
		{"like cd\nrequest nan\n", "not a number from 0 on"},
		{"like cd\nrequest 1\nrequest 2\n", ":3: \"request\": given twice"},
		{"like floppy\n", ":1: \"floppy\": no such drive"},
		{"request 1\nlike cd\n", "before all numbers"},
		{"like cd\nrequest\n", ":2: \"request\": no value"},
		{"name a\nname b\nlike cd\n", "given twice"},
		{"name \xff\nlike cd\n", "UTF-8"},
		{"like cd\ncapacity 0\n", "capacity must be above 0"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_auto(tr_drive_choice) choice;
		g_autoptr(GError) error = NULL;
		g_assert_false(tr_drive_parse(
			"x.drive", cases[i].text, strlen(cases[i].text), &choice, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
		g_assert_nonnull(strstr(error->message, cases[i].message));
		g_assert_true(g_str_has_prefix(error->message, "x.drive:"));
	}
}

static void neither_a_profile_nor_a_file(void)
{
	g_auto(tr_drive_choice) choice;
	g_autoptr(GError) error = NULL;

	g_assert_false(tr_drive_choose("floppy", &choice, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	g_assert_nonnull(strstr(error->message, "cd, dvd, hdd, usb2, usb3, bmc, none"));
}

static void devices_and_directories_are_no_descriptions(void)
{
	static const char *const paths[] = {"/", "/dev/zero"};

	for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_auto(tr_drive_choice) choice;
		g_autoptr(GError) error = NULL;
		g_assert_false(tr_drive_choose(paths[i], &choice, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/drive-file/profile", a_profile_by_its_name);
	g_test_add_func("/drive-file/own", a_drive_of_ones_own);
	g_test_add_func("/drive-file/name", the_name_of_the_file_is_the_drives);
	g_test_add_func("/drive-file/plugin", the_plugin_gets_every_number);
	g_test_add_func("/drive-file/refused", what_is_refused);
	g_test_add_func("/drive-file/unknown", neither_a_profile_nor_a_file);
	g_test_add_func("/drive-file/no-text", devices_and_directories_are_no_descriptions);
	return g_test_run();
}
