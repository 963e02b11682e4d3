/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packs metadata into blocks of 8 KiB: the counterpart of reorder/image/metadata.h. */
#ifndef RO_SPLICE_METADATA_WRITER_H
#define RO_SPLICE_METADATA_WRITER_H

#include "reorder/image/metadata.h"
#include "reorder/splice/compressor.h"

typedef struct {
	GByteArray *stored;               /* finished blocks with their headers */
	ro_splice_compressor *compressor; /* borrowed; NULL: blocks are stored as they are */
	guint8 block[IMG_METADATA_BLOCK];
	gsize used;
} ro_splice_metadata;

void ro_splice_metadata_init(ro_splice_metadata *metadata, ro_splice_compressor *compressor);
void ro_splice_metadata_clear(ro_splice_metadata *metadata);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ro_splice_metadata, ro_splice_metadata_clear)

gboolean ro_splice_metadata_append(
	ro_splice_metadata *metadata, gconstpointer data, gsize size, GError **error);

/* The reference (block << 16) | offset of what is appended next. */
guint64 ro_splice_metadata_reference(const ro_splice_metadata *metadata);

/* Ends the last block, which may be a short one. */
gboolean ro_splice_metadata_finish(ro_splice_metadata *metadata, GError **error);

#endif
