/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are placed with the boot's although the traced boot did not read them (--also).
 *
 * A value is the name of a class ("modules": what a boot on other hardware reads, by the tables in
 * also.c; "auto": the rest of the groups in which traces of unlike machines differ), or a pattern
 * for paths (reorder/plan/glob.h), told apart by one of "/ * ? [" in it. A pattern that matches a
 * directory takes all below it.
 */
#ifndef RO_ALSO_H
#define RO_ALSO_H

#include "reorder/image/image_tree.h"

typedef struct {
	guint32 inode; /* a regular file with data, or a symlink */
	guint32 value; /* index of the --also value that chose it */
} ro_also_file;

/* RO_ERROR_USAGE, "--also VALUE: reason". values: NULL-terminated. */
gboolean ro_also_check(const char *const *values, GError **error);

/*
 * The files that the values choose, each inode once: by value, by the class's table, by path.
 * kernel: whose modules are meant; those of all kernels if it is NULL or the image has none of it.
 * groups: what "auto" means, of ro_hardware_group; NULL: nothing.
 * names: of guint, set to how many names in the image each value means; or NULL. Returns an array
 * of ro_also_file.
 */
GArray *ro_also_find(const img_tree *tree, const char *const *values, const char *kernel,
	const GArray *groups, GArray *names, GError **error);

#endif
