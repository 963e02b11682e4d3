/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/verify_ext4_job.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/ext4/relocate.h"
#include "reorder/ext4_wrapping.h"
#include "reorder/util/error.h"
#include "reorder/verify_ext4.h"

static gboolean verify_filesystem(
	const ro_engine_job *job, const char *path, ro_verify_result *result, GError **error)
{
	g_autoptr(GArray) wanted = ro_ext4_wanted(job->tree, job->plan);
	img_source new = {.label = "the new filesystem"};
	struct stat st;
	gboolean ok;

	new.fd = g_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (new.fd < 0)
		return ro_fail_errno(error, errno, "%s", path);
	ok = fstat(new.fd, &st) == 0 || ro_fail_errno(error, errno, "%s", path);
	if (ok) {
		new.size = (guint64)st.st_size;
		ok = ro_ext4_verify(img_tree_source(job->tree), &new,
			(const guint32 *)(void *)wanted->data, wanted->len, job->progress, result,
			error);
	}
	close(new.fd);
	return ok;
}

gboolean ro_ext4_verify_job(const ro_engine_job *job, ro_verify_result *result, GError **error)
{
	g_autofree char *path = g_build_filename(job->workdir, RO_EXT4_NEW_NAME, NULL);
	ro_ext4_wrap_job wrap = {
		job->outer, job->outer_inode, path, job->workdir, job->out_path, job->progress};

	if (!job->outer)
		return verify_filesystem(job, job->out_path, result, error);
	if (!verify_filesystem(job, path, result, error) || !ro_ext4_verify_wrapping(&wrap, error))
		return FALSE;
	return g_unlink(path) == 0 || ro_fail_errno(error, errno, "%s", path);
}
