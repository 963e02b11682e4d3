/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hash of strings that come from an image: seeded anew in each run, so that nobody can make
 * names that all fall together (with g_str_hash they can, and reading becomes quadratic).
 */
#ifndef RO_UTIL_BYTES_HASH_H
#define RO_UTIL_BYTES_HASH_H

#include <glib.h>

/* For g_hash_table_new, beside g_str_equal. */
guint ro_bytes_hash(gconstpointer string);

#endif
