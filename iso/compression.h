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

/* Takes the next unpacked bytes; FALSE ends the unpacking, which is no error. */
typedef gboolean (*li_sink)(const guint8 *data, gsize size, gpointer user);

/*
 * Unpacks the stream at the start of data, piece by piece (lz4: frame after frame, as above).
 * Memory is bounded: 256 MiB for LZMA's dictionary, a block for lz4 and lzo. RO_ERROR_UNSUITABLE if
 * the stream is damaged, cut off or unpacks to more than 2 GiB.
 */
gboolean li_unpack(const guint8 *data, gsize size, li_sink sink, gpointer user, GError **error);

/* The whole stream; RO_ERROR_UNSUITABLE if it unpacks to more than limit bytes. */
GBytes *li_unpack_all(const guint8 *data, gsize size, gsize limit, GError **error);

#endif
