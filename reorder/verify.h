/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proof that the new image has the same tree as the old one, and that its order is the plan's.
 *
 * Where the planned files should be: the hot region is the run of stored blocks at the end of the
 * data (or the front, by the plan's layout) that belong to planned files. Blocks that belong to
 * planned and other files alike (duplicates, fragment blocks) count as planned; up to two runs of
 * other files are let pass, which a packer that was just filling a fragment block leaves there.
 *
 * A planned file is in place if its data blocks and its fragment block lie in that region, and its
 * data blocks do not lie before those of a file that was planned before it. Where files have to
 * move for the order to be right, the fewest that would have to are the ones out of place. Files
 * that share their data count by the first of them. The order of the tails within the fragment
 * blocks is not looked at. Of more than 32,767 files, neighbours may have changed places: the
 * packer has fewer ranks than that.
 */
#ifndef RO_VERIFY_H
#define RO_VERIFY_H

#include "reorder/plan/plan.h"
#include "reorder/util/progress.h"

typedef struct {
	guint32 inodes;             /* compared */
	guint64 bytes;              /* of content compared, unpacked */
	guint32 planned;            /* files of the plan that have stored data */
	guint32 in_place;           /* of these: they lie where the plan wants them */
	guint64 hot_start, hot_end; /* the hot region of the new image, in bytes; both 0: none */
	guint64 hot_foreign;        /* bytes of other files' blocks in between */
} ro_verify_result;

/*
 * Every inode of both trees, paired by path: type, mode, ids, mtime, xattrs, hard-link groups,
 * device numbers, symlink targets, sizes, content; superblock: compressor and its options, block
 * size, flags, time. The first difference is RO_ERROR_FAILED "PATH: what differs"; so is a new
 * image in which less than half of the planned files are in place. plan's inodes are of the old
 * tree. Content is compared by streams on all processors; memory does not grow with the data.
 */
gboolean ro_verify_image(const img_tree *old_tree, const img_tree *new_tree, const ro_plan *plan,
	ro_progress *progress, ro_verify_result *result, GError **error);

#endif
