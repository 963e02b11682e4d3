/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/gpt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "reorder/image/le.h"
#include "reorder/util/error.h"

/* Offsets in the header and in an entry. */
enum {
	HEADER_SIZE = 12,
	HEADER_CRC = 16,
	OTHER_HEADER = 32,
	DISK_GUID = 56,
	ENTRIES = 72,
	ENTRY_COUNT = 80,
	ENTRY_SIZE = 84,
	ENTRIES_CRC = 88,
	HEADER_MIN = 92,
	TYPE_GUID = 0,
	PARTITION_GUID = 16,
	FLAGS = 48,
	ENTRY_MIN = 128,
	GUID_SIZE = 16,
	MAX_ENTRIES = 1024,
	MAX_ENTRY_SIZE = 4096,
};

static void put_le32(guint8 *bytes, guint32 value)
{
	value = GUINT32_TO_LE(value);
	memcpy(bytes, &value, sizeof(value));
}

static guint32 crc(const guint8 *data, gsize size)
{
	return (guint32)crc32(0, data, (uInt)size);
}

/* The CRC of the header counts its own field as zero. */
static guint32 header_crc(const li_gpt *gpt)
{
	guint8 copy[LI_GPT_BLOCK];

	memcpy(copy, gpt->header, sizeof(copy));
	put_le32(copy + HEADER_CRC, 0);
	return crc(copy, gpt->header_size);
}

static gboolean parse_header(li_gpt *gpt)
{
	const guint8 *h = gpt->header;

	gpt->header_size = img_le32(h + HEADER_SIZE);
	gpt->entry_count = img_le32(h + ENTRY_COUNT);
	gpt->entry_size = img_le32(h + ENTRY_SIZE);
	if (memcmp(h, "EFI PART", 8) || gpt->header_size < HEADER_MIN ||
		gpt->header_size > LI_GPT_BLOCK)
		return FALSE;
	if (!gpt->entry_count || gpt->entry_count > MAX_ENTRIES || gpt->entry_size < ENTRY_MIN ||
		gpt->entry_size > MAX_ENTRY_SIZE)
		return FALSE;
	if (img_le64(h + ENTRIES) > G_MAXINT64 / LI_GPT_BLOCK ||
		img_le64(h + OTHER_HEADER) > G_MAXINT64 / LI_GPT_BLOCK)
		return FALSE;
	gpt->entries_offset = img_le64(h + ENTRIES) * LI_GPT_BLOCK;
	gpt->backup = img_le64(h + OTHER_HEADER) * LI_GPT_BLOCK;
	return header_crc(gpt) == img_le32(h + HEADER_CRC);
}

gboolean li_gpt_read(int fd, guint64 offset, li_gpt *gpt)
{
	gsize size;

	*gpt = (li_gpt){.offset = offset};
	if (pread(fd, gpt->header, LI_GPT_BLOCK, (off_t)offset) != LI_GPT_BLOCK ||
		!parse_header(gpt))
		return FALSE;
	size = (gsize)gpt->entry_count * gpt->entry_size;
	gpt->entries = g_malloc(size);
	if (pread(fd, gpt->entries, size, (off_t)gpt->entries_offset) == (ssize_t)size &&
		crc(gpt->entries, size) == img_le32(gpt->header + ENTRIES_CRC))
		return TRUE;
	li_gpt_clear(gpt);
	return FALSE;
}

void li_gpt_clear(li_gpt *gpt)
{
	g_clear_pointer(&gpt->entries, g_free);
}

static gboolean copy(guint8 *to, const guint8 *from, gsize size)
{
	gboolean changed = memcmp(to, from, size) != 0;

	memcpy(to, from, size);
	return changed;
}

gboolean li_gpt_copy_ids(li_gpt *gpt, const li_gpt *from)
{
	gboolean changed = copy(gpt->header + DISK_GUID, from->header + DISK_GUID, GUID_SIZE);

	for (guint i = 0; i < MIN(gpt->entry_count, from->entry_count); i++) {
		guint8 *to_entry = gpt->entries + (gsize)i * gpt->entry_size;
		const guint8 *entry = from->entries + (gsize)i * from->entry_size;

		if (memcmp(to_entry + TYPE_GUID, entry + TYPE_GUID, GUID_SIZE))
			continue;
		changed |= copy(to_entry + PARTITION_GUID, entry + PARTITION_GUID, GUID_SIZE);
		changed |=
			copy(to_entry + FLAGS, entry + FLAGS, ENTRY_MIN - FLAGS); /* and the name */
	}
	return changed;
}

static gboolean put(int fd, guint64 offset, const void *data, gsize size, GError **error)
{
	ssize_t done = pwrite(fd, data, size, (off_t)offset);

	if (done == (ssize_t)size)
		return TRUE;
	return ro_fail_errno(
		error, done < 0 ? errno : ENOSPC, "new ISO: write the partition table");
}

gboolean li_gpt_write(int fd, li_gpt *gpt, GError **error)
{
	gsize size = (gsize)gpt->entry_count * gpt->entry_size;

	put_le32(gpt->header + ENTRIES_CRC, crc(gpt->entries, size));
	put_le32(gpt->header + HEADER_CRC, header_crc(gpt));
	return put(fd, gpt->entries_offset, gpt->entries, size, error) &&
	       put(fd, gpt->offset, gpt->header, LI_GPT_BLOCK, error);
}
