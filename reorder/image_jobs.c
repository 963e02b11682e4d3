/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/engines.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/util/error.h"
#include "reorder/verify_ext4_job.h"

static ro_engine_job engine_job(const ro_image_jobs *jobs, const ro_image_job *job)
{
	return (ro_engine_job){
		.iso_path = jobs->input->iso->path,
		.tree = job->root->tree,
		.outer = job->root->outer,
		.outer_inode = job->root->outer_inode,
		.plan = job->plan,
		.workdir = jobs->workdir,
		.out_path = job->new_image,
		.progress = jobs->progress,
	};
}

static void clear_job(gpointer data)
{
	ro_image_job *job = data;

	ro_plan_free(job->plan);
	g_free(job->new_image);
}

void ro_image_jobs_start(ro_image_jobs *jobs)
{
	jobs->list = g_array_new(FALSE, FALSE, sizeof(ro_image_job));
	g_array_set_clear_func(jobs->list, clear_job);
	for (guint i = 0; i < jobs->input->roots->len; i++) {
		ro_image_job job = {.root = RO_INPUT_ROOT(jobs->input, i)};

		g_array_append_val(jobs->list, job);
	}
}

gboolean ro_image_jobs_choose_engines(ro_image_jobs *jobs, GError **error)
{
	for (guint i = 0; i < jobs->list->len; i++) {
		ro_image_job *job = RO_IMAGE_JOB(jobs, i);
		ro_engine_job engine = engine_job(jobs, job);

		job->engine = ro_engine_choose(jobs->options->engine, &engine, error);
		if (!job->engine)
			return FALSE;
	}
	return TRUE;
}

void ro_image_jobs_clear(ro_image_jobs *jobs)
{
	g_clear_pointer(&jobs->list, g_array_unref);
}

static gboolean is_hit(const ro_image_job *job)
{
	return job->plan && job->plan->files->len > 0;
}

static gboolean is_planned(const ro_image_jobs *jobs)
{
	for (guint i = 0; i < jobs->list->len; i++)
		if (RO_IMAGE_JOB(jobs, i)->plan)
			return TRUE;
	return FALSE;
}

void ro_image_jobs_space(const ro_image_jobs *jobs, ro_space *least, ro_space *most)
{
	gboolean planned = is_planned(jobs);

	*least = (ro_space){G_MAXUINT64, G_MAXUINT64};
	*most = (ro_space){0};
	for (guint i = 0; i < jobs->list->len; i++) {
		const ro_image_job *job = RO_IMAGE_JOB(jobs, i);
		ro_engine_job engine = engine_job(jobs, job);
		ro_space one = {job->engine->space(&engine), job->root->image->file->size};

		if (planned && !is_hit(job))
			continue;
		most->scratch += one.scratch;
		most->images += one.images;
		least->scratch = MIN(least->scratch, one.scratch);
		least->images = MIN(least->images, one.images);
	}
	if (planned)
		*least = *most;
}

/* --- the plans --- */

static gboolean has_event(const tr_trace *trace, const char *image)
{
	for (guint i = 0; trace && i < trace->events->len; i++) {
		const tr_event *event = g_ptr_array_index(trace->events, i);

		if (g_strcmp0(event->image, image) == 0)
			return TRUE;
	}
	return FALSE;
}

static gboolean plan_image(
	const ro_image_jobs *jobs, ro_image_job *job, const tr_trace *trace, GError **error)
{
	const ro_options *o = jobs->options;
	ro_plan_options options = {o->order, o->layout, o->seed,
		(const char *const *)o->also->pdata, job->root->image->file->path};

	job->plan = ro_plan_new(job->root->tree, trace, &options, error);
	return job->plan != NULL;
}

/* A value may mean something in one image only. */
static void warn_of_also(const ro_image_jobs *jobs)
{
	const GPtrArray *also = jobs->options->also;

	for (guint value = 0; value + 1 < also->len; value++) {
		guint names = 0;

		for (guint i = 0; i < jobs->list->len; i++) {
			const ro_plan *plan = RO_IMAGE_JOB(jobs, i)->plan;

			names += plan ? g_array_index(plan->also_names, guint, value) : 0;
		}
		if (names == 0 && g_str_equal(g_ptr_array_index(also, value), "auto"))
			ro_warn("--also auto: the traces differ in no modules, firmware or display drivers");
		else if (names == 0)
			ro_warn("--also %s: nothing in %s is meant by it",
				(const char *)g_ptr_array_index(also, value),
				jobs->input->iso->path);
	}
}

gboolean ro_image_jobs_plan(ro_image_jobs *jobs, const tr_trace *trace, GError **error)
{
	gboolean any = FALSE;

	for (guint i = 0; i < jobs->list->len; i++)
		any = any || has_event(trace, RO_IMAGE_JOB(jobs, i)->root->image->file->path);
	for (guint i = 0; i < jobs->list->len; i++) {
		ro_image_job *job = RO_IMAGE_JOB(jobs, i);

		/* Without a trace of any of them, each is a case for --also, or for an error. */
		if (any && !has_event(trace, job->root->image->file->path))
			continue;
		if (!plan_image(jobs, job, trace, error))
			return FALSE;
	}
	warn_of_also(jobs);
	return TRUE;
}

/* --- the images --- */

static gboolean rebuild_image(
	const ro_image_jobs *jobs, ro_image_job *job, guint index, GError **error)
{
	g_autofree char *name = g_strdup_printf("image-%u", index);
	struct stat st;

	job->new_image = g_build_filename(jobs->workdir, name, NULL);
	ro_engine_job engine = engine_job(jobs, job);
	if (!job->engine->rebuild(&engine, error))
		return FALSE;
	if (stat(job->new_image, &st) < 0)
		return ro_fail_errno(error, errno, "%s", job->new_image);
	job->new_size = (guint64)st.st_size;
	return TRUE;
}

gboolean ro_image_jobs_rebuild(ro_image_jobs *jobs, GError **error)
{
	gboolean any = FALSE;

	for (guint i = 0; i < jobs->list->len; i++) {
		ro_image_job *job = RO_IMAGE_JOB(jobs, i);

		if (!is_hit(job))
			continue;
		ro_progress_note(jobs->progress, "%s", job->root->image->file->path);
		if (!rebuild_image(jobs, job, i, error))
			return FALSE;
		any = TRUE;
	}
	return any ||
	       ro_fail(error, RO_ERROR_UNSUITABLE,
		       "%s: the trace names no file of %s; nothing to reorder",
		       jobs->input->iso->path, RO_IMAGE_JOB(jobs, 0)->root->image->file->path);
}

static gboolean verify_squashfs(const ro_image_jobs *jobs, ro_image_job *job, GError **error)
{
	int fd = g_open(job->new_image, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", job->new_image);
	img_source source = {fd, 0, job->new_size, "the new image"};
	g_autoptr(img_tree) tree = img_tree_open(&source, error);
	gboolean ok = tree && ro_verify_image(job->root->tree, tree, job->plan, jobs->progress,
				      &job->verified, error);
	close(fd);
	return ok;
}

static gboolean verify_image(const ro_image_jobs *jobs, ro_image_job *job, GError **error)
{
	ro_engine_job engine = engine_job(jobs, job);

	return img_ext4_is_tree(job->root->tree)
		       ? ro_ext4_verify_job(&engine, &job->verified, error)
		       : verify_squashfs(jobs, job, error);
}

gboolean ro_image_jobs_verify(ro_image_jobs *jobs, GError **error)
{
	for (guint i = 0; i < jobs->list->len; i++) {
		ro_image_job *job = RO_IMAGE_JOB(jobs, i);

		if (job->new_image && !verify_image(jobs, job, error))
			return FALSE;
	}
	return TRUE;
}

GArray *ro_image_jobs_replacements(const ro_image_jobs *jobs)
{
	GArray *replacements = g_array_new(FALSE, FALSE, sizeof(li_replacement));

	for (guint i = 0; i < jobs->list->len; i++) {
		const ro_image_job *job = RO_IMAGE_JOB(jobs, i);
		li_replacement replacement = {
			.file = job->root->image->file, .content = job->new_image};

		if (job->new_image)
			g_array_append_val(replacements, replacement);
	}
	return replacements;
}
