/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RO_VERIFY_INTERNAL_H
#define RO_VERIFY_INTERNAL_H

#include "reorder/verify.h"

/* Two images whose trees are equal. */
typedef struct {
	const img_tree *old_tree, *new_tree;
	guint32 *partner; /* of each inode of the old tree: the index in the new one */
} ro_pairs;

/* Compares the content of all files. *bytes: how much that was. */
gboolean ro_verify_content(
	const ro_pairs *pairs, ro_progress *progress, guint64 *bytes, GError **error);

/* Reads the order back from the new image; fills the result from planned on. */
void ro_verify_order(const ro_pairs *pairs, const ro_plan *plan, ro_verify_result *result);

/* "/PATH" of an inode as text for messages. Owned by the caller. */
char *ro_verify_path(const img_tree *tree, guint32 inode);

#endif
