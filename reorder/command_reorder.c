/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole job: record, plan, rebuild, verify, write. */
#include "reorder/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dm/hot_map.h"
#include "iso/file_copy.h"
#include "iso/journal.h"
#include "iso/writer_patch.h"
#include "reorder/compare_run.h"
#include "reorder/compare_summary.h"
#include "reorder/image_jobs.h"
#include "reorder/input.h"
#include "reorder/preload.h"
#include "reorder/recording.h"
#include "reorder/summary.h"
#include "reorder/util/error.h"
#include "reorder/util/json.h"
#include "reorder/util/output.h"
#include "reorder/writer_choice.h"

typedef struct {
	const ro_options *options;
	ro_progress *progress;
	ro_input input;
	ro_output *output, *trace_output; /* output: NULL if the input itself is changed */
	int in_place_fd;                  /* then this is it; else -1 */
	ro_workdir *workdir;
	ro_image_jobs images;
	ro_writer_choice writer;
	ro_recording recording;
	ro_preload preload;
	li_write_result written;
	ro_input result; /* the new ISO, where it is compared */
	ro_compare_run comparison;
} job;

static const char *result_path(const job *j)
{
	return j->options->in_place ? j->options->input : j->options->output;
}

static gboolean same_filesystem(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev;
}

static gboolean have_space(const job *j, const ro_space *space, GError **error)
{
	const char *work = ro_workdir_path(j->workdir);
	g_autofree char *path = j->output ? g_strdup(ro_output_temp_path(j->output))
					  : li_journal_path(j->options->input);
	g_autofree char *out_dir = g_path_get_dirname(path);
	guint64 scratch = space->scratch;
	guint64 size = j->output ? j->input.iso->file_size : space->images;

	if (j->options->preload == RO_PRELOAD_AUTO)
		scratch += size; /* the one that is compared */
	if (same_filesystem(work, out_dir))
		return ro_need_space(work, scratch + size, "scratch files and the result", error);
	return ro_need_space(work, scratch, "scratch files", error) &&
	       ro_need_space(out_dir, size, j->output ? "the new ISO" : "the undo journal", error);
}

/* Which layers are made anew is known when they have plans: what is too little for any of them
 * fails before the boot, what may be too little is told before it. */
static gboolean check_space(const job *j, GError **error)
{
	g_autoptr(GError) reason = NULL;
	ro_space least, most;

	ro_image_jobs_space(&j->images, &least, &most);
	if (!have_space(j, &least, error))
		return FALSE;
	if (j->options->traces->len == 0 && !have_space(j, &most, &reason))
		ro_warn("%s; that is for all layers, and will do if the boot reads of some only",
			reason->message);
	return TRUE;
}

/* --save-trace has to be writable before the boot, not found out behind it. */
static gboolean open_trace_output(job *j, GError **error)
{
	if (!j->options->save_trace)
		return TRUE;
	j->trace_output =
		ro_output_new(j->options->save_trace, j->options->force, j->input.iso->fd, error);
	return j->trace_output != NULL;
}

/* What inspect shows and what somebody who does not look there should know. A refusal is told
 * without it. */
static void warn_of_notes(const li_iso *iso)
{
	for (guint i = 0; i < iso->notes->len; i++)
		ro_warn("%s: %s", iso->path, (const char *)g_ptr_array_index(iso->notes, i));
}

/* Its loader would read what was needed in the old order. */
static void warn_of_preload(const li_iso *iso)
{
	for (guint i = 0; i < iso->entries->len; i++) {
		if (!dmx_entry_has_preload(g_ptr_array_index(iso->entries, i)))
			continue;
		ro_warn("%s: has a preload, whose hot map will not fit the new order; better take the ISO from before",
			iso->path);
		return;
	}
}

/* What an interrupted run has left is put in order first. */
static gboolean recover(job *j, GError **error)
{
	gboolean undone;

	if (!li_recover(j->options->input, &undone, error))
		return FALSE;
	if (undone)
		ro_warn("%s: a run that was interrupted is undone", j->options->input);
	return TRUE;
}

/* The input's own lock, which is shared, would stand in the way of this one. */
static gboolean lock_in_place(job *j, GError **error)
{
	li_iso_unlock(j->input.iso);
	j->in_place_fd = li_open_in_place(j->options->input, error);
	return j->in_place_fd >= 0 && ro_input_unchanged(&j->input, error) &&
	       li_journal_check(j->options->input, error);
}

static gboolean open_output(job *j, GError **error)
{
	const ro_options *options = j->options;

	if (options->in_place)
		return lock_in_place(j, error);
	j->output = ro_output_new(options->output, options->force, j->input.iso->fd, error);
	return j->output != NULL;
}

/* Everything that can be known to fail fails here, before the long work. */
static gboolean prepare(job *j, GError **error)
{
	const ro_options *options = j->options;

	if ((options->in_place && !recover(j, error)) ||
		!ro_input_open(&j->input, options->input, error))
		return FALSE;
	if (!open_output(j, error) || !open_trace_output(j, error))
		return FALSE;
	g_autofree char *parent = ro_work_parent(options, result_path(j));
	j->workdir = ro_workdir_new(parent, error);
	if (!j->workdir)
		return FALSE;
	if (options->keep_work)
		ro_workdir_keep(j->workdir);
	j->images =
		(ro_image_jobs){options, &j->input, ro_workdir_path(j->workdir), j->progress, NULL};
	ro_image_jobs_start(&j->images);
	if (!ro_image_jobs_choose_engines(&j->images, error) ||
		!ro_writer_choice_begin(&j->writer, options, j->input.iso, error) ||
		!check_space(j, error) || !ro_recording_check(options, &j->input, error) ||
		(options->compare && !ro_compare_check(options, &j->input, NULL, error)) ||
		!ro_preload_open(
			&j->preload, options, &j->input, ro_workdir_path(j->workdir), error))
		return FALSE;
	warn_of_notes(j->input.iso);
	if (options->preload == RO_PRELOAD_NONE)
		warn_of_preload(j->input.iso);
	return TRUE;
}

static gboolean record(job *j, GError **error)
{
	if (!ro_recording_make(&j->recording, j->options, &j->input, ro_workdir_path(j->workdir),
		    j->progress, error))
		return FALSE;
	if (!j->trace_output)
		return TRUE;
	GString *text = tr_trace_format(j->recording.boot.trace);
	gboolean ok = ro_output_put(j->trace_output, text->str, text->len, error) &&
		      ro_output_commit(j->trace_output, error);
	g_string_free(text, TRUE);
	return ok;
}

static gboolean size_of(const char *path, guint64 *size, GError **error)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return ro_fail_errno(error, errno, "%s", path);
	*size = (guint64)st.st_size;
	return TRUE;
}

static gboolean names_input(const job *j, const GError *error)
{
	g_autofree char *object = g_strconcat(j->options->input, ":", NULL);

	return g_str_has_prefix(error->message, object);
}

/* What is wrong with a file that this run has made is not the fault of the input; damage to the
 * input that shows only now is. */
static gboolean our_fault(const job *j, GError **error)
{
	if (error && g_error_matches(*error, RO_ERROR, RO_ERROR_UNSUITABLE) &&
		!names_input(j, *error)) {
		(*error)->code = RO_ERROR_FAILED;
		g_prefix_error(error, "the new file is not right: ");
	}
	return FALSE;
}

static gboolean make_images(job *j, GError **error)
{
	return ro_image_jobs_plan(&j->images, j->recording.boot.trace, error) &&
	       check_space(j, error) && ro_image_jobs_rebuild(&j->images, error) &&
	       (ro_image_jobs_verify(&j->images, error) || our_fault(j, error));
}

static gboolean write_with(
	job *j, const li_writer *writer, const li_write_job *write, GError **error)
{
	if (!j->output)
		return li_patch_in_place(write, j->in_place_fd, &j->written, error);
	return writer->write(write, &j->written, error) &&
	       (!writer->verify || writer->verify(write, error));
}

/* One ISO, at that place. */
static gboolean write_to(job *j, const li_writer *writer, const char *out_path,
	gboolean with_preload, GError **error)
{
	g_autoptr(GArray) replacements = ro_image_jobs_replacements(&j->images);
	li_write_job write = {
		.iso = j->input.iso,
		.replacements = (const li_replacement *)replacements->data,
		.replacement_count = replacements->len,
		.workdir = ro_workdir_path(j->workdir),
		.out_path = out_path,
		.progress = j->progress,
	};
	ro_preload_job preload = {&j->input, &j->recording, RO_IMAGE_JOB(&j->images, 0)};

	if (with_preload && !ro_preload_begin(&j->preload, &preload, &write, error))
		return FALSE;
	return write_with(j, writer, &write, error) || our_fault(j, error);
}

static gboolean copy_from(int source, const char *from, const char *to, GError **error)
{
	int target = open(to, O_WRONLY | O_TRUNC | O_CLOEXEC);
	guint64 size = 0;

	if (target < 0)
		return ro_fail_errno(error, errno, "%s", to);
	gboolean ok = size_of(from, &size, error) &&
		      (li_file_clone(source, target) ||
			      li_file_copy(source, 0, target, 0, size, to, error));
	if (close(target) < 0 && ok)
		return ro_fail_errno(error, errno, "%s: write", to);
	return ok;
}

static gboolean copy_over(const char *from, const char *to, GError **error)
{
	int source = open(from, O_RDONLY | O_CLOEXEC);

	if (source < 0)
		return ro_fail_errno(error, errno, "%s", from);
	gboolean ok = copy_from(source, from, to, error);
	close(source);
	return ok;
}

/* A preload with which the ISO does not boot is no reason to have none. */
static gboolean compare_preload(job *j, const char *plain, const char *preload, GError **error)
{
	g_autoptr(GError) reason = NULL;

	if (ro_preload_compare(&j->preload, j->options, plain, preload, ro_workdir_path(j->workdir),
		    j->progress, &reason))
		return TRUE;
	if (!g_error_matches(reason, RO_ERROR, RO_ERROR_GUEST)) {
		g_propagate_error(error, g_steal_pointer(&reason));
		return FALSE;
	}
	reason->message[strcspn(reason->message, "\n")] = '\0';
	ro_warn("--preload auto: left out, since there is nothing to compare: %s", reason->message);
	j->preload.kept = FALSE;
	return TRUE;
}

/* --preload auto: there is an ISO without; another one with it takes its place if it boots faster.
 */
static gboolean choose_preload(job *j, const char *out_path, GError **error)
{
	g_autofree char *other = ro_workdir_file(j->workdir, "preload.iso");
	li_write_result plain = j->written;

	if (!g_file_set_contents(other, "", 0, error) ||
		!write_to(j, &li_writer_rebuild, other, TRUE, error))
		return FALSE;
	ro_progress_end(j->progress, "without and with the preload");
	if (!compare_preload(j, out_path, other, error))
		return FALSE;
	ro_progress_begin(j->progress, "take");
	if (!j->preload.kept) {
		j->written = plain;
		return g_unlink(other) == 0 || ro_fail_errno(error, errno, "%s", other);
	}
	ro_writer_choice_rebuild(&j->writer, "the preload makes initrds grow");
	return copy_over(other, out_path, error);
}

/* That they do not fit is not what our_fault is about. */
static gboolean choose_writer(job *j, GError **error)
{
	g_autoptr(GArray) replacements = ro_image_jobs_replacements(&j->images);

	return ro_writer_choice_end(&j->writer, j->input.iso,
		(const li_replacement *)replacements->data, replacements->len, error);
}

static gboolean write_iso(job *j, GError **error)
{
	const char *out_path = j->output ? ro_output_temp_path(j->output) : NULL;

	ro_progress_begin(j->progress, "write");
	if (!choose_writer(j, error))
		return FALSE;
	if (!j->output && !ro_input_unchanged(&j->input, error))
		return FALSE;
	if (!write_to(j, j->writer.writer, out_path, j->options->preload == RO_PRELOAD_DM, error))
		return FALSE;
	if (j->options->preload == RO_PRELOAD_AUTO && !choose_preload(j, out_path, error))
		return FALSE;
	if (j->output && !ro_input_unchanged(&j->input, error))
		return FALSE;
	ro_progress_end(j->progress,
		j->writer.writer->verify
			? "boot equipment, identity and attributes compared"
			: "byte for byte as before but for what was reordered and its checksums");
	return TRUE;
}

/* The new ISO stays, whatever comes of it. */
static gboolean compare(job *j, GError **error)
{
	if (!j->options->compare)
		return TRUE;
	return ro_input_open(&j->result, j->options->output, error) &&
	       ro_compare_make(&j->comparison, j->options, &j->input, &j->result,
		       ro_workdir_path(j->workdir), j->progress, error);
}

static void print(const job *j, const ro_summary *summary)
{
	gboolean json_on_stdout = g_strcmp0(j->options->json, "-") == 0;
	FILE *out = json_on_stdout ? stderr : stdout;

	if (j->options->quiet)
		return;
	ro_summary_print(summary, out);
	if (!summary->comparison)
		return;
	fputc('\n', out);
	ro_compare_summary_print(summary->comparison, out);
}

static gboolean report(const job *j, guint64 output_size, GError **error)
{
	ro_summary summary = {
		.input = &j->input,
		.recording = &j->recording,
		.images = &j->images,
		.writer = j->writer.writer->name,
		.writer_reason = j->writer.reason,
		.output = result_path(j),
		.output_size = output_size,
		.written = &j->written,
		.preload = &j->preload,
		.comparison = j->comparison.complete ? &j->comparison.comparison : NULL,
		.progress = j->progress,
	};

	if (j->options->json) {
		g_autoptr(JsonBuilder) builder = json_builder_new();
		ro_summary_json(&summary, builder);
		if (!ro_json_write(builder, j->options->json, error))
			return FALSE;
	}
	print(j, &summary);
	return TRUE;
}

static gboolean finish(job *j, GError **error)
{
	guint64 output_size = j->input.iso->file_size;

	if (j->output && (!size_of(ro_output_temp_path(j->output), &output_size, error) ||
				 !ro_output_commit(j->output, error)))
		return FALSE;
	gboolean ok = compare(j, error);
	return report(j, output_size, ok ? error : NULL) && ok;
}

static void clear(job *j)
{
	ro_image_jobs_clear(&j->images);
	ro_recording_clear(&j->recording);
	ro_compare_clear(&j->comparison);
	ro_preload_clear(&j->preload);
	ro_input_clear(&j->result);
	ro_workdir_free(j->workdir);
	ro_output_free(j->trace_output);
	ro_output_free(j->output);
	if (j->in_place_fd >= 0)
		close(j->in_place_fd);
	ro_writer_choice_clear(&j->writer);
	ro_input_clear(&j->input);
	ro_progress_free(j->progress);
}

gboolean ro_command_reorder(const ro_options *options, GError **error)
{
	job j = {.options = options,
		.in_place_fd = -1,
		.progress = ro_progress_new(options->quiet, options->verbose)};
	gboolean ok = prepare(&j, error) && record(&j, error) && make_images(&j, error) &&
		      write_iso(&j, error) && finish(&j, error);

	clear(&j);
	return ok;
}
