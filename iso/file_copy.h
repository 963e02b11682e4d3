/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes from file to file, by the cheapest way that the filesystem knows. */
#ifndef LI_FILE_COPY_H
#define LI_FILE_COPY_H

#include <glib.h>

/* Makes to, which is empty, share all its blocks with from (FICLONE). FALSE, with nothing set, if
 * the filesystem can't. */
gboolean li_file_clone(int from, int to);

/* Copies a range, inside of the kernel where that is possible. name of the target, for messages. */
gboolean li_file_copy(int from, guint64 from_offset, int to, guint64 to_offset, guint64 length,
	const char *name, GError **error);

/* All of the buffer. */
gboolean li_file_write(
	int to, guint64 offset, const void *data, gsize size, const char *name, GError **error);

#endif
