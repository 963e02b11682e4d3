/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "reorder/util/error.h"
#include "trace/trace.h"

/* Name, what it looks like in the file. */
static const struct {
	const char *path, *text;
} odd_names[] = {
	{"usr/bin/dash", "usr/bin/dash"},
	{"a b", "a\\040b"},
	{" lead", "\\040lead"},
	{"trail ", "trail\\040"},
	{"new\nline", "new\\012line"},
	{"tab\tcr\r", "tab\\011cr\\015"},
	{"back\\slash\\040", "back\\134slash\\134040"},
	{"\x01\x1f\x7f", "\\001\\037\\177"},
	{"caf\xc3\xa9", "caf\xc3\xa9"},
	{"l\xe9", "l\xe9"},
	{"x\x85y\xa0z\xff", "x\x85y\xa0z\xff"},
	{"-", "-"},
	{"-rf", "-rf"},
	{"#comment", "#comment"},
	{"end 3", "end\\0403"},
	{"...", "..."},
	{".hidden/..x/x..", ".hidden/..x/x.."},
	{"quote'\"$`;*?[x]", "quote'\"$`;*?[x]"},
	{"", "."},
};

static tr_event *new_event(double time, const char *path)
{
	tr_event *event = g_new0(tr_event, 1);

	event->time = time;
	event->kind = TR_FILE;
	event->how = TR_OPEN;
	event->bytes = TR_BYTES_UNKNOWN;
	event->image = g_strdup("/live/filesystem.squashfs");
	event->path = g_strdup(path);
	return event;
}

static tr_trace *full_trace(void)
{
	tr_trace *trace = tr_trace_new();

	trace->tool_version = g_strdup("1.0");
	trace->volume_id = g_strdup("DEBIAN LIVE");
	trace->volume_uuid = g_strdup("2024-01-02-03-04-05-00");
	trace->image = g_strdup("/live/filesystem.squashfs");
	trace->image_checksum = g_strdup("e3b0c442");
	trace->kernel_version = g_strdup("6.1.0-18-amd64");
	trace->cmdline = g_strdup(" boot=live  quiet x=\"\\a\nb\" ");
	trace->tracer = g_strdup("fanotify");
	trace->accelerator = g_strdup("tcg");
	trace->memory = 1073741824;
	trace->machine = g_strdup("pc");
	trace->devices = g_strdup("rtl8139 cirrus ide");
	trace->cpu_model = g_strdup("Nehalem");
	trace->firmware = g_strdup("bios");
	trace->end_reason = g_strdup("idle");
	trace->end_time = 61.25;
	trace->root_time = 12.5;
	trace->lost_events = 3;
	trace->coverage = 0.9875;
	for (guint i = 0; i < G_N_ELEMENTS(odd_names); i++)
		g_ptr_array_add(trace->events, new_event(i * 0.000001, odd_names[i].path));
	tr_event *first = g_ptr_array_index(trace->events, 0);
	first->how = TR_EXEC;
	first->bytes = 125640;
	return trace;
}

static tr_trace *parse(const char *text, GError **error)
{
	return tr_trace_parse("x.trace", text, strlen(text), error);
}

static void format_is_as_documented(void)
{
	g_autoptr(tr_trace) trace = full_trace();
	g_ptr_array_set_size(trace->events, 2);
	g_autoptr(GString) text = tr_trace_format(trace);

	g_assert_cmpstr(text->str, ==,
		"reorder-livecd trace 1\n"
		"tool-version 1.0\n"
		"volume-id DEBIAN LIVE\n"
		"volume-uuid 2024-01-02-03-04-05-00\n"
		"image /live/filesystem.squashfs\n"
		"image-checksum e3b0c442\n"
		"kernel-version 6.1.0-18-amd64\n"
		"cmdline \\040boot=live  quiet x=\"\\134a\\012b\"\\040\n"
		"tracer fanotify\n"
		"accelerator tcg\n"
		"memory 1073741824\n"
		"machine pc\n"
		"devices rtl8139 cirrus ide\n"
		"cpu-model Nehalem\n"
		"firmware bios\n"
		"end-reason idle\n"
		"end-time 61.250000\n"
		"root-time 12.500000\n"
		"lost-events 3\n"
		"coverage 0.987500\n"
		"0.000000 f exec 125640 /live/filesystem.squashfs usr/bin/dash\n"
		"0.000001 f open - /live/filesystem.squashfs a\\040b\n"
		"end 2\n");
}

static void every_name_comes_back(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(tr_trace) trace = full_trace();
	g_autoptr(GString) text = tr_trace_format(trace);
	g_autoptr(tr_trace) back = parse(text->str, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(back->events->len, ==, G_N_ELEMENTS(odd_names));
	for (guint i = 0; i < back->events->len; i++) {
		const tr_event *event = g_ptr_array_index(back->events, i);
		g_autofree char *line = g_strdup_printf(" %s\n", odd_names[i].text);
		g_assert_cmpstr(event->path, ==, odd_names[i].path);
		g_assert_cmpfloat_with_epsilon(event->time, i * 0.000001, 1e-9);
		g_assert_nonnull(strstr(text->str, line));
	}
	g_autoptr(GString) again = tr_trace_format(back);
	g_assert_cmpstr(again->str, ==, text->str);
}

static void every_header_field_comes_back(void)
{
	g_autoptr(tr_trace) trace = full_trace();
	g_autoptr(GString) text = tr_trace_format(trace);
	g_autoptr(tr_trace) back = parse(text->str, NULL);

	g_assert_cmpstr(back->tool_version, ==, trace->tool_version);
	g_assert_cmpstr(back->volume_id, ==, trace->volume_id);
	g_assert_cmpstr(back->volume_uuid, ==, trace->volume_uuid);
	g_assert_cmpstr(back->image, ==, trace->image);
	g_assert_cmpstr(back->image_checksum, ==, trace->image_checksum);
	g_assert_cmpstr(back->kernel_version, ==, trace->kernel_version);
	g_assert_cmpstr(back->cmdline, ==, trace->cmdline);
	g_assert_cmpstr(back->tracer, ==, trace->tracer);
	g_assert_cmpstr(back->accelerator, ==, trace->accelerator);
	g_assert_cmpuint(back->memory, ==, trace->memory);
	g_assert_cmpstr(back->machine, ==, trace->machine);
	g_assert_cmpstr(back->devices, ==, trace->devices);
	g_assert_cmpstr(back->cpu_model, ==, trace->cpu_model);
	g_assert_cmpstr(back->firmware, ==, trace->firmware);
	g_assert_cmpstr(back->end_reason, ==, trace->end_reason);
	g_assert_cmpfloat(back->end_time, ==, trace->end_time);
	g_assert_cmpfloat(back->root_time, ==, trace->root_time);
	g_assert_cmpuint(back->lost_events, ==, 3);
	g_assert_cmpfloat(back->coverage, ==, 0.9875);
}

static void what_is_unknown_stays_unknown(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(tr_trace) trace = tr_trace_new();
	trace->volume_id = g_strdup("");
	trace->cmdline = g_strdup(" ");
	g_autoptr(GString) text = tr_trace_format(trace);
	g_autoptr(tr_trace) back = parse(text->str, &error);

	g_assert_no_error(error);
	g_assert_null(back->volume_uuid);
	g_assert_cmpstr(back->volume_id, ==, "");
	g_assert_cmpstr(back->cmdline, ==, " ");
	g_assert_cmpfloat(back->coverage, <, 0);
	g_assert_cmpuint(back->events->len, ==, 0);
	g_assert_null(strstr(text->str, " \n"));
}

static void long_paths_come_back(void)
{
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(GString) path = g_string_new(NULL);

	for (guint i = 0; i < 16; i++) {
		g_autofree char *name = g_strnfill(255, (char)(i % 2 ? '\n' : '\xff'));
		g_string_append_printf(path, "%s%s", i ? "/" : "", name);
	}
	g_ptr_array_add(trace->events, new_event(1, path->str));
	g_autoptr(GString) text = tr_trace_format(trace);
	g_autoptr(tr_trace) back = parse(text->str, NULL);
	g_assert_nonnull(back);
	const tr_event *event = g_ptr_array_index(back->events, 0);
	g_assert_cmpstr(event->path, ==, path->str);
}

static void newer_headers_are_skipped(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(tr_trace) back = parse(
		"reorder-livecd trace 1\nmoon-phase full or \\999\nmemory 5\nend 0\n", &error);

	g_assert_no_error(error);
	g_assert_cmpuint(back->memory, ==, 5);
}

/* I9: whatever is cut off, it is noticed. */
static void cut_at_every_byte(void)
{
	g_autoptr(tr_trace) trace = full_trace();
	g_autoptr(GString) text = tr_trace_format(trace);

	for (gsize cut = 0; cut < text->len; cut++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(tr_trace_parse("x.trace", text->str, cut, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
		g_assert_true(g_str_has_prefix(error->message, "x.trace:"));
		g_assert_nonnull(strstr(error->message, "cut off"));
	}
}

/* A line lost in the middle is noticed too, by the count or by what is missing. */
static void a_lost_event_is_noticed(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(parse(
		"reorder-livecd trace 1\n1.0 f open - /i a\n2.0 f open - /i c\nend 3\n", &error));
	g_assert_cmpstr(error->message, ==, "x.trace:4: end: 3 events expected, 2 are there");
}

static void any_flipped_byte_is_no_crash(void)
{
	g_autoptr(tr_trace) trace = full_trace();
	g_autoptr(GString) text = tr_trace_format(trace);

	for (gsize i = 0; i < text->len; i++) {
		static const char values[] = {'\0', '\n', ' ', '\\', '9', 'z', (char)0xff};
		for (guint v = 0; v < sizeof(values); v++) {
			g_autoptr(GError) error = NULL;
			char was = text->str[i];
			text->str[i] = values[v];
			g_autoptr(tr_trace) back =
				tr_trace_parse("x.trace", text->str, text->len, &error);
			text->str[i] = was;
			g_assert_true((back != NULL) == (error == NULL));
		}
	}
}

#define H "reorder-livecd trace 1\n"
static void bad_lines_are_named(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "1: the file is cut off here (no end line); get it whole or trace again"},
		{"reorder-livecd trace 2\n",
			"1: not a trace (the first line must be \"reorder-livecd trace 1\")"},
		{"reorder-livecd trace 1\r\n",
			"1: not a trace (the first line must be \"reorder-livecd trace 1\")"},
		{H "end 0\nend 0\n", "3: text behind the end line"},
		{H "end 0\n\n", "3: text behind the end line"},
		{H "end\n", "2: end: not a number"},
		{H "end -1\n", "2: end: not a number"},
		{H "end 1\n", "2: end: 1 events expected, 0 are there"},
		{H "\nend 0\n", "2: neither a header line nor an event"},
		{H "-1.0 f open - /i a\nend 1\n", "2: neither a header line nor an event"},
		{H "memory 1\nmemory 1\n", "3: memory: given twice"},
		{H "memory 1k\n", "2: memory: not a number in its range"},
		{H "memory -1\n", "2: memory: not a number in its range"},
		{H "memory 99999999999999999999\n", "2: memory: not a number in its range"},
		{H "coverage 1.5\n", "2: coverage: not a number in its range"},
		{H "coverage -1\n", "2: coverage: not a number in its range"},
		{H "end-time inf\n", "2: end-time: not a number in its range"},
		{H "end-time 1e5\n", "2: end-time: not a number in its range"},
		{H "cmdline a\\xyz\n", "2: cmdline: broken escape"},
		{H "1.0 f open - /i a\nmemory 5\nend 1\n",
			"3: a header line behind the first event"},
		{H "1.2.3 f open - /i a\n", "2: seconds: not a number"},
		{H "0x10 f open - /i a\n", "2: seconds: not a number"},
		{H "99999999999 f open - /i a\n", "2: seconds: not a number"},
		{H "1.0 x open - /i a\n", "2: kind: not f, d or l"},
		{H "1.0 fd open - /i a\n", "2: kind: not f, d or l"},
		{H "1.0  open - /i a\n", "2: kind: not f, d or l"},
		{H "1.0\n", "2: kind: not f, d or l"},
		{H "1.0 f write - /i a\n", "2: how: not open, exec, read, atime or blocks"},
		{H "1.0 f open x /i a\n", "2: bytes: neither a number nor -"},
		{H "1.0 f open -5 /i a\n", "2: bytes: neither a number nor -"},
		{H "1.0 f open 18446744073709551615 /i a\n", "2: bytes: neither a number nor -"},
		{H "1.0 f open - i a\n", "2: image: not a path that starts with a slash"},
		{H "1.0 f open -\n", "2: image: not a path that starts with a slash"},
		{H "1.0 f open - /\\0 a\n", "2: image: not a path that starts with a slash"},
		{H "1.0 f open - /i a b\n", "2: more than six fields"},
		{H "1.0 f open - /i a\\\n", "2: path: broken escape"},
		{H "1.0 f open - /i a\\000\n", "2: path: broken escape"},
		{H "1.0 f open - /i a\\777\n", "2: path: broken escape"},
#define UNRESOLVED "2: path: not one inside an image (leading or double slash, \".\", \"..\")"
		{H "1.0 f open - /i\n", UNRESOLVED},
		{H "1.0 f open - /i /a\n", UNRESOLVED},
		{H "1.0 f open - /i a//b\n", UNRESOLVED},
		{H "1.0 f open - /i a/\n", UNRESOLVED},
		{H "1.0 f open - /i ./a\n", UNRESOLVED},
		{H "1.0 f open - /i a/./b\n", UNRESOLVED},
		{H "1.0 f open - /i a/../../b\n", UNRESOLVED},
		{H "1.0 f open - /i ..\n", UNRESOLVED},
		{H "1.0 f open - /i a\n2.0 f read - /i a\n", "3: the path was there before"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *wanted = g_strdup_printf("x.trace:%s", cases[i].message);
		g_assert_null(parse(cases[i].text, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
		g_assert_cmpstr(error->message, ==, wanted);
	}
}

static void nul_bytes_are_no_text(void)
{
	static const char text[] = H "1.0 f open - /i a\0b\nend 1\n";
	g_autoptr(GError) error = NULL;

	g_assert_null(tr_trace_parse("x.trace", text, sizeof(text) - 1, &error));
	g_assert_cmpstr(error->message, ==, "x.trace:2: a NUL byte");
}

static void two_images_may_have_the_same_path(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(tr_trace) back = parse(H "1.0 f open - /i a\n2.0 f read - /j a\nend 2\n", &error);

	g_assert_no_error(error);
	g_assert_cmpuint(back->events->len, ==, 2);
}

static void files_are_read(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = g_dir_make_tmp("trace-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "a b,c", NULL);

	g_assert_true(g_file_set_contents(path, H "1.0 f open - /i a\nend 1\n", -1, NULL));
	g_autoptr(tr_trace) back = tr_trace_read(path, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(back->events->len, ==, 1);
	g_unlink(path);

	g_assert_null(tr_trace_read(path, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_clear_error(&error);
	g_assert_null(tr_trace_read(dir, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_clear_error(&error);
	g_assert_null(tr_trace_read("/dev/zero", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	g_rmdir(dir);
}

static void a_hundred_thousand_files(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(tr_trace) trace = tr_trace_new();

	for (guint i = 0; i < 100000; i++) {
		g_autofree char *path = g_strdup_printf(
			"usr/lib/x86_64-linux-gnu/some/deep place/%02u/file-%u.so", i % 97, i);
		g_ptr_array_add(trace->events, new_event(i * 0.001, path));
	}
	g_autoptr(GString) text = tr_trace_format(trace);
	g_test_timer_start();
	g_autoptr(tr_trace) back = parse(text->str, &error);
	double seconds = g_test_timer_elapsed();
	g_assert_no_error(error);
	g_assert_cmpuint(back->events->len, ==, 100000);
	g_test_message(
		"100,000 events, %.1f MB: parsed in %.3f s", (double)text->len / 1e6, seconds);
	/* Far above what sanitizers or valgrind on a busy machine need, far below quadratic. */
	g_assert_cmpfloat(seconds, <, 30);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define TEST(f) g_test_add_func("/trace-file/" #f, f)
	TEST(format_is_as_documented);
	TEST(every_name_comes_back);
	TEST(every_header_field_comes_back);
	TEST(what_is_unknown_stays_unknown);
	TEST(long_paths_come_back);
	TEST(newer_headers_are_skipped);
	TEST(cut_at_every_byte);
	TEST(a_lost_event_is_noticed);
	TEST(any_flipped_byte_is_no_crash);
	TEST(bad_lines_are_named);
	TEST(nul_bytes_are_no_text);
	TEST(two_images_may_have_the_same_path);
	TEST(files_are_read);
	TEST(a_hundred_thousand_files);
	return g_test_run();
}
