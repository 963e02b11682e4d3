/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The host's side of the preload, from the checks before the boot to the map in the new ISO.
 *
 * The map says where things lie on the new ISO, and is in an initrd of it, whose size moves them.
 * So the initrds are written with as much room as an estimated map needs, and some more: zeros
 * behind the last archive, which the kernel skips. When every file has its place
 * (li_write_job.placed) the map is made, and the initrds' bytes are written anew: nothing moves any
 * more, and checksums come after that. A second run of xorriso would do too, but takes as long as
 * the first and has to give the same places; numbers of fixed width would not help, since their
 * count is not known before.
 */
#ifndef DMX_PRELOAD_H
#define DMX_PRELOAD_H

#include "dm/hot_map.h"
#include "iso/writer.h"

typedef struct dmx_preload dmx_preload;

typedef struct {
	guint entries;   /* that boot with the preload */
	GPtrArray *left; /* of char *: "FILE:LINE: why" of each live entry that does not */
	guint initrds;   /* that have grown */
	guint copies;    /* kernel modules put in */
	guint64 grown;   /* bytes, all initrds together */
	dmx_hot_map map; /* extents is NULL before dmx_preload_place */
} dmx_preload_result;

/*
 * Everything that can be known to fail, and all edits but the map. What it borrows has to outlive
 * it; scratch files go into workdir. RO_ERROR_UNSUITABLE if the entry that a machine starts by
 * itself cannot have a preload, with the reason.
 */
dmx_preload *dmx_preload_new(
	const li_iso *iso, const img_tree *tree, const char *workdir, GError **error);
void dmx_preload_free(dmx_preload *preload);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(dmx_preload, dmx_preload_free)

/*
 * Makes the initrds with room for the map and appends the files to be replaced (li_replacement,
 * which borrow from the preload). estimate: with the old ISO as the new one.
 */
gboolean dmx_preload_prepare(dmx_preload *preload, const dmx_hot_map_job *estimate,
	GArray *replacements, GError **error);

/* Makes the map and the initrds' last bytes, and compares the boot entries of job->new_iso, which
 * is being written. Once only. */
gboolean dmx_preload_place(dmx_preload *preload, const dmx_hot_map_job *job, GError **error);

const dmx_preload_result *dmx_preload_get_result(const dmx_preload *preload);

#endif
