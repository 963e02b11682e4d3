/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <math.h>

#include "trace/statistics.h"

#define COUNT(array) ((guint)G_N_ELEMENTS(array))

static void near(double got, double wanted)
{
	g_assert_cmpfloat_with_epsilon(got, wanted, 1e-9);
}

static tr_ratio ratio(const double *a, guint a_count, const double *b, guint b_count)
{
	tr_ratio r;

	tr_ratio_of(a, a_count, b, b_count, &r);
	g_assert_cmpfloat(r.low, <=, r.value);
	g_assert_cmpfloat(r.high, >=, r.value);
	return r;
}
#define RATIO(a, b) ratio(a, COUNT(a), b, COUNT(b))

static void an_odd_number_of_runs(void)
{
	static const double values[] = {5, 1, 3};
	tr_statistics s;

	tr_statistics_of(values, 3, &s);
	g_assert_cmpuint(s.count, ==, 3);
	near(s.median, 3);
	near(s.mean, 3);
	near(s.minimum, 1);
	near(s.maximum, 5);
	near(s.deviation, 2);
}

static void an_even_number_of_runs(void)
{
	static const double values[] = {2, 4, 4, 10};
	tr_statistics s;

	tr_statistics_of(values, 4, &s);
	near(s.median, 4);
	near(s.mean, 5);
	near(s.deviation, sqrt((9 + 1 + 1 + 25) / 3.0));
}

static void one_run_has_no_spread(void)
{
	static const double value[] = {7}, two[] = {3.5, 3.5};
	tr_statistics s;

	tr_statistics_of(value, 1, &s);
	near(s.median, 7);
	near(s.deviation, 0);
	tr_ratio r = RATIO(value, two);
	g_assert_cmpint(r.verdict, ==, TR_RATIO_SINGLE);
	near(r.value, 2);
	near(r.low, 2);
	near(r.high, 2);
}

static void a_clear_difference(void)
{
	static const double a[] = {40, 41, 42}, b[] = {20, 20.5, 21};
	tr_ratio r = RATIO(a, b);

	g_assert_cmpint(r.verdict, ==, TR_RATIO_BETTER);
	near(r.value, 2);
	/* So few runs: the interval reaches from one extreme of the resamples to the other. */
	near(r.low, 40 / 21.0);
	near(r.high, 42 / 20.0);
	r = RATIO(b, a);
	g_assert_cmpint(r.verdict, ==, TR_RATIO_WORSE);
	near(r.value, 0.5);
}

static void the_same_twice_is_noise(void)
{
	static const double a[] = {30.1, 30.4, 29.9, 30.2}, b[] = {30.0, 30.3, 30.25, 30.6};
	tr_ratio r = RATIO(a, b);

	g_assert_cmpint(r.verdict, ==, TR_RATIO_NOISE);
	g_assert_cmpfloat(r.low, <, 1);
	g_assert_cmpfloat(r.high, >, 1);
	g_assert_cmpfloat(r.high - r.low, <, 0.05);
}

static void an_outlier_widens_and_does_not_decide(void)
{
	static const double a[] = {30, 30.2, 30.1, 30.3, 55}, b[] = {30.1, 30.2, 30, 30.3, 30.2};
	tr_ratio r = RATIO(a, b);

	g_assert_cmpint(r.verdict, ==, TR_RATIO_NOISE);
	g_assert_cmpfloat(fabs(r.value - 1), <, 0.01);
	g_assert_cmpfloat(r.high, >, 1.5);
}

/* With normal noise the interval holds the true ratio in about 95 of 100 comparisons; a plain
 * percentile interval of 4 runs does so in some 85. */
static void the_interval_is_wide_enough_for_few_runs(void)
{
	GRand *rand = g_rand_new_with_seed(4);
	guint held = 0;

	for (guint trial = 0; trial < 60; trial++) {
		double side[2][4];
		for (guint i = 0; i < 8; i++) {
			double sum = -6; /* of 12 even ones: variance 1 */
			for (guint j = 0; j < 12; j++)
				sum += g_rand_double(rand);
			side[i / 4][i % 4] = 100 + sum;
		}
		held += RATIO(side[0], side[1]).verdict == TR_RATIO_NOISE;
	}
	g_rand_free(rand);
	g_assert_cmpuint(held, >=, 54);
}

static void the_same_numbers_give_the_same_interval(void)
{
	static const double a[] = {31, 30.4, 29.9, 30.2, 33}, b[] = {28, 29.3, 28.25, 27.6, 30};
	tr_ratio first = RATIO(a, b), second = RATIO(a, b);

	g_assert_cmpfloat(first.low, ==, second.low);
	g_assert_cmpfloat(first.high, ==, second.high);
}

static void nothing_against_nothing(void)
{
	static const double zeros[] = {0, 0, 0}, ones[] = {1, 1, 1};
	tr_ratio r = RATIO(zeros, zeros);

	g_assert_cmpint(r.verdict, ==, TR_RATIO_NONE);
	near(r.value, 1);
	r = RATIO(zeros, ones);
	near(r.value, 0);
	g_assert_cmpint(r.verdict, ==, TR_RATIO_WORSE);
	tr_ratio_of(ones, 3, zeros, 3, &r);
	g_assert_true(isinf(r.value));
	g_assert_cmpint(r.verdict, ==, TR_RATIO_BETTER);
	tr_ratio_of(ones, 3, NULL, 0, &r);
	g_assert_cmpint(r.verdict, ==, TR_RATIO_NONE);
}

static void equal_counts_are_within_the_noise(void)
{
	static const double a[] = {260, 260, 260}, b[] = {260, 260, 260};
	tr_ratio r = RATIO(a, b);

	g_assert_cmpint(r.verdict, ==, TR_RATIO_NOISE);
	near(r.low, 1);
	near(r.high, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/statistics/odd", an_odd_number_of_runs);
	g_test_add_func("/statistics/even", an_even_number_of_runs);
	g_test_add_func("/statistics/one-run", one_run_has_no_spread);
	g_test_add_func("/ratio/clear", a_clear_difference);
	g_test_add_func("/ratio/same-twice", the_same_twice_is_noise);
	g_test_add_func("/ratio/outlier", an_outlier_widens_and_does_not_decide);
	g_test_add_func("/ratio/coverage", the_interval_is_wide_enough_for_few_runs);
	g_test_add_func("/ratio/deterministic", the_same_numbers_give_the_same_interval);
	g_test_add_func("/ratio/zeros", nothing_against_nothing);
	g_test_add_func("/ratio/equal-counts", equal_counts_are_within_the_noise);
	return g_test_run();
}
