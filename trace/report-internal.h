/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the report. Each appends to the page. */
#ifndef TR_REPORT_INTERNAL_H
#define TR_REPORT_INTERNAL_H

#include "trace/compare.h"

/* report_style.c */
extern const char tr_report_style[];

/* report_map.c: the reads over time, both sides on the same scales. */
void tr_report_maps(GString *html, const tr_comparison *comparison);

/* report_bars.c */
void tr_report_phase_bars(GString *html, const tr_comparison *comparison);
void tr_report_drives(GString *html, const tr_comparison *comparison);

/* report_tables.c */
void tr_report_results(GString *html, const tr_comparison *comparison);
void tr_report_subjects(GString *html, const tr_comparison *comparison);

/* 'A' or 'B'. */
static inline char tr_report_letter(guint side)
{
	return side ? 'B' : 'A';
}

/* A step of 1, 2 or 5 times a power of ten that cuts the range into at most so many pieces. */
double tr_report_tick_step(double range, guint pieces);

double tr_report_median(const tr_compared *side, tr_row row, tr_metric metric);

#endif
