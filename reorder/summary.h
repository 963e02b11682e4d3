/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run found and did, on one screen and as JSON. */
#ifndef RO_SUMMARY_H
#define RO_SUMMARY_H

#include <stdio.h>

#include "iso/writer.h"
#include "reorder/image_jobs.h"
#include "reorder/preload.h"
#include "reorder/recording.h"
#include "reorder/util/json.h"
#include "trace/compare.h"

/* Everything is borrowed. */
typedef struct {
	const ro_input *input;
	const ro_recording *recording;
	const ro_image_jobs *images; /* all done; NULL: the verb trace, which has none of these */
	const char *writer;          /* its name */
	const char *writer_reason;   /* why that one; NULL: it was asked for */
	const char *output;
	guint64 output_size; /* bytes */
	const li_write_result *written;
	const ro_preload *preload;       /* NULL, or of this run */
	const tr_comparison *comparison; /* NULL: not compared */
	const ro_progress *progress;     /* the stages and their times */
} ro_summary;

void ro_summary_print(const ro_summary *summary, FILE *out);
void ro_summary_json(const ro_summary *summary, JsonBuilder *builder);

#endif
