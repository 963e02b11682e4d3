/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <string.h>

#include "trace/trace_diff.h"

static void add(tr_trace *trace, tr_kind kind, const char *path)
{
	tr_event *event = g_new0(tr_event, 1);

	event->time = trace->events->len;
	event->kind = kind;
	event->bytes = TR_BYTES_UNKNOWN;
	event->image = g_strdup("/i");
	event->path = g_strdup(path);
	g_ptr_array_add(trace->events, event);
}

/* Files, a second apart; the boot ends with the last. */
static tr_trace *trace_of(const char *paths)
{
	g_auto(GStrv) words = g_strsplit(paths, " ", -1);
	tr_trace *trace = tr_trace_new();

	for (guint i = 0; words[i]; i++)
		add(trace, TR_FILE, words[i]);
	trace->end_time = trace->events->len - 1.0;
	return trace;
}

static char *join(const GPtrArray *events)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < events->len; i++)
		g_string_append_printf(text, "%s%s", i ? " " : "",
			((const tr_event *)g_ptr_array_index(events, i))->path);
	return g_string_free(text, FALSE);
}

static double distance_of(const char *first, const char *second)
{
	g_autoptr(tr_trace) a = trace_of(first);
	g_autoptr(tr_trace) b = trace_of(second);
	g_auto(tr_diff) diff;

	tr_diff_make(a, b, &diff);
	return diff.all.distance;
}

/* Pairs in the other order, of all pairs. */
static void order(void)
{
	g_assert_cmpfloat(distance_of("a b c d", "a b c d"), ==, 0);
	g_assert_cmpfloat(distance_of("a b c d", "d c b a"), ==, 1);
	g_assert_cmpfloat(distance_of("a b c d", "b a c d"), ==, 1.0 / 6);
	g_assert_cmpfloat(distance_of("a b c d", "d a b c"), ==, 3.0 / 6);
	g_assert_cmpfloat(distance_of("a b c d e", "c e a b d"), ==, 5.0 / 10);
	/* What only one has does not count. */
	g_assert_cmpfloat(distance_of("x a y b z c", "c b q a"), ==, 1);
	g_assert_cmpfloat(distance_of("a b", "b x y"), <, 0);
	g_assert_cmpfloat(distance_of("a", "b"), <, 0);
}

/* A count that must not overflow 32 bits: 100,000 in reverse. */
static void many(void)
{
	g_autoptr(tr_trace) a = tr_trace_new();
	g_autoptr(tr_trace) b = tr_trace_new();
	g_auto(tr_diff) diff;

	for (guint i = 0; i < 100000; i++) {
		g_autofree char *up = g_strdup_printf("%u", i);
		g_autofree char *down = g_strdup_printf("%u", 99999 - i);
		add(a, TR_FILE, up);
		add(b, TR_FILE, down);
	}
	tr_diff_make(a, b, &diff);
	g_assert_cmpuint(diff.all.both, ==, 100000);
	g_assert_cmpfloat(diff.all.distance, ==, 1);
}

static void sides(void)
{
	g_autoptr(tr_trace) a = trace_of("a b c d");
	g_autoptr(tr_trace) b = trace_of("d x b y z w v");
	g_auto(tr_diff) diff;

	tr_diff_make(a, b, &diff);
	g_autofree char *only_a = join(diff.only_a);
	g_autofree char *only_b = join(diff.only_b);
	g_assert_cmpstr(only_a, ==, "a c");
	g_assert_cmpstr(only_b, ==, "x y z w v");
	g_assert_cmpuint(diff.all.a, ==, 4);
	g_assert_cmpuint(diff.all.b, ==, 7);
	g_assert_cmpuint(diff.all.both, ==, 2);
	g_assert_cmpuint(diff.after_a, ==, 0);
	/* A took 3 s; z, w and v come at 4, 5 and 6. */
	g_assert_cmpuint(diff.after_b, ==, 3);
}

static void classes(void)
{
	g_autoptr(tr_trace) a = trace_of("usr/bin/a usr/bin/b usr/lib/modules/m1 usr/bin/c etc/a");
	g_autoptr(tr_trace) b =
		trace_of("usr/lib/modules/m1 usr/lib/modules/m2 usr/bin/c usr/bin/a");
	g_auto(tr_diff) diff;
	guint sum_a = 0, sum_b = 0, sum_both = 0;

	add(b, TR_DIR, "usr/bin");
	/* One saw a link, the other what it took for a file. */
	add(a, TR_SYMLINK, "usr/bin/sh");
	add(b, TR_FILE, "usr/bin/sh");
	tr_diff_make(a, b, &diff);
	const tr_diff_row *programs = &diff.classes[TR_CLASS_PROGRAM];
	g_assert_cmpuint(programs->a, ==, 3);
	g_assert_cmpuint(programs->b, ==, 2);
	g_assert_cmpuint(programs->both, ==, 2);
	g_assert_cmpfloat(programs->distance, ==, 1);
	const tr_diff_row *modules = &diff.classes[TR_CLASS_MODULE];
	g_assert_cmpuint(modules->a, ==, 1);
	g_assert_cmpuint(modules->b, ==, 2);
	g_assert_cmpuint(modules->both, ==, 1);
	g_assert_cmpfloat(modules->distance, <, 0);
	g_assert_cmpuint(diff.classes[TR_CLASS_LINK].both, ==, 1);
	g_assert_cmpuint(diff.classes[TR_CLASS_DIRECTORY].b, ==, 1);
	for (guint c = 0; c < TR_CLASS_COUNT; c++) {
		sum_a += diff.classes[c].a;
		sum_b += diff.classes[c].b;
		sum_both += diff.classes[c].both;
	}
	g_assert_cmpuint(sum_a, ==, a->events->len);
	g_assert_cmpuint(sum_b, ==, b->events->len);
	g_assert_cmpuint(sum_both, ==, diff.all.both);
}

/* The same path in another layer is another file. */
static void images(void)
{
	g_autoptr(tr_trace) a = trace_of("a b");
	g_autoptr(tr_trace) b = trace_of("a b");
	g_auto(tr_diff) diff;
	tr_event *event = g_ptr_array_index(b->events, 0);

	g_free(event->image);
	event->image = g_strdup("/other");
	tr_diff_make(a, b, &diff);
	g_assert_cmpuint(diff.all.both, ==, 1);
	g_assert_cmpuint(diff.only_a->len, ==, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/trace-diff/order", order);
	g_test_add_func("/trace-diff/many", many);
	g_test_add_func("/trace-diff/sides", sides);
	g_test_add_func("/trace-diff/classes", classes);
	g_test_add_func("/trace-diff/images", images);
	return g_test_run();
}
