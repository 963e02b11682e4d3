/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/compression.h"

#include <string.h>

#include <bzlib.h>
#include <lz4.h>
#include <lzma.h>
#include <lzo/lzo1x.h>
#include <zlib.h>
#include <zstd.h>

#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { OUT_SIZE = 64 * 1024 };

/* One call of a library takes at most so many bytes (its counters have 32 bits). */
enum { IN_MAX = 1 << 24 };

#define LZMA_MEMORY ((guint64)256 << 20)
#define UNPACKED_MAX ((guint64)2 << 30)

/* Where the unpacked bytes go. */
typedef struct {
	li_sink sink; /* NULL: nowhere */
	gpointer user;
	guint64 total;
	gboolean full; /* the sink has enough */
} output;

/* All length functions: the stream's length, 0 if it is damaged, cut off, or the output is full.
 * out: NULL where only the length is asked for; it need not be unpacked then. */
typedef gsize (*length_func)(const guint8 *data, gsize size, output *out);

/* FALSE: stop. */
static gboolean put(output *out, const guint8 *data, gsize size)
{
	out->total += size;
	if (out->sink && size > 0 && !out->full)
		out->full = !out->sink(data, size, out->user);
	return !out->full && out->total < UNPACKED_MAX && !ro_interrupted(NULL);
}

static gsize gzip_length(const guint8 *data, gsize size, output *to)
{
	z_stream stream = {.next_in = (Bytef *)data};
	guint8 out[OUT_SIZE];
	int code = inflateInit2(&stream, 16 + MAX_WBITS);
	gsize used = 0;

	for (gboolean more = TRUE; code == Z_OK && more;) {
		uInt given = (uInt)MIN(size - used, IN_MAX);

		stream.avail_in = given;
		stream.next_out = out;
		stream.avail_out = sizeof(out);
		code = inflate(&stream, Z_NO_FLUSH);
		used += given - stream.avail_in;
		more = put(to, out, sizeof(out) - stream.avail_out);
	}
	inflateEnd(&stream);
	return code == Z_STREAM_END ? used : 0;
}

static gsize bzip2_length(const guint8 *data, gsize size, output *to)
{
	bz_stream stream = {.next_in = (char *)data};
	char out[OUT_SIZE];
	int code = BZ2_bzDecompressInit(&stream, 0, 0);
	gsize used = 0;

	if (code != BZ_OK)
		return 0;
	for (gboolean more = TRUE; code == BZ_OK && more;) {
		unsigned given = (unsigned)MIN(size - used, IN_MAX);

		stream.avail_in = given;
		stream.next_out = out;
		stream.avail_out = sizeof(out);
		code = BZ2_bzDecompress(&stream);
		used += given - stream.avail_in;
		more = put(to, (const guint8 *)out, sizeof(out) - stream.avail_out);
		/* Nothing in and nothing out: cut off. */
		if (code == BZ_OK && given == 0 && stream.avail_out == sizeof(out))
			break;
	}
	BZ2_bzDecompressEnd(&stream);
	return code == BZ_STREAM_END ? used : 0;
}

static gsize lzma_run(lzma_stream *stream, const guint8 *data, gsize size, output *to)
{
	guint8 out[OUT_SIZE];
	lzma_ret code = LZMA_OK;

	stream->next_in = data;
	stream->avail_in = size;
	for (gboolean more = TRUE; code == LZMA_OK && more;) {
		stream->next_out = out;
		stream->avail_out = sizeof(out);
		code = lzma_code(stream, LZMA_RUN);
		more = put(to, out, sizeof(out) - stream->avail_out);
	}
	lzma_end(stream);
	return code == LZMA_STREAM_END ? (gsize)stream->total_in : 0;
}

static gsize lzma_length(const guint8 *data, gsize size, output *to)
{
	lzma_stream stream = LZMA_STREAM_INIT;

	return lzma_alone_decoder(&stream, LZMA_MEMORY) == LZMA_OK
		       ? lzma_run(&stream, data, size, to)
		       : 0;
}

/* Without unpacking, for a stream that is the last thing in data: its footer and index say how long
 * it is. */
static gsize xz_length_by_index(const guint8 *data, gsize size)
{
	lzma_stream_flags flags;
	lzma_index *index = NULL;
	guint64 limit = LZMA_MEMORY;
	size_t at = 0;
	gsize index_size, length = 0;

	while (size > 0 && data[size - 1] == 0)
		size--;
	if (size < 2 * LZMA_STREAM_HEADER_SIZE ||
		lzma_stream_footer_decode(&flags, data + size - LZMA_STREAM_HEADER_SIZE) !=
			LZMA_OK ||
		flags.backward_size > size - 2 * LZMA_STREAM_HEADER_SIZE)
		return 0;
	index_size = (gsize)flags.backward_size;
	if (lzma_index_buffer_decode(&index, &limit, NULL,
		    data + size - LZMA_STREAM_HEADER_SIZE - index_size, &at, index_size) != LZMA_OK)
		return 0;
	if (lzma_index_file_size(index) == size)
		length = size;
	lzma_index_end(index, NULL);
	return length;
}

static gsize xz_length(const guint8 *data, gsize size, output *to)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	gsize length = to->sink ? 0 : xz_length_by_index(data, size);

	if (length > 0 || lzma_stream_decoder(&stream, LZMA_MEMORY, 0) != LZMA_OK)
		return length;
	return lzma_run(&stream, data, size, to);
}

static gboolean zstd_unpack(const guint8 *data, gsize size, output *to)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {data, size, 0};
	guint8 out[OUT_SIZE];
	size_t left = 1;
	gboolean more = TRUE;

	while (left > 0 && !ZSTD_isError(left) && more) {
		ZSTD_outBuffer buffer = {out, sizeof(out), 0};

		left = ZSTD_decompressStream(stream, &buffer, &in);
		more = put(to, out, buffer.pos);
	}
	ZSTD_freeDStream(stream);
	return left == 0;
}

static gsize zstd_length(const guint8 *data, gsize size, output *to)
{
	size_t length = ZSTD_findFrameCompressedSize(data, size);

	if (ZSTD_isError(length))
		return 0;
	return !to->sink || zstd_unpack(data, length, to) ? length : 0;
}

static guint32 be32(const guint8 *bytes)
{
	guint32 value;

	memcpy(&value, bytes, sizeof(value));
	return GUINT32_FROM_BE(value);
}

/* Header of lzop's format (lzop: src/lzop.c, Linux: lib/decompress_unlzo.c). */
enum {
	LZOP_VERSION = 9,
	LZOP_NEW_VERSION = 0x0940,
	LZOP_ADLER_UNPACKED = 0x1,
	LZOP_ADLER_PACKED = 0x2,
	LZOP_EXTRA = 0x40,
	LZOP_CRC_UNPACKED = 0x100,
	LZOP_CRC_PACKED = 0x200,
	LZOP_FILTER = 0x800,
};

/* Offset of the first block, 0 if there is none. */
static gsize lzop_header(const guint8 *data, gsize size, guint32 *flags)
{
	gboolean new_version;
	gsize at;

	if (size < 64)
		return 0;
	new_version = (data[LZOP_VERSION] << 8 | data[LZOP_VERSION + 1]) >= LZOP_NEW_VERSION;
	at = LZOP_VERSION + (new_version ? 8 : 5);
	*flags = be32(data + at);
	at += 4 + (*flags & LZOP_FILTER ? 4 : 0) + 4 + (new_version ? 8 : 4);
	at += 1u + data[at] + 4;
	if (!(*flags & LZOP_EXTRA))
		return at;
	return at + 4 > size ? 0 : at + 8 + be32(data + at);
}

static gsize lzop_checksums(guint32 flags, gboolean packed)
{
	gsize length = (flags & LZOP_ADLER_UNPACKED ? 4 : 0) + (flags & LZOP_CRC_UNPACKED ? 4 : 0);

	if (packed)
		length += (flags & LZOP_ADLER_PACKED ? 4 : 0) + (flags & LZOP_CRC_PACKED ? 4 : 0);
	return length;
}

/* A block of lzop has at most 64 MiB; as large as it is packed, it is not. */
enum { LZOP_BLOCK_MAX = 64 << 20 };

static gboolean lzo_block(const guint8 *data, guint32 packed, guint32 unpacked, output *to)
{
	g_autofree guint8 *block = NULL;
	lzo_uint length = unpacked;

	if (!to->sink)
		return TRUE;
	if (packed == unpacked)
		return put(to, data, unpacked);
	if (packed > unpacked || unpacked > LZOP_BLOCK_MAX)
		return FALSE;
	block = g_malloc(unpacked);
	return lzo1x_decompress_safe(data, packed, block, &length, NULL) == LZO_E_OK &&
	       length == unpacked && put(to, block, unpacked);
}

static gsize lzo_length(const guint8 *data, gsize size, output *to)
{
	guint32 flags = 0;
	gsize at = lzop_header(data, size, &flags);

	while (at > 0 && at <= size && size - at >= 4) {
		guint32 unpacked = be32(data + at), packed;

		if (unpacked == 0)
			return at + 4;
		if (size - at < 8)
			return 0;
		packed = be32(data + at + 4);
		at += 8 + lzop_checksums(flags, packed < unpacked);
		if (packed == 0 || at > size || packed > size - at ||
			!lzo_block(data + at, packed, unpacked, to))
			return 0;
		at += packed;
	}
	return 0;
}

/* Legacy frame (lz4: doc/lz4_Frame_format.md): magic, then blocks, each behind its size; it goes on
 * to the end of the file. */
enum { LZ4_MAGIC = 0x184c2102, LZ4_BLOCK_MAX = 8 << 20 };

static gboolean lz4_block(const guint8 *data, guint32 packed, guint8 *buffer, output *to)
{
	int length;

	if (!to->sink)
		return TRUE;
	length = packed > LZ4_COMPRESSBOUND(LZ4_BLOCK_MAX)
			 ? -1
			 : LZ4_decompress_safe(
				   (const char *)data, (char *)buffer, (int)packed, LZ4_BLOCK_MAX);
	return length >= 0 && put(to, buffer, (gsize)length);
}

static gsize lz4_length(const guint8 *data, gsize size, output *to)
{
	g_autofree guint8 *buffer = to->sink ? g_malloc(LZ4_BLOCK_MAX) : NULL;
	gsize at = 4;

	while (size - at >= 4) {
		guint32 block = img_le32(data + at);

		if (block == 0)
			break;
		at += 4;
		if (block == LZ4_MAGIC)
			continue;
		if (block > size - at || !lz4_block(data + at, block, buffer, to))
			return 0;
		at += block;
	}
	return at;
}

static const struct {
	const char *name;
	guint8 magic_size;
	guint8 magic[9];
	length_func length;
} formats[] = {
	{"gzip", 2, {0x1f, 0x8b}, gzip_length},
	{"bzip2", 3, {'B', 'Z', 'h'}, bzip2_length},
	{"xz", 6, {0xfd, '7', 'z', 'X', 'Z', 0}, xz_length},
	{"lzo", 9, {0x89, 'L', 'Z', 'O', 0, '\r', '\n', 0x1a, '\n'}, lzo_length},
	{"lz4", 4, {0x02, 0x21, 0x4c, 0x18}, lz4_length},
	{"zstd", 4, {0x28, 0xb5, 0x2f, 0xfd}, zstd_length},
	{"lzma", 3, {0x5d, 0, 0}, lzma_length},
};

static gssize find_format(const guint8 *data, gsize size)
{
	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
		if (size >= formats[i].magic_size &&
			memcmp(data, formats[i].magic, formats[i].magic_size) == 0)
			return (gssize)i;
	return -1;
}

const char *li_compression_name(const guint8 *data, gsize size)
{
	gssize format = find_format(data, size);

	return format < 0 ? NULL : formats[format].name;
}

static gboolean run(const guint8 *data, gsize size, output *to, gsize *length, GError **error)
{
	gssize format = find_format(data, size);

	if (format < 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE, "not compressed in a known format");
	*length = formats[format].length(data, size, to);
	if (ro_interrupted(error))
		return FALSE;
	return *length > 0 || to->full ||
	       ro_fail(error, RO_ERROR_UNSUITABLE, "damaged or cut-off %s data",
		       formats[format].name);
}

gboolean li_compressed_length(const guint8 *data, gsize size, gsize *length, GError **error)
{
	output nowhere = {0};

	return run(data, size, &nowhere, length, error);
}

gboolean li_unpack(const guint8 *data, gsize size, li_sink sink, gpointer user, GError **error)
{
	output to = {.sink = sink, .user = user};
	gsize length;

	return run(data, size, &to, &length, error);
}

typedef struct {
	GByteArray *bytes;
	gsize limit;
	gboolean too_large;
} collector;

static gboolean collect(const guint8 *data, gsize size, gpointer user)
{
	collector *c = user;

	c->too_large = size > c->limit - c->bytes->len;
	if (!c->too_large)
		g_byte_array_append(c->bytes, data, (guint)size);
	return !c->too_large;
}

GBytes *li_unpack_all(const guint8 *data, gsize size, gsize limit, GError **error)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	collector c = {bytes, MIN(limit, G_MAXUINT32), FALSE};

	if (!li_unpack(data, size, collect, &c, error))
		return NULL;
	if (c.too_large) {
		ro_fail(error, RO_ERROR_UNSUITABLE, "unpacks to more than %zu bytes", c.limit);
		return NULL;
	}
	return g_byte_array_free_to_bytes(g_steal_pointer(&bytes));
}
