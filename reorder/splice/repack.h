/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the new fragment blocks: unpacks the old ones that are taken apart, each once, puts the
 * tails where they belong in a scratch file and packs that block by block.
 */
#ifndef RO_SPLICE_REPACK_H
#define RO_SPLICE_REPACK_H

#include "reorder/splice/fragments.h"

typedef struct ro_splice_repack ro_splice_repack;

/* Unpacks, and starts to pack in the background. fragments has to stay. */
ro_splice_repack *ro_splice_repack_start(
	ro_splice_fragments *fragments, const char *workdir, GError **error);

/* Waits until all is packed: the packs' size words are then set. Has no effect when called again.
 */
gboolean ro_splice_repack_wait(ro_splice_repack *repack, GError **error);

/* Reads a pack as it is to be stored; buffer holds one block. */
gboolean ro_splice_repack_read(
	ro_splice_repack *repack, guint pack, guint8 *buffer, GError **error);

void ro_splice_repack_free(ro_splice_repack *repack);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_splice_repack, ro_splice_repack_free)

#endif
