/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The compression formats that Linux takes for kernels and initrds (Linux: lib/decompress.c).
 */
#ifndef LI_COMPRESSION_H
#define LI_COMPRESSION_H

#include <glib.h>

/* "gzip", "bzip2", "lzma", "xz", "lzo", "lz4" (legacy frame), "zstd", by the first bytes; NULL if
 * it is none of them. Static. */
const char *li_compression_name(const guint8 *data, gsize size);

/*
 * How many bytes at the start of data belong to the compressed stream: one gzip member, xz stream,
 * zstd frame, …; for lz4, which has no end mark, all frames up to the end of data or to zeros.
 * Finds out by unpacking where there is no other way; the result is thrown away, memory is bounded.
 * RO_ERROR_UNSUITABLE if the stream is damaged or cut off.
 */
gboolean li_compressed_length(const guint8 *data, gsize size, gsize *length, GError **error);

#endif
