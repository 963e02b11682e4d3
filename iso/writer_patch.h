/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the patch writer can do beyond li_writer. */
#ifndef LI_WRITER_PATCH_H
#define LI_WRITER_PATCH_H

#include "iso/writer.h"

/* The first file whose new content is too large for its place, and by how many bytes; NULL: all
 * fit.
 */
gboolean li_patch_misfit(const li_iso *iso, const li_replacement *replacements, guint count,
	const li_file **file, guint64 *excess, GError **error);

/*
 * Changes the ISO itself; job->out_path is not looked at. fd: from li_open_in_place. A failure
 * leaves the ISO as it was; so does a crash, once li_recover has run.
 */
gboolean li_patch_in_place(
	const li_write_job *job, int fd, li_write_result *result, GError **error);

#endif
