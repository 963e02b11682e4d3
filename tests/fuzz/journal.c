/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An undo journal beside an ISO, with right checksums if the first byte of the input is odd. */
#include <stdlib.h>
#include <zlib.h>

#include "iso/journal.h"
#include "tests/fuzz/fuzz.h"

enum { ISO_SIZE = 8192, FIXED = 32, RANGE = 16, SUMS = 12 };

static char iso_path[] = "/dev/shm/fuzz-journal-XXXXXX";

static guint8 iso_byte(guint64 at)
{
	return (guint8)(at * 7);
}

static void write_iso(void)
{
	g_autofree guint8 *iso = g_malloc(ISO_SIZE);

	for (gsize i = 0; i < ISO_SIZE; i++)
		iso[i] = iso_byte(i);
	g_assert_true(g_file_set_contents(iso_path, (const char *)iso, ISO_SIZE, NULL));
}

static void put_le32(guint8 *to, guint32 value)
{
	value = GUINT32_TO_LE(value);
	memcpy(to, &value, sizeof(value));
}

/* The CRC of the ISO outside of the ranges, if they are in order. */
static guint32 outside_crc(const guint8 *ranges, guint64 count)
{
	guint32 crc = 0;
	guint64 at = 0;

	for (guint64 i = 0; i <= count; i++) {
		guint64 start = i < count ? img_le64(ranges + i * RANGE) : ISO_SIZE;
		guint64 length = i < count ? img_le64(ranges + i * RANGE + 8) : 0;

		if (start < at || start > ISO_SIZE || length > ISO_SIZE - start)
			return 0;
		for (; at < start; at++) {
			guint8 byte = iso_byte(at);

			crc = (guint32)crc32(crc, &byte, 1);
		}
		at = start + length;
	}
	return crc;
}

static void make_right(guint8 *journal, gsize size)
{
	guint64 count = size >= FIXED ? img_le64(journal + 24) : 0;
	gsize head;

	if (size < FIXED + SUMS || count > (size - FIXED - SUMS) / RANGE)
		return;
	head = FIXED + count * RANGE;
	put_le32(journal + head, outside_crc(journal + FIXED, count));
	put_le32(journal + head + 4,
		(guint32)crc32(0, journal + head + SUMS, (uInt)(size - head - SUMS)));
	put_le32(journal + head + 8, (guint32)crc32(0, journal, (uInt)(head + 8)));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	static gboolean ready;
	g_autofree guint8 *journal = g_memdup2(data, size);
	g_autofree char *path = NULL;
	gboolean undone;
	GError *error = NULL;

	if (!ready) {
		close(mkstemp(iso_path));
		ready = TRUE;
	}
	write_iso();
	path = li_journal_path(iso_path);
	if (size > 1 && journal[0] % 2)
		make_right(journal + 1, size - 1);
	g_assert_true(g_file_set_contents(path, size > 1 ? (const char *)journal + 1 : "",
		size > 1 ? (gssize)size - 1 : 0, NULL));
	if (!fz_done(li_recover(iso_path, &undone, &error), &error))
		unlink(path);
	else
		g_assert_true(undone && !li_journal_exists(iso_path));
	unlink(iso_path);
	return 0;
}
