/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The data area of an image as runs of stored blocks: what moves as one. A run is all the blocks of
 * a file, of several files that share blocks, or a fragment block that stays as it is. Bytes that
 * no file refers to are in no run.
 */
#ifndef RO_SPLICE_RUNS_H
#define RO_SPLICE_RUNS_H

#include "reorder/splice/fragments.h"

#define RO_SPLICE_COLD G_MAXUINT32 /* the rank of what is not in the plan */

typedef struct {
	ro_span span;     /* in the old image */
	guint32 rank;     /* lowest place in plan->files of a file with blocks or a tail in it */
	guint64 position; /* in the new image, once it is written */
} ro_splice_run;

/* Array of ro_splice_run in the order of the old image. */
GArray *ro_splice_runs_new(const ro_splice_fragments *fragments, const ro_plan *plan);

/* The run that holds the byte at position; there has to be one. */
guint ro_splice_runs_find(const GArray *runs, guint64 position);

/* Where a byte of the old image is in the new one. */
guint64 ro_splice_runs_move(const GArray *runs, guint64 position);

#endif
