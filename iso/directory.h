/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A walk over the directory records of an ISO (ECMA-119 9.1), as they lie on the medium. It is what
 * libisofs is guarded with: that follows directories without looking whether it was there before.
 */
#ifndef LI_DIRECTORY_H
#define LI_DIRECTORY_H

#include "reorder/image/byte_source.h"

typedef struct {
	const guint8 *name; /* as in the record, with its version */
	guint8 name_length;
	gboolean is_directory;
	guint64 offset; /* bytes into the ISO */
	guint64 size;
} li_record;

typedef void (*li_record_func)(const li_record *record, gpointer data);

/*
 * Calls the function (may be NULL) for every record below root_record, "." and ".." left out.
 * RO_ERROR_UNSUITABLE if a directory lies outside the source, is reached twice (a loop), or there
 * are absurdly many or deep ones. Rock Ridge's relocated directories are followed.
 */
gboolean li_directory_walk(const img_source *disc, const guint8 *root_record, li_record_func func,
	gpointer data, GError **error);

#endif
