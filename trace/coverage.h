/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cross-check of a trace against the read log of the same boot, and what the log knows about
 * each file.
 */
#ifndef TR_COVERAGE_H
#define TR_COVERAGE_H

#include "reorder/image/layer.h"
#include "reorder/util/ranges.h"
#include "trace/read_log.h"
#include "trace/trace.h"

typedef struct {
	guint64 image_bytes;     /* distinct bytes of the image that were read, in pages of 4096 */
	guint64 explained_bytes; /* of these: data of traced files, metadata, or read ahead */
	guint64 metadata_bytes;  /* of these: the tables and the superblock; of an ext4 all that
				    is of no regular file */
	double coverage;         /* explained / image bytes; 1 if nothing was read; -1: unknown */
} tr_coverage;

/*
 * Read ahead is what lies within 128 KiB behind data of a traced file or metadata, and the rest of
 * a request that starts there. image_offset: where the image lies on the medium, bytes. Sets bytes
 * of every event of a regular file of this image that has data blocks of its own: unpacked bytes of
 * its blocks that were read (the fragment's bytes count if its block was read). Of an ext4 in a
 * squashfs the latter's blocks count, as far as the file is in them. If an ext4 cannot be read
 * again, all is unknown.
 */
void tr_coverage_check(tr_trace *trace, const img_layer *layer, guint64 image_offset,
	const GArray *reads, tr_coverage *coverage);

/* Of several images, into the first. */
void tr_coverage_add(tr_coverage *sum, const tr_coverage *other);

/*
 * What was read of the image, told apart: lists of ro_range (bytes into the image, whole pages),
 * normalised, none of which overlap. Owned; clear it.
 */
typedef struct {
	GArray *metadata, *data; /* the tables and the superblock; data of traced files */
	GArray *ahead;           /* read ahead of either */
	GArray *unexplained;
} tr_coverage_parts;

/* Sets bytes of events as above. Fails as tr_data_map_new does. */
gboolean tr_coverage_split(tr_trace *trace, const img_layer *layer, guint64 image_offset,
	const GArray *reads, tr_coverage_parts *parts, GError **error);
void tr_coverage_parts_clear(tr_coverage_parts *parts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(tr_coverage_parts, tr_coverage_parts_clear)

#endif
