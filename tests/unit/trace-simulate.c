/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <math.h>

#include "trace/simulate.h"

#define MB 1000000ull

/* 1 MB/s everywhere, a seek is 0.1 s, nothing is read ahead. */
static const struct tr_drive_params plain = {
	.name = "plain",
	.rate_inner = 1e6,
	.rate_outer = 1e6,
	.capacity = 700e6,
	.seek_min = 0.1,
};

static GArray *reads_of(const tr_read *list, guint count)
{
	GArray *reads = g_array_new(FALSE, FALSE, sizeof(tr_read));

	return g_array_append_vals(reads, list, count);
}
#define READS(...)                                                                                 \
	reads_of((const tr_read[]){__VA_ARGS__},                                                   \
		sizeof((const tr_read[]){__VA_ARGS__}) / sizeof(tr_read))

static void near(double got, double wanted)
{
	g_assert_cmpfloat_with_epsilon(got, wanted, 1e-9);
}

static void think_times_are_kept(void)
{
	/* Logged on a drive without delay: 2 s of thinking before the first read, 1 s and 3 s
	 * between. */
	g_autoptr(GArray) reads =
		READS({2, 0, 1 * MB, 0}, {3, 1 * MB, 1 * MB, 0}, {6, 50 * MB, 2 * MB, 0});
	g_autoptr(GArray) served = g_array_new(FALSE, FALSE, sizeof(tr_read));
	tr_simulation t;

	tr_simulate(reads, &plain, 1, &t, served);
	near(t.seconds, 2 + 1 + 1 + 1 + 3 + 2.1);
	near(t.busy, 4.1);
	g_assert_cmpuint(t.requests, ==, 3);
	g_assert_cmpuint(t.bytes, ==, 4 * MB);
	g_assert_cmpuint(t.jumps, ==, 1);
	g_assert_cmpuint(t.long_seeks, ==, 1);
	g_assert_true(t.params == &plain);

	g_assert_cmpuint(served->len, ==, 3);
	near(g_array_index(served, tr_read, 1).time, 4);
	near(g_array_index(served, tr_read, 2).time, 8);
	near(g_array_index(served, tr_read, 2).delay, 2.1);
	g_assert_cmpuint(g_array_index(served, tr_read, 2).offset, ==, 50 * MB);
}

static void think_times_are_divided_by_k(void)
{
	g_autoptr(GArray) reads =
		READS({2, 0, 1 * MB, 0}, {3, 1 * MB, 1 * MB, 0}, {6, 50 * MB, 2 * MB, 0});
	tr_simulation t;

	tr_simulate(reads, &plain, 5, &t, NULL);
	near(t.seconds, 6 / 5.0 + 4.1);
	near(t.busy, 4.1);
}

static void the_logged_delay_is_no_thinking(void)
{
	/* 0.5 s served, 0.25 s of thinking, 1 s served. */
	g_autoptr(GArray) reads = READS({0, 0, 1 * MB, 0.5}, {0.75, 1 * MB, 1 * MB, 1});
	tr_simulation t;

	tr_simulate(reads, &plain, 1, &t, NULL);
	near(t.seconds, 1 + 0.25 + 1);
}

static void queued_reads_follow_at_once(void)
{
	/* The second and third came while the first was served; the fourth 0.5 s after the third
	 * was done, at 3.5. */
	g_autoptr(GArray) reads = READS({0, 0, 1 * MB, 1}, {0.1, 1 * MB, 1 * MB, 1},
		{0.2, 2 * MB, 1 * MB, 1}, {3.5, 3 * MB, 1 * MB, 1});
	tr_simulation t;

	tr_simulate(reads, &plain, 1, &t, NULL);
	near(t.seconds, 3 + 0.5 + 1);
	near(t.busy, 4);
}

static void replaying_its_own_log_changes_nothing(void)
{
	const struct tr_drive_params *cd = tr_drive_find("cd");
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	g_autoptr(GArray) once = g_array_new(FALSE, FALSE, sizeof(tr_read));
	g_autoptr(GArray) twice = g_array_new(FALSE, FALSE, sizeof(tr_read));
	tr_simulation a, b;

	for (guint i = 0; i < 2000; i++) {
		tr_read r = {i * 0.01, (i * 7919ull % 1000) * 300000, 32768, 0};
		g_array_append_val(reads, r);
	}
	tr_simulate(reads, cd, 3, &a, once);
	tr_simulate(once, cd, 1, &b, twice);
	g_assert_cmpfloat_with_epsilon(a.seconds, b.seconds, 1e-6);
	g_assert_cmpfloat_with_epsilon(a.busy, b.busy, 1e-6);
	g_assert_cmpuint(a.long_seeks, ==, b.long_seeks);
	g_assert_cmpuint(a.jumps, ==, 1999);
}

static void none_leaves_the_thinking(void)
{
	g_autoptr(GArray) reads = READS({2, 0, 1 * MB, 0.5}, {3, 100 * MB, 1 * MB, 0.25});
	tr_simulation t;

	tr_simulate(reads, tr_drive_find("none"), 1, &t, NULL);
	near(t.busy, 0);
	near(t.seconds, 2.5);
	g_assert_cmpuint(t.long_seeks, ==, 0);
	g_assert_cmpuint(t.jumps, ==, 1);
}

static void same_log_same_bytes(void)
{
	g_autoptr(GArray) reads =
		READS({0.1, 0, 65536, 0}, {0.3, 90 * MB, 4096, 0}, {0.4, 7 * MB, 4096, 0});

	for (const struct tr_drive_params *p = tr_drive_profiles; p->name; p++) {
		tr_simulation a, b;
		tr_simulate(reads, p, 7, &a, NULL);
		tr_simulate(reads, p, 7, &b, NULL);
		g_assert_cmpmem(&a.seconds, sizeof(a.seconds), &b.seconds, sizeof(b.seconds));
		g_assert_cmpmem(&a.busy, sizeof(a.busy), &b.busy, sizeof(b.busy));
	}
}

/* Runs of five reads with gaps, all over the disc. The totals are those of a second model that
 * integrates by small steps. */
static void cd_total_is_pinned(void)
{
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	tr_simulation t;

	for (guint i = 0; i < 500; i++) {
		tr_read r = {i * 0.02, i / 5 * 79 % 100 * 5 * MB + i % 5 * 60000, 40960, 0};
		g_array_append_val(reads, r);
	}
	tr_simulate(reads, tr_drive_find("cd"), 5, &t, NULL);
	g_assert_cmpuint(t.long_seeks, ==, 99);
	g_assert_cmpint(llrint(t.busy * 1e6), ==, 22002491);
	g_assert_cmpint(llrint(t.seconds * 1e6), ==, 22002491 + 499 * 4000);
}

static void an_empty_log_takes_no_time(void)
{
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	tr_simulation t;

	tr_simulate(reads, tr_drive_find("cd"), 1, &t, NULL);
	near(t.seconds, 0);
	near(t.busy, 0);
	g_assert_cmpuint(t.requests, ==, 0);
}

/* A read of no length keeps the drive's time: what it read ahead in the pause before it counts. */
static void empty_reads_do_not_disturb(void)
{
	g_autoptr(GArray) reads = READS({0, 0, 4096, 0}, {5, 300 * MB, 0, 0}, {5, 4096, 1 * MB, 0});
	tr_simulation t;

	tr_simulate(reads, tr_drive_find("cd"), 1, &t, NULL);
	g_assert_cmpfloat_with_epsilon(t.busy, 4096 / 1.50001e6, 1e-6);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define TEST(f) g_test_add_func("/simulate/" #f, f)
	TEST(think_times_are_kept);
	TEST(think_times_are_divided_by_k);
	TEST(the_logged_delay_is_no_thinking);
	TEST(queued_reads_follow_at_once);
	TEST(replaying_its_own_log_changes_nothing);
	TEST(none_leaves_the_thinking);
	TEST(same_log_same_bytes);
	TEST(cd_total_is_pinned);
	TEST(an_empty_log_takes_no_time);
	TEST(empty_reads_do_not_disturb);
	return g_test_run();
}
