/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Half-open intervals of unsigned numbers, merged where they overlap.
 *
 * What several files share must move as one: equal runs of blocks of duplicate files, and the runs
 * inside of other runs that some tools make.
 */
#ifndef RO_SPLICE_SPANS_H
#define RO_SPLICE_SPANS_H

#include <glib.h>

typedef struct {
	guint64 start, end; /* start < end */
} ro_span;

/* Sorts an array of ro_span and merges those that have a number in common; neighbours that only
 * touch stay apart. */
void ro_spans_merge(GArray *spans);

#endif
