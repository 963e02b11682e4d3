/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/compare_run.h"

#include "reorder/recording.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"
#include "trace/report.h"

static tr_side side_of(const ro_input *input)
{
	return (tr_side){
		.iso = input->iso,
		.entry = li_iso_default_entry(input->iso),
		.layers = (const img_layer *)input->layers->data,
		.layer_count = input->layers->len,
	};
}

static tr_compare_job compare_job(const ro_options *options, const ro_input *a, const ro_input *b,
	const tr_drive_choice *drive)
{
	return (tr_compare_job){
		.sides = {side_of(a), side_of(b)},
		.options = ro_recording_boot_job(options, a),
		.drive = &drive->params,
		.processor = options->processor,
		.slow_motion = options->slow_motion,
		.firmware = options->firmware,
		.runs = options->runs,
	};
}

static gboolean have_entries(const tr_compare_job *job, GError **error)
{
	for (guint i = 0; i < 2; i++)
		if (!job->sides[i].entry)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: no boot entry with a kernel was found",
				job->sides[i].iso->path);
	return TRUE;
}

/* Fails before the boots if the report could not be written behind them. */
static gboolean check_report(const ro_options *options, GError **error)
{
	if (!options->report)
		return TRUE;
	g_autoptr(ro_output) probe = ro_output_new(options->report, options->force, -1, error);
	return probe != NULL;
}

static gboolean choose_drive(const ro_options *options, tr_drive_choice *drive, GError **error)
{
	return tr_drive_choose(options->drive ? options->drive : "cd", drive, error);
}

gboolean ro_compare_check(
	const ro_options *options, const ro_input *a, const ro_input *b, GError **error)
{
	tr_drive_choice drive;
	gboolean ok = choose_drive(options, &drive, error) && check_report(options, error);

	if (ok) {
		tr_compare_job job = compare_job(options, a, b ? b : a, &drive);
		ok = have_entries(&job, error) && tr_compare_check(&job, error);
	}
	tr_drive_choice_clear(&drive);
	return ok;
}

static gboolean write_report(
	const ro_options *options, const tr_comparison *comparison, GError **error)
{
	if (!options->report)
		return TRUE;
	GString *html = tr_report_html(comparison);
	gboolean ok = ro_output_write(
		options->report, options->force, html->str, (gssize)html->len, error);
	g_string_free(html, TRUE);
	return ok;
}

static gboolean is_complete(const tr_comparison *comparison)
{
	return comparison->sides[1].drives && comparison->sides[1].drives->len > 0;
}

gboolean ro_compare_make(ro_compare_run *run, const ro_options *options, const ro_input *a,
	const ro_input *b, const char *workdir, ro_progress *progress, GError **error)
{
	*run = (ro_compare_run){0};
	if (!choose_drive(options, &run->drive, error))
		return FALSE;
	tr_compare_job job = compare_job(options, a, b, &run->drive);
	job.options.workdir = workdir;
	job.options.progress = progress;
	gboolean ok = have_entries(&job, error) && tr_compare_run(&job, &run->comparison, error);
	run->complete = is_complete(&run->comparison);
	if (run->complete)
		ok = write_report(options, &run->comparison, ok ? error : NULL) && ok;
	return ok;
}

void ro_compare_clear(ro_compare_run *run)
{
	tr_comparison_clear(&run->comparison);
	tr_drive_choice_clear(&run->drive);
}
