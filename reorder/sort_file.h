/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan in the syntax of other programs: mksquashfs -sort, gensquashfs --sort-file. */
#ifndef RO_SORT_FILE_H
#define RO_SORT_FILE_H

#include "reorder/plan/plan.h"

/*
 * For mksquashfs 4.x, run with the unpacked tree as its only source. Each file has a priority of
 * its own up to 65,535 files; of more, neighbours share one. Unplanned files that share their data
 * with a planned one get its priority. Names that the syntax cannot hold (a newline, "*" as the
 * last component, over 3 KiB) are listed by aliases: alias_dir/N, absolute; the caller makes these
 * hard links. aliases, if not NULL, gets the inode indexes (guint32) of the aliased files, N is the
 * index in it. With alias_dir NULL such files are left out and counted in *skipped.
 */
GString *ro_sort_file_mksquashfs(const ro_plan *plan, const img_tree *tree, const char *alias_dir,
	GArray *aliases, guint *skipped);

/* For gensquashfs (squashfs-tools-ng): lower is earlier. Names that it cannot hold (a newline)
 * are counted in *skipped. It takes quadratic time: 20,000 lines take most of a minute. */
GString *ro_sort_file_gensquashfs(const ro_plan *plan, const img_tree *tree, guint *skipped);

#endif
