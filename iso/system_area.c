/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system area of an ISO: MBR, GPT (UEFI 2.x, 5.3), Apple partition map (Inside Macintosh:
 * Devices). */
#include <string.h>
#include <zlib.h>

#include "iso/volume.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

enum { BLOCK = 512, GPT_HEADER_MIN = 92 };

/* Offsets in the GPT header. */
enum { GPT_SIZE = 12, GPT_CRC = 16, GPT_BACKUP = 32, GPT_GUID = 56 };

static gboolean gpt_is_whole(const guint8 *header)
{
	guint8 copy[BLOCK];
	guint32 size = img_le32(header + GPT_SIZE);

	if (memcmp(header, "EFI PART", 8) != 0 || size < GPT_HEADER_MIN || size > BLOCK)
		return FALSE;
	memcpy(copy, header, BLOCK);
	memset(copy + GPT_CRC, 0, 4);
	return crc32(0, copy, size) == img_le32(header + GPT_CRC);
}

static char *hex(const guint8 *bytes, gsize length)
{
	GString *text = g_string_sized_new(2 * length);

	for (gsize i = 0; i < length; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

static gboolean read_gpt(
	const img_source *disc, const guint8 *header, li_volume *volume, GError **error)
{
	guint64 backup = img_le64(header + GPT_BACKUP);

	volume->gpt = gpt_is_whole(header);
	if (!volume->gpt)
		return TRUE;
	volume->gpt_disk_guid = hex(header + GPT_GUID, 16);
	if (backup < disc->size / BLOCK)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: truncated: its GPT ends in block %" G_GUINT64_FORMAT
		", the file has only %" G_GUINT64_FORMAT " blocks of 512 bytes; get the whole ISO",
		disc->label, backup, disc->size / BLOCK);
}

/* The map's first entry is in the block after the driver descriptor, which says how large blocks
 * are. */
static gboolean has_apm(const img_source *disc, const guint8 *descriptor)
{
	guint16 block = (guint16)(descriptor[2] << 8 | descriptor[3]);
	guint8 entry[2];

	return memcmp(descriptor, "ER", 2) == 0 && block >= BLOCK &&
	       img_source_read(disc, block, entry, sizeof(entry), NULL) &&
	       memcmp(entry, "PM", 2) == 0;
}

gboolean li_system_area_read(const img_source *disc, li_volume *volume, GError **error)
{
	guint8 area[2 * BLOCK];

	if (!img_source_read(disc, 0, area, sizeof(area), error))
		return FALSE;
	volume->mbr = area[510] == 0x55 && area[511] == 0xaa;
	volume->mbr_disk_id = volume->mbr ? img_le32(area + 440) : 0;
	volume->apm = has_apm(disc, area);
	return read_gpt(disc, area + BLOCK, volume, error);
}
