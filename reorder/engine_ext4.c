/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine that relocates blocks inside an ext2, ext3 or ext4 image, and packs the squashfs
 * around it anew if there is one.
 */
#include "reorder/engine.h"

#include <glib/gstdio.h>

#include "reorder/ext4/relocate.h"
#include "reorder/ext4_wrapping.h"
#include "reorder/image/ext4.h"
#include "reorder/util/child.h"
#include "reorder/util/error.h"

static gboolean check(const ro_engine_job *job, GError **error)
{
	if (!img_ext4_check(img_tree_source(job->tree), error))
		return FALSE;
	return !job->outer || (ro_child_need("mksquashfs", "squashfs-tools", error) &&
				      ro_ext4_check_wrapping(job->outer, error));
}

/* The new filesystem, and the squashfs, which may become a little larger. */
static guint64 space(const ro_engine_job *job)
{
	guint64 bytes = img_tree_source(job->tree)->size;

	if (job->outer)
		bytes += img_tree_super(job->outer)->bytes_used / 16 * 17;
	return bytes;
}

static gboolean relocate(const ro_engine_job *job, const char *path, GError **error)
{
	g_autoptr(GArray) wanted = ro_ext4_wanted(job->tree, job->plan);
	ro_ext4_job relocation = {
		.source = img_tree_source(job->tree),
		.out_path = path,
		.layout = job->plan->layout,
		.wanted = (const guint32 *)(void *)wanted->data,
		.count = wanted->len,
		.progress = job->progress,
	};

	return ro_ext4_relocate(&relocation, error);
}

/* With a squashfs around it, the new filesystem stays in the work directory for verification. */
static gboolean rebuild(const ro_engine_job *job, GError **error)
{
	g_autofree char *path = g_build_filename(job->workdir, RO_EXT4_NEW_NAME, NULL);
	ro_ext4_wrap_job wrap = {
		job->outer, job->outer_inode, path, job->workdir, job->out_path, job->progress};

	ro_warn("%s: an overlay that was saved above the old filesystem must not be used with the new one, in which blocks have moved; discard it",
		img_tree_source(job->tree)->label);
	if (!job->outer)
		return relocate(job, job->out_path, error);
	return relocate(job, path, error) && ro_ext4_wrap(&wrap, error);
}

const ro_engine ro_engine_ext4 = {
	.name = "ext4",
	.check = check,
	.space = space,
	.rebuild = rebuild,
};
