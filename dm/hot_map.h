/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hot map: which bytes of the new ISO its boot will read, so that they can be read in one go.
 *
 * What goes in, all by where it lies on the new ISO:
 * - data of the hot files: whole, with the fragment block; of files of which the boot read only a
 *   little, the blocks that were read, or without a read log as many of the first as the trace says
 *   bytes were read;
 * - the image's superblock and its tables;
 * - volume descriptors, path tables, and the directory records down to the second level and beside
 *   the image;
 * - what the old boot read of other files (/.disk/info), at the same place in them;
 * - what else it read: probing. In the image that is what tr_coverage_split cannot explain. It goes
 *   to the same distance from the start of the image, and of the medium (from their end, if it was
 *   within 1 MiB of that). Runs of more than 1 MiB are no probing and are left out;
 * - a fixed list of places, for the medium and the image: 0 to 68 KiB, 256 and 512 KiB, 1, 2 and
 *   4 MiB, the last 64 KiB; of the medium the first and the last 516 KiB, in which udev looks for
 *   filesystems page by page while the sweep goes on; so a kept trace, which has no read log, will
 *   do.
 *
 * Gaps of up to 147,456 bytes are read through: 0.1 s of transfer at the hub of the modelled CD
 * (trace/medium/drive.h), which is what the drive does anyway. Where that leaves too many extents,
 * larger ones are, too.
 */
#ifndef DMX_HOT_MAP_H
#define DMX_HOT_MAP_H

#include "dm/map_text.h"
#include "iso/live_iso.h"
#include "reorder/image/image_tree.h"
#include "trace/trace.h"

enum { DMX_GAP = 36 * 4096 };

/* A file that the boot reads. */
typedef struct {
	guint32 inode;   /* of the old tree */
	gboolean partly; /* only a little of it */
} dmx_hot_file;

/* Everything is borrowed. */
typedef struct {
	const li_iso *old_iso, *new_iso; /* new_iso may be the old one: an estimate before it is
					    written */
	const char *image;               /* path of the image on both */
	const img_tree *old_tree, *new_tree;
	const GArray *files; /* of dmx_hot_file */
	tr_trace *trace;     /* its events' bytes may be set */
	const GArray *reads; /* of tr_read: the old boot's, of the old ISO; NULL: a kept trace */
	gsize max_bytes;     /* of the extents' lines in the text; 0: as the format allows */
} dmx_hot_map_job;

typedef struct {
	GArray *extents; /* of struct dmx_extent, as the format wants them */
	guint64 bytes;   /* of these */
	/*
	 * Distinct bytes that the old boot read, in pages of 4096, and how many of these are in the
	 * map. The old log cannot say where the new boot will read: data of a hot file count as
	 * covered if the map has that block of the file on the new ISO, tables and probing if it
	 * has where they are now. What the kernel merely read ahead is in neither. 0 without a log.
	 */
	guint64 reads, covered;
} dmx_hot_map;

/* Clear the map in either case. */
gboolean dmx_hot_map_make(const dmx_hot_map_job *job, dmx_hot_map *map, GError **error);
void dmx_hot_map_clear(dmx_hot_map *map);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(dmx_hot_map, dmx_hot_map_clear)

/* Whether the entry starts the loader. */
gboolean dmx_entry_has_preload(const li_entry *entry);

/*
 * The map that is in an ISO's initrds. RO_ERROR_UNSUITABLE if there is none or it is broken. To be
 * cleared with dmx_map_clear in either case.
 */
gboolean dmx_hot_map_of_iso(const li_iso *iso, struct dmx_map *map, GError **error);

#endif
