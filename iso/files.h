/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regular files of an ISO with their extents. */
#ifndef LI_FILES_H
#define LI_FILES_H

#include "iso/live_iso.h"

/*
 * Array of li_file, sorted by path; sets volume->rock_ridge. RO_ERROR_UNSUITABLE if the tree is
 * damaged or a file lies outside the source.
 */
GPtrArray *li_files_read(const img_source *disc, li_volume *volume, GError **error);
void li_file_free(li_file *file);

/* FALSE if there are gaps between the extents. */
gboolean li_file_is_contiguous(const li_file *file);

#endif
