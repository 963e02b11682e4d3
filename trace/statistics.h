/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The statistics of a few repeated measurements. Deterministic: the random numbers of the bootstrap
 * come from a generator of our own with a given seed, so that a report can be computed again from
 * the single runs in its JSON.
 */
#ifndef TR_STATISTICS_H
#define TR_STATISTICS_H

#include <glib.h>

typedef struct {
	guint count;
	double median, mean, minimum, maximum;
	double deviation; /* standard deviation of the sample (n - 1); 0 for a single value */
} tr_statistics;

/* count >= 1. */
void tr_statistics_of(const double *values, guint count, tr_statistics *statistics);

typedef enum {
	TR_RATIO_NONE,   /* there is none: zeros */
	TR_RATIO_SINGLE, /* only one run on a side: no interval, nothing can be said about noise */
	TR_RATIO_NOISE,  /* the interval includes 1 */
	TR_RATIO_BETTER, /* the whole interval is above 1: B needs less */
	TR_RATIO_WORSE,  /* the whole interval is below 1 */
} tr_verdict;

typedef struct {
	double value;     /* median of A / median of B; 1 if both are 0 */
	double low, high; /* 95 % interval; both the value if there is none */
	tr_verdict verdict;
} tr_ratio;

/*
 * Bootstrap interval of the ratio of the medians: both sides are drawn anew with replacement, and
 * the interval is cut out of the ratios that come of it. Of a few runs the plain percentile
 * interval is too narrow; it is expanded as a t interval of as many runs is wider than a normal one
 * (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", 4.1.1), with the degrees of
 * freedom of both sides. No value may be negative.
 */
void tr_ratio_of(const double *a, guint a_count, const double *b, guint b_count, tr_ratio *ratio);

/* "noise", "better" …; static. */
const char *tr_verdict_name(tr_verdict verdict);

#endif
