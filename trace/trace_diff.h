/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two traces have in common and what only one of them has, by class of path. */
#ifndef TR_TRACE_DIFF_H
#define TR_TRACE_DIFF_H

#include "trace/path_class.h"

typedef struct {
	guint a, b; /* paths in each */
	guint both;
	/* Kendall's tau distance of the orders of those in both, normalised: the share of pairs
	 * that stand in the other order. 0: the same order; 1: the reverse; chance gives 0.5.
	 * Negative: fewer than two. */
	double distance;
} tr_diff_row;

typedef struct {
	tr_diff_row classes[TR_CLASS_COUNT], all;
	GPtrArray *only_a, *only_b; /* of const tr_event *, in order; the traces own the events */
	/* Of only_a: later than the end of B's boot; of only_b: of A's. 0 where that is not known.
	 */
	guint after_a, after_b;
} tr_diff;

/* Clear it. */
void tr_diff_make(const tr_trace *a, const tr_trace *b, tr_diff *diff);
void tr_diff_clear(tr_diff *diff);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(tr_diff, tr_diff_clear)

#endif
