/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <stdio.h>

#include "reorder/input.h"
#include "reorder/recording.h"
#include "reorder/sort_file.h"
#include "reorder/util/error.h"
#include "reorder/util/json.h"
#include "reorder/util/output.h"

static GString *format_plan(const ro_plan *plan, const img_tree *tree, ro_format format)
{
	guint skipped = 0;
	GString *text;

	if (format == RO_FORMAT_PLAN)
		return ro_plan_format(plan, tree);
	if (format == RO_FORMAT_MKSQUASHFS)
		text = ro_sort_file_mksquashfs(plan, tree, NULL, NULL, &skipped);
	else
		text = ro_sort_file_gensquashfs(plan, tree, &skipped);
	if (skipped > 0)
		ro_warn("%u files have names that a sort file cannot hold and are left out",
			skipped);
	return text;
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

static gboolean write_json(const ro_plan *plan, const char *path, GError **error)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	json_builder_begin_object(b);
	ro_json_int(b, "files", plan->files->len);
	ro_json_int(b, "hot_files", plan->hot_files);
	ro_json_int(b, "hot_bytes", (gint64)plan->hot_bytes);
	ro_json_int(b, "hot_stored_bytes", (gint64)plan->hot_stored);
	ro_json_int(b, "unmatched", plan->unmatched);
	json_builder_end_object(b);
	return ro_json_write(b, path, error);
}

static gboolean make_plan(
	const ro_options *options, const ro_input *input, const tr_trace *trace, GError **error)
{
	ro_plan_options plan_options = {options->order, options->layout, options->seed,
		(const char *const *)options->also->pdata, input->image->file->path};
	g_autoptr(ro_plan) plan = ro_plan_new(input->tree, trace, &plan_options, error);

	if (!plan)
		return FALSE;
	GString *text = format_plan(plan, input->tree, options->format);
	gboolean ok = write_text(text, options, error);
	g_string_free(text, TRUE);
	return ok && (!options->json || write_json(plan, options->json, error));
}

gboolean ro_command_plan(const ro_options *options, GError **error)
{
	g_autoptr(tr_trace) trace = NULL;
	ro_input input = {0};

	if (options->traces->len > 0) {
		trace = ro_recording_read_traces(options, error);
		if (!trace)
			return FALSE;
	}
	gboolean ok = ro_input_open(&input, options->input, error) &&
		      make_plan(options, &input, trace, error);
	ro_input_clear(&input);
	return ok;
}
