/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checksum lists on the ISO itself (md5sum.txt, SHA256SUMS, airootfs.sha512, .treeinfo, …): lines
 * of files that changed are made right again, in place, if they were right before. Length, order
 * and format of a list stay.
 */
#ifndef LI_CHECKSUMS_H
#define LI_CHECKSUMS_H

#include "iso/overlay.h"
#include "iso/writer.h"

/* RO_ERROR_UNSUITABLE if a list that has the file in it is signed, so that it can't be changed. */
gboolean li_sums_check(int fd, const li_tree *tree, const char *path, GError **error);

/*
 * Puts what has to change in the lists into the new ISO. changed: set of paths whose content is
 * another one now; the lists that were corrected are added to it. progress: what is hashed.
 */
gboolean li_sums_update(int old_fd, const li_tree *old_tree, li_overlay *new_iso,
	const li_tree *new_tree, GHashTable *changed, li_write_result *result,
	ro_progress *progress, GError **error);

#endif
