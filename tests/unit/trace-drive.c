/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <math.h>

#include "trace/medium/drive.h"

#define MB 1000000ull

/*
 * A drive with round numbers. The square of its rate grows by 1e4 a byte, so that the rate is 1e6
 * at 0, 2e6 at 300 MB, 3e6 at 800 MB; from 0 to 300 MB takes 300e6 / 1.5e6 = 200 s.
 */
static const struct tr_drive_params round_drive = {
	.name = "round",
	.rate_inner = 1e6,
	.rate_outer = 3e6,
	.capacity = 800e6,
	.seek_min = 0.06,
	.seek_full = 0.12,
	.buffer = 2e6,
	.gap = 0.1,
};

static void near(double got, double wanted)
{
	g_assert_cmpfloat_with_epsilon(got, wanted, 1e-6);
}

static struct tr_drive new_drive(const struct tr_drive_params *params)
{
	struct tr_drive drive;

	tr_drive_init(&drive, params, 800 * MB);
	return drive;
}

static void inner_edge_is_slow(void)
{
	struct tr_drive d = new_drive(&round_drive);

	/* 2 (sqrt(1e12 + 1e4 · 1e6) − 1e6) / 1e4 */
	near(tr_drive_read(&d, 0, 0, 1 * MB, NULL), 0.9975124224);
	near(d.ready, 0.9975124224);
}

static void middle_is_exact(void)
{
	struct tr_drive d = new_drive(&round_drive);

	near(tr_drive_read(&d, 0, 0, 300 * MB, NULL), 200);
	near(tr_drive_read(&d, 200, 300 * MB, 500 * MB, NULL), 200);
}

static void outer_edge_is_fast(void)
{
	struct tr_drive d = new_drive(&round_drive);
	double seek;

	/* 60 ms + 120 ms · sqrt(797/800), then 3e6 bytes at 2.995 … 3 MB/s */
	near(tr_drive_read(&d, 0, 797 * MB, 3 * MB, &seek), 0.1797747886 + 1.0008347258);
	near(seek, 0.1797747886);
}

static void behind_the_capacity_the_rate_stays(void)
{
	struct tr_drive d;

	tr_drive_init(&d, &round_drive, UINT64_MAX);
	/* A full stroke is the longest there is. */
	near(tr_drive_read(&d, 0, 5000 * MB, 3 * MB, NULL), 0.18 + 1);
	/* 200 MB below capacity: seek over 4200 MB is a full one; sqrt(1e12 + 1e4 · 798e6) at its
	 * start. */
	near(tr_drive_read(&d, 2, 798 * MB, 5 * MB, NULL), 0.18 + 0.6670374491 + 1);
}

static void cd_profile_inner_and_outer(void)
{
	const struct tr_drive_params *cd = tr_drive_find("cd");
	struct tr_drive d;

	tr_drive_init(&d, cd, 700 * MB);
	near(tr_drive_read(&d, 0, 0, 1500000, NULL), 0.9974629227);
	tr_drive_init(&d, cd, 700 * MB);
	/* From 0 to 175 MB is a quarter of the disc: half of the 120 ms. */
	double seek;
	tr_drive_read(&d, 0, 175 * MB, 2048, &seek);
	near(seek, 0.12);
	near(tr_drive_read(&d, d.ready, 699 * MB, 1 * MB, &seek) - seek, 0.2778597981);
}

static void sequential_reads_cost_their_bytes_once(void)
{
	struct tr_drive one = new_drive(&round_drive), many = new_drive(&round_drive);
	double sum = 0;

	double whole = tr_drive_read(&one, 0, 0, 30 * MB, NULL);
	for (guint64 at = 0; at < 30 * MB; at += 30000)
		sum += tr_drive_read(&many, many.ready, at, 30000, NULL);
	near(sum, whole);
}

/* Four reads of 1 MB at 0, 100, 200, 300 MB. */
static double total(const int *order)
{
	struct tr_drive d = new_drive(&round_drive);

	for (int i = 0; i < 4; i++)
		tr_drive_read(&d, d.ready, (guint64)order[i] * 100 * MB, 1 * MB, NULL);
	return d.ready;
}

static void shuffled_costs_more_than_sorted(void)
{
	const double transfers = 0.9975124224 + 0.7062251005 + 0.5768699442 + 0.4996878900;
	/* Seeks: the head is 1 MB behind each start. */
	const double sorted = 3 * (0.06 + 0.12 * sqrt(99.0 / 800));
	const double shuffled = (0.06 + 0.12 * sqrt(299.0 / 800)) +
				(0.06 + 0.12 * sqrt(201.0 / 800)) +
				(0.06 + 0.12 * sqrt(99.0 / 800));

	near(total((int[]){0, 1, 2, 3}), transfers + sorted);
	near(total((int[]){0, 3, 1, 2}), transfers + shuffled);
}

static void buffered_data_are_there_at_once(void)
{
	struct tr_drive d = new_drive(&round_drive);

	double first = tr_drive_read(&d, 0, 0, 100000, NULL);
	/* While nobody asks for 10 s the drive reads 2 MB ahead, and no more. */
	double now = first + 10;
	near(tr_drive_read(&d, now, 100000, 1000000, NULL), 0);
	near(d.head, 2100000);
	near(d.ready, now);
	/* What lies behind the buffer's end is read from there on: no seek. The buffer was filled
	 * up to 2.1 MB only. */
	double seek;
	near(tr_drive_read(&d, now, 1100000, 1200000, &seek), 0.1978356707);
	near(seek, 0);
}

static void a_short_pause_fills_part_of_the_buffer(void)
{
	struct tr_drive d = new_drive(&round_drive);

	/* From 300 MB on at 2 MB/s; in 0.1 s it gets 200,000 + 25 bytes further (0.1 s · 2.00025
	 * MB/s). */
	tr_drive_read(&d, 0, 0, 300 * MB, NULL);
	near(tr_drive_read(&d, 200.1, 300 * MB, 200025, NULL), 0);
	near(tr_drive_read(&d, 200.1, 300 * MB + 200025, 2000, NULL), 0.0009997488);
}

static void reading_again_is_free_while_buffered(void)
{
	struct tr_drive d = new_drive(&round_drive);
	double seek;

	tr_drive_read(&d, 0, 300 * MB, 1 * MB, NULL);
	near(tr_drive_read(&d, d.ready, 300 * MB, 1 * MB, &seek), 0);
	near(seek, 0);
	/* Before the place that the head came to nothing is buffered. */
	tr_drive_read(&d, d.ready, 300 * MB - 2048, 2048, &seek);
	g_assert_cmpfloat(seek, >, 0.06);
}

static void old_data_leave_the_buffer(void)
{
	struct tr_drive d = new_drive(&round_drive);
	double seek;

	tr_drive_read(&d, 0, 0, 3 * MB, NULL);
	near(tr_drive_read(&d, d.ready, 1 * MB, 2048, &seek), 0);
	near(seek, 0);
	tr_drive_read(&d, d.ready, 1 * MB - 1, 2048, &seek);
	near(seek, 0.06 + 0.12 * sqrt(2.000001 / 800));
}

static void forward_gaps_are_read_through(void)
{
	struct tr_drive d = new_drive(&round_drive);
	double seek;

	tr_drive_read(&d, 0, 0, 300 * MB, NULL);
	/* 0.1 s of transfer from here are 200,025 bytes. */
	near(tr_drive_read(&d, 200, 300 * MB + 200000, 2048, &seek), 0.1010112459);
	near(seek, 0);

	d = new_drive(&round_drive);
	tr_drive_read(&d, 0, 0, 300 * MB, NULL);
	tr_drive_read(&d, 200, 300 * MB + 200100, 2048, &seek);
	near(seek, 0.06 + 0.12 * sqrt(0.2001 / 800));
}

static void first_request_finds_an_empty_buffer(void)
{
	struct tr_drive d = new_drive(&round_drive);

	near(tr_drive_read(&d, 100, 0, 1 * MB, NULL), 0.9975124224);
	near(d.ready, 100.9975124224);
}

static void requests_queue(void)
{
	struct tr_drive d = new_drive(&round_drive);

	double first = tr_drive_read(&d, 1, 0, 1 * MB, NULL);
	double second = tr_drive_read(&d, 1.5, 1 * MB, 1 * MB, NULL);
	near(d.ready, 1 + first + second);
	/* No time to read ahead: it never was idle. */
	near(second, 2 * (sqrt(1e12 + 2e10) - sqrt(1e12 + 1e10)) / 1e4);
}

static void empty_requests_take_no_time(void)
{
	struct tr_drive d = new_drive(&round_drive);
	double seek = 1;

	near(tr_drive_read(&d, 5, 400 * MB, 0, &seek), 0);
	near(seek, 0);
	near(d.ready, 0);
	near(d.head, 0);
}

static void nothing_lies_behind_the_end(void)
{
	struct tr_drive d = new_drive(&round_drive);

	near(tr_drive_read(&d, 0, 800 * MB, 2048, NULL), 0);
	near(tr_drive_read(&d, 0, UINT64_MAX, UINT64_MAX, NULL), 0);
	/* The part that is on the disc counts: 1500 bytes at 3 MB/s. */
	double seek;
	near(tr_drive_read(&d, 0, 800 * MB - 1500, UINT64_MAX, &seek) - seek, 0.0005);
	/* Nor does it read ahead there. */
	tr_drive_read(&d, 100, 800 * MB - 1500, 1500, NULL);
	near(d.head, 800e6);
}

static void flash_costs_per_request_only(void)
{
	struct tr_drive d = new_drive(tr_drive_find("usb2"));
	double seek;

	near(tr_drive_read(&d, 0, 0, 28 * MB, &seek), 1.0006);
	near(tr_drive_read(&d, 9, 700 * MB, 2800000, &seek), 0.1006);
	near(seek, 0);
	near(tr_drive_read(&d, 9, 0, 2800000, NULL), 0.1006);

	d = new_drive(tr_drive_find("bmc"));
	near(tr_drive_read(&d, 0, 4096, 4 * MB, NULL), 1.015);
}

static void hard_disk_begins_at_its_fast_edge(void)
{
	const struct tr_drive_params *hdd = tr_drive_find("hdd");
	struct tr_drive d;
	double seek;

	tr_drive_init(&d, hdd, UINT64_MAX);
	near(tr_drive_read(&d, 0, 0, 110 * MB, NULL), 1.0000412535 + 0.0001);
	near(tr_drive_read(&d, 1e6, 500000 * MB, 55 * MB, &seek) - seek, 1.0001);
	/* The head was 110 MB and the read-ahead from the edge. */
	near(seek, 0.0075 + 0.0145 * sqrt(1 - 112097152 / 500e9));
	g_assert_cmpfloat(seek, <, TR_DRIVE_LONG_SEEK);
}

static void idling_for_hours_keeps_to_the_limit(void)
{
	struct tr_drive d = new_drive(tr_drive_find("hdd"));

	tr_drive_read(&d, 0, 0, 4096, NULL);
	tr_drive_read(&d, 1e9, 4096, 4096, NULL);
	g_assert_cmpfloat(d.head, ==, 4096 + 2 * 1024 * 1024);
}

static void none_takes_no_time(void)
{
	struct tr_drive d = new_drive(tr_drive_find("none"));
	double seek;

	for (guint i = 0; i < 100; i++) {
		g_assert_cmpfloat(tr_drive_read(&d, i, (i * 37 % 100) * MB, 32768, &seek), ==, 0);
		g_assert_cmpfloat(seek, ==, 0);
	}
}

static void every_profile_is_sound(void)
{
	static const char *const names[] = {"cd", "dvd", "hdd", "usb2", "usb3", "bmc", "none"};

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		const struct tr_drive_params *p = tr_drive_find(names[i]);
		g_assert_nonnull(p);
		g_assert_null(tr_drive_check(p));
		g_assert_nonnull(p->about);
	}
	g_assert_null(tr_drive_profiles[G_N_ELEMENTS(names)].name);
	g_assert_null(tr_drive_find("floppy"));
	g_assert_null(tr_drive_find(""));
}

static void numbers_have_names(void)
{
	struct tr_drive_params p = *tr_drive_find("cd");

	g_assert_true(tr_drive_param_set(&p, "seek_min", 0.07));
	g_assert_cmpfloat(p.seek_min, ==, 0.07);
	g_assert_false(tr_drive_param_set(&p, "seek_min", -1));
	g_assert_false(tr_drive_param_set(&p, "seek_min", NAN));
	g_assert_false(tr_drive_param_set(&p, "seek_min", INFINITY));
	g_assert_false(tr_drive_param_set(&p, "name", 1));
	for (gsize i = 0; tr_drive_param_name(i); i++) {
		g_assert_true(tr_drive_param_set(&p, tr_drive_param_name(i), (double)i + 1));
		g_assert_cmpfloat(tr_drive_param_get(&p, i), ==, (double)i + 1);
	}
	g_assert_cmpfloat(p.rate_inner, ==, 1);
	g_assert_cmpfloat(p.gap, ==, 8);
}

static void numbers_must_go_together(void)
{
	struct tr_drive_params p = *tr_drive_find("cd");

	p.capacity = 0;
	g_assert_nonnull(tr_drive_check(&p));
	p = *tr_drive_find("cd");
	p.rate_outer = 0;
	g_assert_nonnull(tr_drive_check(&p));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define TEST(f) g_test_add_func("/drive/" #f, f)
	TEST(inner_edge_is_slow);
	TEST(middle_is_exact);
	TEST(outer_edge_is_fast);
	TEST(behind_the_capacity_the_rate_stays);
	TEST(cd_profile_inner_and_outer);
	TEST(sequential_reads_cost_their_bytes_once);
	TEST(shuffled_costs_more_than_sorted);
	TEST(buffered_data_are_there_at_once);
	TEST(a_short_pause_fills_part_of_the_buffer);
	TEST(reading_again_is_free_while_buffered);
	TEST(old_data_leave_the_buffer);
	TEST(forward_gaps_are_read_through);
	TEST(first_request_finds_an_empty_buffer);
	TEST(requests_queue);
	TEST(empty_requests_take_no_time);
	TEST(nothing_lies_behind_the_end);
	TEST(flash_costs_per_request_only);
	TEST(hard_disk_begins_at_its_fast_edge);
	TEST(idling_for_hours_keeps_to_the_limit);
	TEST(none_takes_no_time);
	TEST(every_profile_is_sound);
	TEST(numbers_have_names);
	TEST(numbers_must_go_together);
	return g_test_run();
}
