/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <string.h>

#include "trace/trace.h"

/* A trace of single letters, one second apart. */
static tr_trace *letters(const char *paths)
{
	tr_trace *trace = tr_trace_new();

	for (guint i = 0; paths[i]; i++) {
		tr_event *event = g_new0(tr_event, 1);
		event->time = i;
		event->kind = TR_FILE;
		event->bytes = TR_BYTES_UNKNOWN;
		event->image = g_strdup("/i");
		event->path = g_strndup(&paths[i], 1);
		g_ptr_array_add(trace->events, event);
	}
	return trace;
}

static tr_event *nth(const tr_trace *trace, guint i)
{
	return g_ptr_array_index(trace->events, i);
}

static char *order_of(const tr_trace *trace)
{
	GString *order = g_string_new(NULL);

	for (guint i = 0; i < trace->events->len; i++)
		g_string_append(order, nth(trace, i)->path);
	return g_string_free(order, FALSE);
}

static void merges_to(const char *a, const char *b, const char *c, const char *wanted)
{
	g_autoptr(tr_trace) x = letters(a);
	g_autoptr(tr_trace) y = letters(b ? b : "");
	g_autoptr(tr_trace) z = letters(c ? c : "");
	tr_trace *const all[] = {x, y, z};
	g_autoptr(tr_trace) merged = tr_trace_merge(all, c ? 3 : b ? 2 : 1);
	g_autofree char *order = order_of(merged);

	g_assert_cmpstr(order, ==, wanted);
}

static void one_trace_stays_as_it_is(void)
{
	merges_to("abcde", NULL, NULL, "abcde");
	merges_to("", NULL, NULL, "");
}

static void a_file_in_any_is_in(void)
{
	merges_to("ab", "cd", NULL, "acbd");
	merges_to("ab", "", NULL, "ab");
	merges_to("", "ab", NULL, "ab");
}

static void the_median_ignores_one_odd_boot(void)
{
	/* In one of three boots d came first. */
	merges_to("abcd", "dabc", "abcd", "abcd");
	merges_to("abcd", "abcd", "dcba", "abcd");
	merges_to("dcba", "abcd", "abcd", "abcd");
}

/* Of unlike machines: what all need comes first, then what most of them do. */
static void what_more_traces_have_comes_first(void)
{
	merges_to("axbc", "abyc", NULL, "abcxy");
	merges_to("xab", "ab", NULL, "abx");
	/* z in two of three, though it came last there; x and y in one each */
	merges_to("xyabz", "abz", "ab", "abzxy");
	merges_to("p", "qr", "rs", "rpqs");
}

static void how_many_have_it_is_told(void)
{
	g_autoptr(tr_trace) x = letters("ab");
	g_autoptr(tr_trace) y = letters("bcb");
	tr_trace *const all[] = {x, y};
	g_autoptr(tr_trace) merged = tr_trace_merge(all, 2);
	g_autoptr(tr_trace) one = tr_trace_merge(all, 1);

	g_assert_cmpuint(merged->merged, ==, 2);
	g_assert_cmpstr(nth(merged, 0)->path, ==, "b");
	g_assert_cmpuint(nth(merged, 0)->traces, ==, 2);
	g_assert_cmpuint(nth(merged, 1)->traces, ==, 1);
	g_assert_cmpuint(nth(merged, 2)->traces, ==, 1);
	g_assert_cmpuint(one->merged, ==, 1);
	g_assert_cmpuint(nth(one, 0)->traces, ==, 1);
}

static void ties_go_to_the_first_trace(void)
{
	merges_to("ab", "ba", NULL, "ab");
	merges_to("ba", "ab", NULL, "ba");
	merges_to("abcd", "dcba", NULL, "abcd");
	merges_to("a", "b", "c", "abc");
}

static void ranks_are_shares_of_their_trace(void)
{
	/* x is half-way through a short boot and so goes half-way into the long one. */
	merges_to("abcdefgh", "ax", NULL, "abcdexfgh");
}

static void the_second_mention_in_a_trace_is_ignored(void)
{
	merges_to("abca", NULL, NULL, "abc");
	merges_to("abc", "aabbaaaaaac", NULL, "abc");
}

static void times_do_not_decrease(void)
{
	g_autoptr(tr_trace) x = letters("abcd");
	g_autoptr(tr_trace) y = letters("bad");
	tr_trace *const all[] = {x, y};
	nth(x, 1)->time = 900;
	for (guint i = 0; i < 3; i++)
		nth(y, i)->time += 1000;
	g_autoptr(tr_trace) merged = tr_trace_merge(all, 2);

	for (guint i = 1; i < merged->events->len; i++)
		g_assert_cmpfloat(nth(merged, i)->time, >=, nth(merged, i - 1)->time);
}

static void what_is_known_adds_up(void)
{
	g_autoptr(tr_trace) x = letters("abc");
	g_autoptr(tr_trace) y = letters("abc");
	tr_trace *const all[] = {x, y};
	nth(x, 0)->how = TR_OPEN;
	nth(y, 0)->how = TR_READ;
	nth(x, 1)->how = TR_EXEC;
	nth(y, 1)->how = TR_OPEN;
	nth(x, 2)->how = TR_BLOCKS;
	nth(y, 2)->how = TR_OPEN;
	nth(y, 0)->bytes = 5;
	nth(x, 1)->bytes = 7;
	nth(y, 1)->bytes = 6;
	g_autoptr(tr_trace) merged = tr_trace_merge(all, 2);

	g_assert_cmpint(nth(merged, 0)->how, ==, TR_READ);
	g_assert_cmpint(nth(merged, 1)->how, ==, TR_EXEC);
	g_assert_cmpint(nth(merged, 2)->how, ==, TR_BLOCKS);
	g_assert_cmpuint(nth(merged, 0)->bytes, ==, 5);
	g_assert_cmpuint(nth(merged, 1)->bytes, ==, 7);
	g_assert_cmpuint(nth(merged, 2)->bytes, ==, TR_BYTES_UNKNOWN);
	/* The sources stay as they were. */
	g_assert_cmpint(nth(x, 0)->how, ==, TR_OPEN);
	g_assert_cmpuint(nth(x, 0)->bytes, ==, TR_BYTES_UNKNOWN);
}

static void header_is_the_first_ones_less_contradictions(void)
{
	g_autoptr(tr_trace) x = letters("a");
	g_autoptr(tr_trace) y = letters("a");
	tr_trace *const all[] = {x, y};
	x->volume_id = g_strdup("VOL");
	x->image_checksum = g_strdup("aa");
	y->image_checksum = g_strdup("aa");
	x->lost_events = 2;
	y->lost_events = 3;
	x->coverage = 0.99;
	y->coverage = 0.95;
	x->memory = 512;
	x->machine = g_strdup("pc");
	y->machine = g_strdup("q35");
	x->firmware = g_strdup("bios");
	y->firmware = g_strdup("bios");
	g_autoptr(tr_trace) same = tr_trace_merge(all, 2);
	g_assert_cmpstr(same->volume_id, ==, "VOL");
	g_assert_cmpstr(same->image_checksum, ==, "aa");
	g_assert_cmpuint(same->lost_events, ==, 5);
	g_assert_cmpfloat(same->coverage, ==, 0.95);
	g_assert_cmpuint(same->memory, ==, 512);
	g_assert_null(same->machine);
	g_assert_cmpstr(same->firmware, ==, "bios");

	y->image_checksum[0] = 'b';
	y->coverage = -1;
	g_autoptr(tr_trace) other = tr_trace_merge(all, 2);
	g_assert_null(other->image_checksum);
	g_assert_cmpfloat(other->coverage, ==, 0.99);
}

static void the_result_is_a_trace_file(void)
{
	g_autoptr(tr_trace) x = letters("abcdef");
	g_autoptr(tr_trace) y = letters("fgabc");
	tr_trace *const all[] = {x, y};
	g_autoptr(tr_trace) merged = tr_trace_merge(all, 2);
	g_autoptr(GString) text = tr_trace_format(merged);
	g_autoptr(GError) error = NULL;
	g_autoptr(tr_trace) back = tr_trace_parse("m", text->str, text->len, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(back->events->len, ==, 7);
}

/* Three boots of 50,000 files in different orders, with some files missing in each. */
static void many_files_merge_quickly(void)
{
	tr_trace *all[3];

	for (guint t = 0; t < 3; t++) {
		all[t] = tr_trace_new();
		for (guint i = 0; i < 50000; i++) {
			tr_event *event = g_new0(tr_event, 1);
			guint n = (guint)(i * (guint64)(t * 2 + 1) * 7919 % 60000);
			event->time = i;
			event->kind = TR_FILE;
			event->image = g_strdup("/i");
			event->path = g_strdup_printf("usr/share/some/where/%u", n);
			g_ptr_array_add(all[t]->events, event);
		}
	}
	g_test_timer_start();
	g_autoptr(tr_trace) merged = tr_trace_merge(all, 3);
	g_test_message("3 x 50,000 events merged in %.3f s", g_test_timer_elapsed());
	g_assert_cmpfloat(g_test_timer_last(), <, 30);
	for (guint t = 0; t < 3; t++)
		tr_trace_free(all[t]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define TEST(f) g_test_add_func("/merge/" #f, f)
	TEST(one_trace_stays_as_it_is);
	TEST(a_file_in_any_is_in);
	TEST(the_median_ignores_one_odd_boot);
	TEST(what_more_traces_have_comes_first);
	TEST(how_many_have_it_is_told);
	TEST(ties_go_to_the_first_trace);
	TEST(ranks_are_shares_of_their_trace);
	TEST(the_second_mention_in_a_trace_is_ignored);
	TEST(times_do_not_decrease);
	TEST(what_is_known_adds_up);
	TEST(header_is_the_first_ones_less_contradictions);
	TEST(the_result_is_a_trace_file);
	TEST(many_files_merge_quickly);
	return g_test_run();
}
