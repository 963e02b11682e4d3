/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of checksum lists: those of md5sum and its kin (also with --tag), a digest alone, and
 * Anaconda's .treeinfo.
 */
#ifndef LI_CHECKSUM_LINE_H
#define LI_CHECKSUM_LINE_H

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

#endif
