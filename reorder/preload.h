/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --preload in the whole job: what it needs of the other stages, and whether it pays. */
#ifndef RO_PRELOAD_H
#define RO_PRELOAD_H

#include <stdio.h>

#include "dm/preload.h"
#include "reorder/compare_run.h"
#include "reorder/image_jobs.h"
#include "reorder/recording.h"
#include "reorder/util/json.h"

/* What the stages before have made; borrowed. */
typedef struct {
	const ro_input *input;
	ro_recording *recording;
	const ro_image_job *image; /* the one there is */
} ro_preload_job;

typedef struct {
	dmx_preload *preload; /* NULL: none is wanted */
	ro_preload_job job;
	const char *out_path;
	int image_fd;
	img_tree *new_tree;
	GArray *hot_files;    /* of dmx_hot_file */
	GArray *replacements; /* of li_replacement */
	/* --preload auto */
	gboolean compared, kept;
	double seconds[2]; /* medians without and with it; of the modelled machine */
	tr_ratio ratio;
	char *drive;
} ro_preload;

/* Before the boot. Clear it in either case. */
gboolean ro_preload_open(ro_preload *p, const ro_options *options, const ro_input *input,
	const char *workdir, GError **error);
void ro_preload_clear(ro_preload *p);

/* What the hot map has to know of a plan. Array of dmx_hot_file, owned by the caller. */
GArray *ro_preload_hot_files(const ro_plan *plan);

/* Makes the job of writing the ISO, which has the new image alone, one with the preload. The job
 * must stay where it is until it is done. */
gboolean ro_preload_begin(
	ro_preload *p, const ro_preload_job *job, li_write_job *write, GError **error);

/* Boots both ISOs from --drive; sets kept if the one with the preload is faster outside the noise.
 */
gboolean ro_preload_compare(ro_preload *p, const ro_options *options, const char *plain,
	const char *preload, const char *workdir, ro_progress *progress, GError **error);

void ro_preload_print(const ro_preload *p, FILE *out);
/* A member "preload" of the object that is open. */
void ro_preload_json(const ro_preload *p, JsonBuilder *builder);

#endif
