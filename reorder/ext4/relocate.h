/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moves blocks inside an ext2, ext3 or ext4 filesystem: makes a copy of the image in which the
 * wanted inodes' blocks follow each other, and everything but the place of the blocks is the same:
 * inode numbers, all metadata, superblock, free counts, the shape of block maps.
 *
 * The data is copied once, straight to its new place; free blocks become holes. Blocks of the
 * filesystem itself, of reserved inodes and of the journal stay. Backups of group descriptors stay
 * as they are, which is what the kernel does with them. The same input gives the same bytes.
 */
#ifndef RO_EXT4_RELOCATE_H
#define RO_EXT4_RELOCATE_H

#include "reorder/plan/plan.h"
#include "reorder/util/progress.h"

typedef struct {
	const img_source *source; /* the image */
	const char *out_path;     /* the new one; does not exist */
	ro_layout layout;         /* front, or at the end of what is used */
	const guint32 *wanted;    /* inode numbers, in order */
	gsize count;
	ro_progress *progress;
} ro_ext4_job;

/* Refusals (see img_ext4_open) are RO_ERROR_UNSUITABLE. Removes out_path again on failure. */
gboolean ro_ext4_relocate(const ro_ext4_job *job, GError **error);

/* The inode numbers of a plan: directories, then symlinks, then files. Array of guint32, owned by
 * the caller. */
GArray *ro_ext4_wanted(const img_tree *tree, const ro_plan *plan);

#endif
