/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as the options ask for it: for the verb, and behind the whole job. */
#ifndef RO_COMPARE_RUN_H
#define RO_COMPARE_RUN_H

#include "reorder/input.h"
#include "reorder/options.h"
#include "reorder/util/progress.h"
#include "trace/compare.h"
#include "trace/drive_file.h"

typedef struct {
	tr_comparison comparison;
	tr_drive_choice drive; /* whose texts the comparison borrows */
	gboolean complete;     /* it can be reported, even where the run has failed */
} ro_compare_run;

/* What would make it fail later, before any long work. b may be NULL: it is not there yet. */
gboolean ro_compare_check(
	const ro_options *options, const ro_input *a, const ro_input *b, GError **error);

/* Compares, and writes the report that is asked for. Clear it in either case. */
gboolean ro_compare_make(ro_compare_run *run, const ro_options *options, const ro_input *a,
	const ro_input *b, const char *workdir, ro_progress *progress, GError **error);
void ro_compare_clear(ro_compare_run *run);

#endif
