/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	RESAMPLES = 20000,
	RUNS_MAX = 1000, /* of a side; more do not make the interval better */
};

static const guint64 seed = 20061; /* any number will do, but always the same */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of_sorted(const double *values, guint count)
{
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Sorts the values. */
static double take_median(double *values, guint count)
{
	qsort(values, count, sizeof *values, compare_doubles);
	return median_of_sorted(values, count);
}

static double *copy(const double *values, guint count)
{
	return g_memdup2(values, count * sizeof *values);
}

void tr_statistics_of(const double *values, guint count, tr_statistics *statistics)
{
	g_autofree double *sorted = copy(values, count);
	double sum = 0, squares = 0;

	*statistics = (tr_statistics){.count = count};
	statistics->median = take_median(sorted, count);
	statistics->minimum = sorted[0];
	statistics->maximum = sorted[count - 1];
	for (guint i = 0; i < count; i++)
		sum += sorted[i];
	statistics->mean = sum / count;
	for (guint i = 0; i < count; i++)
		squares += pow(sorted[i] - statistics->mean, 2);
	statistics->deviation = count > 1 ? sqrt(squares / (count - 1)) : 0;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static guint64 next_random(guint64 *state)
{
	guint64 z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double resampled_median(const double *values, guint count, double *room, guint64 *state)
{
	for (guint i = 0; i < count; i++)
		room[i] = values[next_random(state) % count];
	return take_median(room, count);
}

static double ratio_of(double a, double b)
{
	if (b > 0)
		return a / b;
	return a > 0 ? INFINITY : 1;
}

/* The 97.5 % point of Student's t; exact to three digits where a table has it. */
static double t_quantile(guint freedom)
{
	static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
		2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

	if (freedom <= G_N_ELEMENTS(table))
		return table[freedom - 1];
	return 1.96 + 2.5 / freedom;
}

/* The share of the resamples to cut off at each end. */
static double tail_share(guint a_count, guint b_count)
{
	guint fewer = MIN(a_count, b_count);
	double expansion = sqrt(fewer / (fewer - 1.0)) * t_quantile(a_count + b_count - 2);

	return erfc(expansion / sqrt(2)) / 2;
}

static void cut_interval(
	const double *a, guint a_count, const double *b, guint b_count, tr_ratio *ratio)
{
	g_autofree double *ratios = g_new(double, RESAMPLES);
	g_autofree double *room = g_new(double, MAX(a_count, b_count));
	guint64 state = seed;

	for (guint i = 0; i < RESAMPLES; i++) {
		double of_a = resampled_median(a, a_count, room, &state);
		ratios[i] = ratio_of(of_a, resampled_median(b, b_count, room, &state));
	}
	qsort(ratios, RESAMPLES, sizeof *ratios, compare_doubles);
	guint cut = (guint)(tail_share(a_count, b_count) * RESAMPLES);
	ratio->low = ratios[cut];
	ratio->high = ratios[RESAMPLES - 1 - cut];
}

static tr_verdict judge(const tr_ratio *ratio)
{
	if (ratio->low > 1)
		return TR_RATIO_BETTER;
	if (ratio->high < 1)
		return TR_RATIO_WORSE;
	return TR_RATIO_NOISE;
}

void tr_ratio_of(const double *a, guint a_count, const double *b, guint b_count, tr_ratio *ratio)
{
	tr_statistics of_a, of_b;

	a_count = MIN(a_count, RUNS_MAX);
	b_count = MIN(b_count, RUNS_MAX);
	*ratio = (tr_ratio){.value = 1, .low = 1, .high = 1};
	if (a_count == 0 || b_count == 0)
		return;
	tr_statistics_of(a, a_count, &of_a);
	tr_statistics_of(b, b_count, &of_b);
	if (of_a.maximum <= 0 && of_b.maximum <= 0)
		return;
	ratio->value = ratio->low = ratio->high = ratio_of(of_a.median, of_b.median);
	ratio->verdict = TR_RATIO_SINGLE;
	if (a_count < 2 || b_count < 2)
		return;
	cut_interval(a, a_count, b, b_count, ratio);
	ratio->verdict = judge(ratio);
}

const char *tr_verdict_name(tr_verdict verdict)
{
	static const char *const names[] = {
		[TR_RATIO_NONE] = "none",
		[TR_RATIO_SINGLE] = "single",
		[TR_RATIO_NOISE] = "noise",
		[TR_RATIO_BETTER] = "better",
		[TR_RATIO_WORSE] = "worse",
	};

	return names[verdict];
}
