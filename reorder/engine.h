/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Image engines: ways to make the image anew in the order of a plan. */
#ifndef RO_ENGINE_H
#define RO_ENGINE_H

#include "reorder/plan/plan.h"
#include "reorder/util/progress.h"

typedef struct {
	const char *iso_path; /* the file that the image lies in */
	const img_tree *tree; /* what is reordered; its source says where it lies */
	/* ext4: the squashfs around it, or NULL, and the index of the inode that it is there. */
	const img_tree *outer;
	guint32 outer_inode;
	const ro_plan *plan;
	const char *workdir;  /* scratch */
	const char *out_path; /* the new image; does not exist */
	ro_progress *progress;
} ro_engine_job;

typedef struct {
	const char *name;
	/* Before any long work, plan is NULL: privileges, tools, their versions, what of this image
	 * the engine can't do. */
	gboolean (*check)(const ro_engine_job *job, GError **error);
	/* Bytes of scratch space in workdir, including the new image. */
	guint64 (*space)(const ro_engine_job *job);
	/* Makes out_path; removes it again on failure. */
	gboolean (*rebuild)(const ro_engine_job *job, GError **error);
} ro_engine;

extern const ro_engine ro_engine_mksquashfs;
extern const ro_engine ro_engine_splice;
extern const ro_engine ro_engine_ext4; /* for trees of img_ext4_tree_open, which no other takes */

#endif
