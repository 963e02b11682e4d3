/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/volume.h"

#include <string.h>

#include "iso/volume_tree.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

/* Sectors. Descriptors begin behind the system area (ECMA-119 6.7.1). */
enum { FIRST_DESCRIPTOR = 16, LAST_DESCRIPTOR = 47 };

/* Sectors that libburn puts before the first session to have room for the descriptors of the last
 * one (libisoburn's emulated table of contents). */
enum { SESSION_START = 32 };

/* ECMA-119 8.1.1 */
enum { TYPE_BOOT = 0, TYPE_PRIMARY = 1, TYPE_SUPPLEMENTARY = 2, TYPE_TERMINATOR = 255 };

/* Offsets in a descriptor (ECMA-119 8.4). */
enum {
	AT_SYSTEM_ID = 8,
	AT_VOLUME_ID = 40,
	AT_SPACE_SIZE = 80,
	AT_ESCAPES = 88,
	AT_BLOCK_SIZE = 128,
	AT_PUBLISHER = 318,
	AT_PREPARER = 446,
	AT_APPLICATION = 574,
	AT_CREATED = 813,
	AT_MODIFIED = 830,
	AT_ISOMD5 = 883, /* implantisomd5: in the application use */
};

static char *text_field(const guint8 *sector, gsize at, gsize length)
{
	char *text = g_strndup((const char *)sector + at, length);

	return g_strchomp(text);
}

static gboolean is_digits(const guint8 *bytes, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (!g_ascii_isdigit(bytes[i]))
			return FALSE;
	return TRUE;
}

/* "All zero digits and no offset" is how ECMA-119 says that there is no date. */
static gboolean is_date(const guint8 *date)
{
	static const char none[17] = "0000000000000000";

	return is_digits(date, 16) && memcmp(date, none, sizeof(none)) != 0;
}

char *li_volume_uuid(const guint8 *modified, const guint8 *created)
{
	const char *date = (const char *)(is_date(modified) ? modified : created);

	if (!is_date((const guint8 *)date))
		return NULL;
	return g_strdup_printf("%.4s-%.2s-%.2s-%.2s-%.2s-%.2s-%.2s", date, date + 4, date + 6,
		date + 8, date + 10, date + 12, date + 14);
}

static gboolean is_descriptor(const guint8 *sector)
{
	return memcmp(sector + 1, "CD001", 5) == 0;
}

static gboolean is_joliet(const guint8 *sector)
{
	static const char *const levels[] = {"%/@", "%/C", "%/E"};

	for (gsize i = 0; i < G_N_ELEMENTS(levels); i++)
		if (memcmp(sector + AT_ESCAPES, levels[i], 3) == 0)
			return TRUE;
	return FALSE;
}

static gboolean take_primary(
	const img_source *disc, const guint8 *sector, li_volume *volume, GError **error)
{
	if (img_le16(sector + AT_BLOCK_SIZE) != LI_SECTOR)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: logical blocks of %u bytes; only ISOs with blocks of 2048 bytes are supported",
			disc->label, img_le16(sector + AT_BLOCK_SIZE));
	volume->size = (guint64)img_le32(sector + AT_SPACE_SIZE) * LI_SECTOR;
	volume->volume_id = text_field(sector, AT_VOLUME_ID, 32);
	volume->system_id = text_field(sector, AT_SYSTEM_ID, 32);
	volume->publisher_id = text_field(sector, AT_PUBLISHER, 128);
	volume->preparer_id = text_field(sector, AT_PREPARER, 128);
	volume->application_id = text_field(sector, AT_APPLICATION, 128);
	volume->volume_uuid = li_volume_uuid(sector + AT_MODIFIED, sector + AT_CREATED);
	volume->isomd5 = memcmp(sector + AT_ISOMD5, "ISO MD5SUM = ", 13) == 0;
	return TRUE;
}

/* UTF-16 units that Joliet itself allows; mkisofs -joliet-long and libisofs exceed it. */
enum { JOLIET_UNITS = 64 };

static gboolean is_long(const char *record_name)
{
	glong units = g_utf8_strlen(record_name, -1);

	/* ";1" is no part of the name. */
	return units - (g_str_has_suffix(record_name, ";1") ? 2 : 0) > JOLIET_UNITS;
}

/* A broken Joliet tree is no reason to refuse here: the files come from the other one. */
static gboolean has_long_names(const img_source *disc)
{
	g_autoptr(li_tree) tree = li_tree_read(disc->fd, LI_VD_JOLIET, disc->label, NULL);

	for (guint i = 0; tree && i < tree->nodes->len; i++)
		if (is_long(((const li_node *)tree->nodes->pdata[i])->record_name))
			return TRUE;
	return FALSE;
}

/* One descriptor; *catalog becomes the sector of the boot catalog. */
static gboolean take_descriptor(const img_source *disc, const guint8 *sector, li_volume *volume,
	guint32 *catalog, GError **error)
{
	switch (sector[0]) {
	case TYPE_PRIMARY:
		return volume->volume_id || take_primary(disc, sector, volume, error);
	case TYPE_SUPPLEMENTARY:
		volume->joliet = volume->joliet || is_joliet(sector);
		return TRUE;
	case TYPE_BOOT:
		if (memcmp(sector + 7, "EL TORITO SPECIFICATION", 23) == 0)
			*catalog = img_le32(sector + 71);
		return TRUE;
	default:
		return TRUE;
	}
}

static gboolean is_udf(const guint8 *sector)
{
	return memcmp(sector + 1, "NSR02", 5) == 0 || memcmp(sector + 1, "NSR03", 5) == 0;
}

static gboolean read_descriptors(
	const img_source *disc, li_volume *volume, guint32 *catalog, GError **error)
{
	guint8 sector[LI_SECTOR];
	gboolean ended = FALSE;

	for (guint i = FIRST_DESCRIPTOR; i <= LAST_DESCRIPTOR; i++) {
		if (!img_source_read(disc, (guint64)i * LI_SECTOR, sector, sizeof(sector), NULL))
			break;
		volume->udf = volume->udf || is_udf(sector);
		ended = ended || !is_descriptor(sector) || sector[0] == TYPE_TERMINATOR;
		if (!ended && !take_descriptor(disc, sector, volume, catalog, error))
			return FALSE;
	}
	if (volume->volume_id)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		volume->udf ? "%s: UDF without an ISO 9660 volume; not supported"
			    : "%s: not an ISO 9660 image",
		disc->label);
}

/* Behind the first session; by itself that may well be the whole volume. */
static gboolean has_later_session(const img_source *disc, guint64 size)
{
	guint64 at = (SESSION_START + FIRST_DESCRIPTOR) * LI_SECTOR;
	guint8 sector[LI_SECTOR];

	return img_source_read(disc, at, sector, sizeof(sector), NULL) && is_descriptor(sector) &&
	       sector[0] == TYPE_PRIMARY &&
	       (SESSION_START + (guint64)img_le32(sector + AT_SPACE_SIZE)) * LI_SECTOR < size;
}

static gboolean check_size(const img_source *disc, const li_volume *volume, GError **error)
{
	if (volume->size <= disc->size)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: truncated: the volume has %" G_GUINT64_FORMAT
		" bytes, the file only %" G_GUINT64_FORMAT "; get the whole ISO",
		disc->label, volume->size, disc->size);
}

gboolean li_volume_read(
	const img_source *disc, li_volume *volume, GPtrArray *boot_images, GError **error)
{
	guint32 catalog = 0;

	if (!read_descriptors(disc, volume, &catalog, error) || !check_size(disc, volume, error) ||
		!li_system_area_read(disc, volume, error))
		return FALSE;
	if (catalog)
		li_el_torito_read(disc, catalog, boot_images);
	volume->joliet_long_names = volume->joliet && has_long_names(disc);
	volume->multi_session = has_later_session(disc, volume->size);
	return TRUE;
}

void li_volume_clear(li_volume *volume)
{
	g_free(volume->volume_id);
	g_free(volume->volume_uuid);
	g_free(volume->application_id);
	g_free(volume->preparer_id);
	g_free(volume->publisher_id);
	g_free(volume->system_id);
	g_free(volume->gpt_disk_guid);
	memset(volume, 0, sizeof(*volume));
}
