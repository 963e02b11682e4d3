/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <stdio.h>

#include "reorder/image_jobs.h"
#include "reorder/recording.h"
#include "reorder/sort_file.h"
#include "reorder/util/error.h"
#include "reorder/util/json.h"
#include "reorder/util/output.h"

static GString *format_plan(const ro_image_job *job, const char *image, ro_format format)
{
	const img_tree *tree = job->root->tree;
	guint skipped = 0;
	GString *text;

	if (format == RO_FORMAT_PLAN)
		return ro_plan_format(job->plan, tree, image);
	if (format == RO_FORMAT_MKSQUASHFS)
		text = ro_sort_file_mksquashfs(job->plan, tree, NULL, NULL, &skipped);
	else
		text = ro_sort_file_gensquashfs(job->plan, tree, &skipped);
	if (skipped > 0)
		ro_warn("%u files have names that a sort file cannot hold and are left out",
			skipped);
	return text;
}

/* One plan behind the other, each with the name of its image if there are several images. */
static GString *format_plans(const ro_image_jobs *jobs, GError **error)
{
	ro_format format = jobs->options->format;
	gboolean several = jobs->list->len > 1;
	GString *all = g_string_new(NULL);
	guint count = 0;

	for (guint i = 0; i < jobs->list->len; i++) {
		const ro_image_job *job = RO_IMAGE_JOB(jobs, i);
		const char *path = job->root->image->file->path;

		if (!job->plan)
			continue;
		GString *text = format_plan(job, several ? path : NULL, format);
		g_string_append_len(all, text->str, (gssize)text->len);
		g_string_free(text, TRUE);
		count++;
	}
	if (count <= 1 || format == RO_FORMAT_PLAN)
		return all;
	ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: files of %u images are to be reordered, and a sort file is for one; use --format plan",
		jobs->input->iso->path, count);
	g_string_free(all, TRUE);
	return NULL;
}

static gboolean write_text(const GString *text, const ro_options *options, GError **error)
{
	if (options->output && !g_str_equal(options->output, "-"))
		return ro_output_write(
			options->output, options->force, text->str, (gssize)text->len, error);
	if (fwrite(text->str, 1, text->len, stdout) != text->len || fflush(stdout) != 0)
		return ro_fail(error, RO_ERROR_FAILED, "standard output: cannot be written");
	return TRUE;
}

static void json_members(JsonBuilder *b, const ro_plan *plan)
{
	ro_json_int(b, "files", plan->files->len);
	ro_json_int(b, "hot_files", plan->hot_files);
	ro_json_int(b, "hot_bytes", (gint64)plan->hot_bytes);
	ro_json_int(b, "hot_stored_bytes", (gint64)plan->hot_stored);
	ro_json_int(b, "unmatched", plan->unmatched);
	ro_differences_json(&plan->differences, b);
}

static gboolean write_json(const ro_image_jobs *jobs, const char *path, GError **error)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	json_builder_begin_object(b);
	if (jobs->list->len == 1)
		json_members(b, RO_IMAGE_JOB(jobs, 0)->plan);
	json_builder_set_member_name(b, "images");
	json_builder_begin_array(b);
	for (guint i = 0; i < jobs->list->len; i++) {
		const ro_image_job *job = RO_IMAGE_JOB(jobs, i);

		json_builder_begin_object(b);
		ro_json_bytes(b, "path", job->root->image->file->path);
		if (job->plan)
			json_members(b, job->plan);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	return ro_json_write(b, path, error);
}

static gboolean make_plans(ro_image_jobs *jobs, const tr_trace *trace, GError **error)
{
	const ro_options *options = jobs->options;
	GString *text;

	ro_image_jobs_start(jobs);
	if (!ro_image_jobs_plan(jobs, trace, error))
		return FALSE;
	text = format_plans(jobs, error);
	if (!text)
		return FALSE;
	gboolean ok = write_text(text, options, error);
	g_string_free(text, TRUE);
	return ok && (!options->json || write_json(jobs, options->json, error));
}

gboolean ro_command_plan(const ro_options *options, GError **error)
{
	g_autoptr(tr_trace) trace = NULL;
	ro_input input = {0};
	ro_image_jobs jobs = {.options = options, .input = &input};

	if (options->traces->len > 0) {
		trace = ro_recording_read_traces(options, error);
		if (!trace)
			return FALSE;
	}
	gboolean ok =
		ro_input_open(&input, options->input, error) && make_plans(&jobs, trace, error);
	ro_image_jobs_clear(&jobs);
	ro_input_clear(&input);
	return ok;
}
