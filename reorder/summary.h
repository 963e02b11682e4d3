/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run found and did, on one screen and as JSON. */
#ifndef RO_SUMMARY_H
#define RO_SUMMARY_H

#include <stdio.h>

#include "iso/writer.h"
#include "reorder/input.h"
#include "reorder/plan.h"
#include "reorder/preload.h"
#include "reorder/recording.h"
#include "reorder/util/json.h"
#include "reorder/verify.h"
#include "trace/compare.h"

/* Everything is borrowed. */
typedef struct {
	const ro_input *input;
	const ro_recording *recording;
	const ro_plan *plan;         /* NULL: the verb trace */
	const char *engine, *writer; /* names */
	const char *writer_reason;   /* why that one; NULL: it was asked for */
	const char *output;
	guint64 output_size;                         /* bytes */
	guint64 image_size_before, image_size_after; /* bytes */
	const ro_verify_result *verified;
	const li_write_result *written;
	const ro_preload *preload;       /* NULL, or of this run */
	const tr_comparison *comparison; /* NULL: not compared */
	const ro_progress *progress;     /* the stages and their times */
} ro_summary;

void ro_summary_print(const ro_summary *summary, FILE *out);
void ro_summary_json(const ro_summary *summary, JsonBuilder *builder);

#endif
