/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of the images that the root is made of: each has its own plan, and if the boot read
 * files of it, a new image. The others stay as they are.
 */
#ifndef RO_IMAGE_JOBS_H
#define RO_IMAGE_JOBS_H

#include "iso/writer.h"
#include "reorder/engine.h"
#include "reorder/input.h"
#include "reorder/options.h"
#include "reorder/verify.h"

typedef struct {
	const ro_root *root;
	const ro_engine *engine; /* NULL: not chosen yet */
	ro_plan *plan;           /* NULL: not made yet, or the boot looked at nothing in it */
	char *new_image;         /* path in the work directory; NULL: the image stays as it is */
	guint64 new_size;        /* bytes */
	ro_verify_result verified;
} ro_image_job;

typedef struct {
	const ro_options *options; /* these are borrowed */
	const ro_input *input;
	const char *workdir; /* NULL: only plans are made */
	ro_progress *progress;
	GArray *list; /* of ro_image_job, one for each of input's roots */
} ro_image_jobs;

#define RO_IMAGE_JOB(jobs, index) (&g_array_index((jobs)->list, ro_image_job, index))

/* Fills list; the rest is given. Clear it. */
void ro_image_jobs_start(ro_image_jobs *jobs);
void ro_image_jobs_clear(ro_image_jobs *jobs);

/* Before the long work. */
gboolean ro_image_jobs_choose_engines(ro_image_jobs *jobs, GError **error);

/* Bytes, of the images that are going to be made anew. */
typedef struct {
	guint64 scratch; /* in the work directory */
	guint64 images;  /* as they are */
} ro_space;

/* Before there are plans: of the smallest image, and of all. The plans tell which: then both are
 * the same. */
void ro_image_jobs_space(const ro_image_jobs *jobs, ro_space *least, ro_space *most);

/* Of images that the trace names; without a trace (NULL) of all, for --also. */
gboolean ro_image_jobs_plan(ro_image_jobs *jobs, const tr_trace *trace, GError **error);

/* Of images whose plans have files; RO_ERROR_UNSUITABLE if there is none. */
gboolean ro_image_jobs_rebuild(ro_image_jobs *jobs, GError **error);

/* The new images against the old ones. */
gboolean ro_image_jobs_verify(ro_image_jobs *jobs, GError **error);

/* The new images, for a writer: an array of li_replacement, for the caller to unref. */
GArray *ro_image_jobs_replacements(const ro_image_jobs *jobs);

#endif
