/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <stdio.h>

#include "reorder/boot_segment.h"
#include "reorder/input.h"
#include "reorder/recording.h"
#include "reorder/summary.h"
#include "reorder/util/error.h"
#include "reorder/util/json.h"
#include "reorder/util/output.h"

typedef struct {
	ro_input input;
	ro_recording recording;
	ro_progress *progress;
	ro_workdir *workdir;
} trace_run;

static gboolean report(const trace_run *run, const ro_options *options, GError **error)
{
	ro_summary summary = {
		.input = &run->input, .recording = &run->recording, .progress = run->progress};

	if (!ro_recording_save(run->recording.boot.trace, options->output, options->force, error))
		return FALSE;
	if (options->json) {
		g_autoptr(JsonBuilder) builder = json_builder_new();
		ro_summary_json(&summary, builder);
		if (!ro_json_write(builder, options->json, error))
			return FALSE;
	}
	/* standard output may be the trace itself */
	if (!options->quiet)
		ro_summary_print(&summary, stderr);
	return TRUE;
}

static gboolean run_stages(trace_run *run, const ro_options *options, GError **error)
{
	if (!ro_input_open(&run->input, options->input, error) ||
		!ro_recording_check(options, &run->input, error))
		return FALSE;
	g_autofree char *parent = ro_work_parent(options, options->output);
	run->workdir = ro_workdir_new(parent, error);
	if (!run->workdir)
		return FALSE;
	if (options->keep_work)
		ro_workdir_keep(run->workdir);
	return ro_recording_make(&run->recording, options, &run->input,
		       ro_workdir_path(run->workdir), run->progress, error) &&
	       report(run, options, error);
}

/* Fails before the boot if the output could not be written behind it. */
static gboolean check_output(const ro_options *options, GError **error)
{
	if (!options->output || g_str_equal(options->output, "-"))
		return TRUE;
	g_autoptr(ro_output) probe = ro_output_new(options->output, options->force, -1, error);
	return probe != NULL;
}

gboolean ro_command_trace(const ro_options *options, GError **error)
{
	if (options->segment)
		return ro_boot_segment_make(options, error);
	trace_run run = {.progress = ro_progress_new(options->quiet, options->verbose)};
	gboolean ok = check_output(options, error) && run_stages(&run, options, error);

	ro_recording_clear(&run.recording);
	ro_workdir_free(run.workdir);
	ro_input_clear(&run.input);
	ro_progress_free(run.progress);
	return ok;
}
