/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proof that a relocated filesystem is the old one but for the places of blocks, and that these are
 * in the order that was wanted.
 */
#ifndef RO_VERIFY_EXT4_H
#define RO_VERIFY_EXT4_H

#include "reorder/verify.h"

/*
 * Compared are the superblock, byte for byte; the group descriptors but for block bitmaps and their
 * counts; the inode bitmaps; every inode in use, all its bytes but block numbers and checksums;
 * attribute blocks; the content of everything that has blocks, holes and unwritten parts by
 * themselves; all blocks that had to stay. The new filesystem is surveyed as the old one was (every
 * block has one owner and is marked as used). The first difference is RO_ERROR_FAILED.
 *
 * Of the result, planned are the wanted inodes that have blocks; in_place those that lie in one
 * piece (but for fixed blocks in between) and behind all that were wanted before them; the hot
 * region reaches from the first to the last block of them, hot_foreign is what others have there.
 * Less than half in place is RO_ERROR_FAILED.
 */
gboolean ro_ext4_verify(const img_source *old_source, const img_source *new_source,
	const guint32 *wanted, gsize count, ro_progress *progress, ro_verify_result *result,
	GError **error);

#endif
