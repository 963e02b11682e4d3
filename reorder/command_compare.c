/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <stdio.h>

#include "reorder/compare_run.h"
#include "reorder/compare_summary.h"
#include "reorder/recording.h"
#include "reorder/util/json.h"
#include "reorder/util/output.h"

typedef struct {
	ro_input a, b;
	ro_progress *progress;
	ro_workdir *workdir;
	ro_compare_run run;
} compare_job;

static gboolean prepare(compare_job *job, const ro_options *options, GError **error)
{
	if (!ro_input_open(&job->a, options->input, error) ||
		!ro_input_open(&job->b, options->other, error) ||
		!ro_compare_check(options, &job->a, &job->b, error))
		return FALSE;
	g_autofree char *parent = ro_work_parent(options, options->report);
	job->workdir = ro_workdir_new(parent, error);
	if (job->workdir && options->keep_work)
		ro_workdir_keep(job->workdir);
	return job->workdir != NULL;
}

static gboolean report(const compare_job *job, const ro_options *options, GError **error)
{
	const tr_comparison *comparison = &job->run.comparison;
	gboolean json_on_stdout = g_strcmp0(options->json, "-") == 0;

	if (!job->run.complete)
		return TRUE;
	if (options->json) {
		g_autoptr(JsonBuilder) builder = json_builder_new();
		ro_compare_summary_json(comparison, builder);
		if (!ro_json_write(builder, options->json, error))
			return FALSE;
	}
	if (!options->quiet)
		ro_compare_summary_print(comparison, json_on_stdout ? stderr : stdout);
	return TRUE;
}

gboolean ro_command_compare(const ro_options *options, GError **error)
{
	compare_job job = {.progress = ro_progress_new(options->quiet, options->verbose)};
	gboolean ok = prepare(&job, options, error) &&
		      ro_compare_make(&job.run, options, &job.a, &job.b,
			      ro_workdir_path(job.workdir), job.progress, error);

	ok = report(&job, options, ok ? error : NULL) && ok;
	ro_compare_clear(&job.run);
	ro_workdir_free(job.workdir);
	ro_input_clear(&job.a);
	ro_input_clear(&job.b);
	ro_progress_free(job.progress);
	return ok;
}
