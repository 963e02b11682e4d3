/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer "blocks": which files a boot read, by the log of the medium's reads alone.
 *
 * squashfs can use a block only as a whole, so a file is a candidate if one of its data blocks was
 * read whole; one without data blocks if its fragment block was, whose files cannot be told apart.
 * Nor can those of an ext4 in a squashfs that share a block of that one; an ext4 by itself is read
 * by blocks of its own.
 *
 * A guest's kernel also reads ahead, which makes neighbours appear. What a reader came to is known
 * where a read starts somewhere new, and where the next one follows it: windows are read ahead when
 * the reader enters the one before (Linux: mm/readahead.c), so the last window of a run is a guess
 * of the kernel's, all before it was wanted. Files of which only such guesses were read are
 * candidates too, since the guest may have found them in its cache, but they come last.
 *
 * What only metadata tell (empty files, links, lists of names) is not seen; the directories on the
 * way to a file are taken to be read with it.
 */
#ifndef TR_BLOCK_TRACER_H
#define TR_BLOCK_TRACER_H

#include "reorder/image/layer.h"
#include "trace/read_log.h"
#include "trace/trace.h"

typedef struct tr_block_tracer tr_block_tracer;

/* reads (of tr_read) are borrowed. */
tr_block_tracer *tr_block_tracer_new(const GArray *reads);
void tr_block_tracer_free(tr_block_tracer *tracer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_block_tracer, tr_block_tracer_free)

/* An image on the medium, which lies at that offset (bytes). The layer is borrowed. Fails as
 * tr_data_map_new does. */
gboolean tr_block_tracer_add(
	tr_block_tracer *tracer, const img_layer *layer, guint64 offset, GError **error);

typedef struct {
	guint wanted; /* files that the boot came to */
	guint ahead;  /* files that were only read ahead */
} tr_block_counts;

/*
 * The events (of tr_event), owned by the caller: what was wanted by the time of its first read,
 * then what was only read ahead, with the time of the last read. start: the log's time at which the
 * guest's kernel started, seconds. bytes are unknown.
 */
GPtrArray *tr_block_tracer_events(
	const tr_block_tracer *tracer, double start, tr_block_counts *counts);

#endif
