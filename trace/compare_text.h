/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences about a comparison that the terminal and the report share. All owned by the caller.
 */
#ifndef TR_COMPARE_TEXT_H
#define TR_COMPARE_TEXT_H

#include "trace/compare.h"

/* "B starts 1.70 times as fast as A" and its interval, or that the difference is within the noise.
 */
char *tr_comparison_headline(const tr_comparison *comparison);

/* "1.62 to 1.79", "within the noise" …; what is to be said beside a ratio. */
char *tr_ratio_text(const tr_ratio *ratio);

/* "cd (CD-ROM 24x, CAV), slow motion by 4.71 …, 3 boots of each". */
char *tr_comparison_conditions(const tr_comparison *comparison);

/* What order cannot help with, and other things to know; of char *. */
GPtrArray *tr_comparison_notes(const tr_comparison *comparison);

/* "44.6", "1,234": a metric's value; bytes are in MB. */
char *tr_metric_text(tr_metric metric, double value);

/* "kernel to end", "long seeks"; static. */
const char *tr_row_title(tr_row row);
const char *tr_metric_title(tr_metric metric);

#endif
