/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/recording.h"

#include <stdio.h>

#include "reorder/util/error.h"
#include "reorder/util/output.h"

/* Under emulation a booting guest can compute for many seconds without opening anything new. */
static const tr_until default_until = {.kind = TR_UNTIL_IDLE, .seconds = 20};

tr_boot_job ro_recording_boot_job(const ro_options *options, const ro_input *input)
{
	gboolean given = options->untils->len > 0;

	return (tr_boot_job){
		.iso = input->iso,
		.entry = input->iso ? li_iso_default_entry(input->iso) : NULL,
		.layers = input->layers ? (const img_layer *)input->layers->data : NULL,
		.layer_count = input->layers ? input->layers->len : 0,
		.accel = options->accel,
		.memory = options->memory,
		.cpus = options->cpus,
		.hardware = options->hardware,
		.timeout = options->timeout,
		.untils = given ? (const tr_until *)options->untils->data : &default_until,
		.until_count = given ? options->untils->len : 1,
	};
}

/* What is compared is always watched by the agent. */
static tr_boot_job recording_job(const ro_options *options, const ro_input *input)
{
	tr_boot_job job = ro_recording_boot_job(options, input);

	job.tracer = options->tracer;
	return job;
}

static gboolean have_entry(const tr_boot_job *job, GError **error)
{
	if (job->entry)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: no boot entry with a kernel was found; record the boot elsewhere and use --trace",
		job->iso->path);
}

gboolean ro_recording_check(const ro_options *options, const ro_input *input, GError **error)
{
	tr_boot_job job = recording_job(options, input);

	if (options->traces->len > 0)
		return TRUE;
	if (options->frames)
		return TRUE;
	return options->read_log || (have_entry(&job, error) && tr_boot_check(&job, error));
}

static void free_trace(gpointer trace)
{
	tr_trace_free(trace);
}

tr_trace *ro_recording_read_traces(const ro_options *options, GError **error)
{
	g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(free_trace);

	for (guint i = 0; i < options->traces->len; i++) {
		tr_trace *trace = tr_trace_read(g_ptr_array_index(options->traces, i), error);
		if (!trace)
			return NULL;
		g_ptr_array_add(traces, trace);
	}
	return tr_trace_merge((tr_trace *const *)traces->pdata, traces->len);
}

gboolean ro_recording_make(ro_recording *recording, const ro_options *options,
	const ro_input *input, const char *workdir, ro_progress *progress, GError **error)
{
	tr_boot_job job = recording_job(options, input);

	*recording = (ro_recording){0};
	if (options->traces->len > 0) {
		recording->boot.trace = ro_recording_read_traces(options, error);
		return recording->boot.trace != NULL;
	}
	if (options->frames)
		return tr_boot_from_frames(&job, options->frames, &recording->boot, error);
	job.workdir = workdir;
	job.progress = progress;
	recording->from_log = options->read_log != NULL;
	if (recording->from_log)
		return tr_boot_from_log(&job, options->read_log, &recording->boot, error);
	recording->booted = TRUE;
	return have_entry(&job, error) && tr_boot_run(&job, &recording->boot, error);
}

void ro_recording_clear(ro_recording *recording)
{
	tr_boot_result_clear(&recording->boot);
}

gboolean ro_recording_save(const tr_trace *trace, const char *path, gboolean force, GError **error)
{
	GString *text = tr_trace_format(trace);
	gboolean ok = TRUE;

	if (path && !g_str_equal(path, "-"))
		ok = ro_output_write(path, force, text->str, (gssize)text->len, error);
	else if (fwrite(text->str, 1, text->len, stdout) != text->len || fflush(stdout) != 0)
		ok = ro_fail(error, RO_ERROR_FAILED, "standard output: cannot be written");
	g_string_free(text, TRUE);
	return ok;
}

char *ro_work_parent(const ro_options *options, const char *output)
{
	const char *tmpdir = g_getenv("TMPDIR");

	if (options->work_dir)
		return g_strdup(options->work_dir);
	if (tmpdir && *tmpdir)
		return g_strdup(tmpdir);
	return output ? g_path_get_dirname(output) : g_strdup("/var/tmp");
}
