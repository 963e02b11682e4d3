/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proof that the new image has the same tree as the old one, and that its order is the plan's. */
#ifndef RO_VERIFY_H
#define RO_VERIFY_H

#include "reorder/plan.h"
#include "reorder/util/progress.h"

typedef struct {
	guint32 inodes;             /* compared */
	guint64 bytes;              /* of content compared, unpacked */
	guint32 planned;            /* files of the plan that have data */
	guint32 in_place;           /* of these: they lie where the plan wants them */
	guint64 hot_start, hot_end; /* of the new image: bytes where the data of the planned files
				       begins and ends */
	guint64 hot_foreign;        /* bytes of other files' blocks in between */
} ro_verify_result;

/*
 * Every inode of both trees, paired by path: type, mode, ids, mtime, xattrs, hard-link groups,
 * device numbers, symlink targets, sizes, content; superblock: compressor and its options, block
 * size, flags, time. The first difference is RO_ERROR_FAILED "PATH: what differs". plan's inodes
 * are of the old tree. Content is compared by streams on all processors; memory does not grow with
 * the data.
 */
gboolean ro_verify_image(const img_tree *old_tree, const img_tree *new_tree, const ro_plan *plan,
	ro_progress *progress, ro_verify_result *result, GError **error);

#endif
