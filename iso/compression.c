/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/compression.h"

#include <string.h>

#include <bzlib.h>
#include <lzma.h>
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

/* All length functions: the stream's length, 0 if it is damaged or cut off. */
typedef gsize (*length_func)(const guint8 *data, gsize size);

static gboolean goes_on(guint64 unpacked)
{
	return unpacked < UNPACKED_MAX && !ro_interrupted(NULL);
}

static gsize gzip_length(const guint8 *data, gsize size)
{
	z_stream stream = {.next_in = (Bytef *)data};
	guint8 out[OUT_SIZE];
	int code = inflateInit2(&stream, 16 + MAX_WBITS);
	gsize used = 0;

	while (code == Z_OK && goes_on(stream.total_out)) {
		uInt given = (uInt)MIN(size - used, IN_MAX);

		stream.avail_in = given;
		stream.next_out = out;
		stream.avail_out = sizeof(out);
		code = inflate(&stream, Z_NO_FLUSH);
		used += given - stream.avail_in;
	}
	inflateEnd(&stream);
	return code == Z_STREAM_END ? used : 0;
}

static gsize bzip2_length(const guint8 *data, gsize size)
{
	bz_stream stream = {.next_in = (char *)data};
	char out[OUT_SIZE];
	int code = BZ2_bzDecompressInit(&stream, 0, 0);
	gsize used = 0;

	if (code != BZ_OK)
		return 0;
	for (guint64 unpacked = 0; code == BZ_OK && goes_on(unpacked);) {
		unsigned given = (unsigned)MIN(size - used, IN_MAX);

		stream.avail_in = given;
		stream.next_out = out;
		stream.avail_out = sizeof(out);
		code = BZ2_bzDecompress(&stream);
		used += given - stream.avail_in;
		unpacked += sizeof(out) - stream.avail_out;
		/* Nothing in and nothing out: cut off. */
		if (code == BZ_OK && given == 0 && stream.avail_out == sizeof(out))
			break;
	}
	BZ2_bzDecompressEnd(&stream);
	return code == BZ_STREAM_END ? used : 0;
}

static gsize lzma_run(lzma_stream *stream, const guint8 *data, gsize size)
{
	guint8 out[OUT_SIZE];
	lzma_ret code = LZMA_OK;

	stream->next_in = data;
	stream->avail_in = size;
	while (code == LZMA_OK && goes_on(stream->total_out)) {
		stream->next_out = out;
		stream->avail_out = sizeof(out);
		code = lzma_code(stream, LZMA_RUN);
	}
	lzma_end(stream);
	return code == LZMA_STREAM_END ? (gsize)stream->total_in : 0;
}

static gsize lzma_length(const guint8 *data, gsize size)
{
	lzma_stream stream = LZMA_STREAM_INIT;

	return lzma_alone_decoder(&stream, LZMA_MEMORY) == LZMA_OK ? lzma_run(&stream, data, size)
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

static gsize xz_length(const guint8 *data, gsize size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	gsize length = xz_length_by_index(data, size);

	if (length > 0 || lzma_stream_decoder(&stream, LZMA_MEMORY, 0) != LZMA_OK)
		return length;
	return lzma_run(&stream, data, size);
}

static gsize zstd_length(const guint8 *data, gsize size)
{
	size_t length = ZSTD_findFrameCompressedSize(data, size);

	return ZSTD_isError(length) ? 0 : length;
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

static gsize lzo_length(const guint8 *data, gsize size)
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
		if (packed == 0 || at > size || packed > size - at)
			return 0;
		at += packed;
	}
	return 0;
}

/* Legacy frame (lz4: doc/lz4_Frame_format.md): magic, then blocks, each behind its size; it goes on
 * to the end of the file. */
enum { LZ4_MAGIC = 0x184c2102 };

static gsize lz4_length(const guint8 *data, gsize size)
{
	gsize at = 4;

	while (size - at >= 4) {
		guint32 block = img_le32(data + at);

		if (block == 0)
			break;
		at += 4;
		if (block == LZ4_MAGIC)
			continue;
		if (block > size - at)
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

gboolean li_compressed_length(const guint8 *data, gsize size, gsize *length, GError **error)
{
	gssize format = find_format(data, size);

	if (format < 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE, "not compressed in a known format");
	*length = formats[format].length(data, size);
	if (ro_interrupted(error))
		return FALSE;
	return *length > 0 || ro_fail(error, RO_ERROR_UNSUITABLE, "damaged or cut-off %s data",
				      formats[format].name);
}
