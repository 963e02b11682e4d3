/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two GUID partition tables, at 512 bytes and at 32 KiB, with right checksums as far as they can be
 * had; sparse (fuzz.h). */
#include <zlib.h>

#include "iso/gpt.h"
#include "tests/fuzz/fuzz.h"

/* Offsets in a header (UEFI 2.x, 5.3.2). */
enum { SIZE = 12, CRC = 16, ENTRIES = 72, COUNT = 80, ENTRY = 84, ENTRIES_CRC = 88 };
enum { FIRST = 512, SECOND = 32768, BYTES_MAX = 1 << 20 };

static void put_le32(guint8 *to, guint32 value)
{
	value = GUINT32_TO_LE(value);
	memcpy(to, &value, sizeof(value));
}

static guint32 entries_crc(int fd, const guint8 *header)
{
	guint64 size = (guint64)img_le32(header + COUNT) * img_le32(header + ENTRY);
	guint64 offset = img_le64(header + ENTRIES) * LI_GPT_BLOCK;
	g_autofree guint8 *entries = g_malloc0(BYTES_MAX);

	if (size > BYTES_MAX || offset > G_MAXINT32)
		return 0;
	(void)!pread(fd, entries, size, (off_t)offset);
	return (guint32)crc32(0, entries, (uInt)size);
}

static void make_right(int fd, guint64 offset)
{
	guint8 header[LI_GPT_BLOCK] = {0};

	(void)!pread(fd, header, sizeof(header), (off_t)offset);
	put_le32(header + ENTRIES_CRC, entries_crc(fd, header));
	put_le32(header + CRC, 0);
	put_le32(header + CRC,
		(guint32)crc32(0, header, MIN(img_le32(header + SIZE), LI_GPT_BLOCK)));
	g_assert_cmpint(
		pwrite(fd, header, sizeof(header), (off_t)offset), ==, (gssize)sizeof(header));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_sparse_file(data, size);
	g_auto(li_gpt) first = {0}, second = {0};

	make_right(fd, SECOND);
	make_right(fd, FIRST);
	if (li_gpt_read(fd, FIRST, &first) && li_gpt_read(fd, SECOND, &second))
		li_gpt_copy_ids(&first, &second);
	close(fd);
	return 0;
}
