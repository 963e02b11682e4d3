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
#include "reorder/util/hash.h"

/* Whether the name is one of a checksum list. */
gboolean li_sums_is_list(const char *path);

/* A line of a list. */
typedef struct {
	gsize offset; /* of the digest, bytes into the line */
	guint digits; /* hex digits */
	ro_hash_type type;
	gboolean supported; /* FALSE: BLAKE2, SHA-224 */
	char *name; /* of the file as written, unescaped; NULL if the line is a digest only */
} li_sum_line;

/* FALSE if the line is none. length without the newline. list is the list's name. On success name
 * is the caller's. */
gboolean li_sum_parse(const char *line, gsize length, const char *list, li_sum_line *sum);

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
