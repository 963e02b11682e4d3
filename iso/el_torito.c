/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The boot catalog (El Torito 1.0, 2.0: entries of 32 bytes). */
#include <string.h>

#include "iso/volume.h"
#include "iso/volume_tree.h"
#include "reorder/image/le.h"

enum { ENTRY = 32, CATALOG_SECTORS = 4 };

enum {
	ID_VALIDATION = 0x01,
	ID_BOOTABLE = 0x88,
	ID_NOT_BOOTABLE = 0x00,
	ID_SECTION = 0x90,
	ID_LAST_SECTION = 0x91,
	ID_EXTENSION = 0x44,
};

void li_boot_image_free(li_boot_image *image)
{
	g_free(image->path);
	g_free(image);
}

static gboolean is_validation(const guint8 *entry)
{
	guint16 sum = 0;

	for (guint i = 0; i < ENTRY; i += 2)
		sum = (guint16)(sum + img_le16(entry + i));
	return entry[0] == ID_VALIDATION && entry[30] == 0x55 && entry[31] == 0xaa && sum == 0;
}

static void add_entry(const guint8 *entry, guint8 platform, GPtrArray *boot_images)
{
	li_boot_image *image = g_new0(li_boot_image, 1);

	image->platform = platform;
	image->bootable = entry[0] == ID_BOOTABLE;
	image->media = entry[1] & 0x0f;
	image->load_sectors = img_le16(entry + 6);
	image->offset = (guint64)img_le32(entry + 8) * LI_SECTOR;
	g_ptr_array_add(boot_images, image);
}

/* The entries of one section; returns the offset behind them. */
static gsize read_section(const guint8 *catalog, gsize at, gsize size, GPtrArray *boot_images)
{
	guint8 platform = catalog[at + 1];
	guint count = img_le16(catalog + at + 2);

	for (at += ENTRY; count > 0 && at + ENTRY <= size; at += ENTRY) {
		if (catalog[at] == ID_EXTENSION)
			continue;
		if (catalog[at] != ID_BOOTABLE && catalog[at] != ID_NOT_BOOTABLE)
			break;
		add_entry(catalog + at, platform, boot_images);
		count--;
	}
	return at;
}

void li_el_torito_read(const img_source *disc, guint32 sector, GPtrArray *boot_images)
{
	guint8 catalog[CATALOG_SECTORS * LI_SECTOR] = {0};
	gsize at = 2 * ENTRY;
	gboolean last = FALSE;

	for (gsize i = 0; i < CATALOG_SECTORS; i++)
		if (!img_source_read(disc, (sector + (guint64)i) * LI_SECTOR,
			    catalog + i * LI_SECTOR, LI_SECTOR, NULL))
			break;
	if (!is_validation(catalog))
		return;
	if (catalog[ENTRY] == ID_BOOTABLE || img_le32(catalog + ENTRY + 8) != 0)
		add_entry(catalog + ENTRY, catalog[1], boot_images);
	while (!last && at + ENTRY <= sizeof(catalog)) {
		if (catalog[at] == ID_EXTENSION) {
			at += ENTRY;
			continue;
		}
		if (catalog[at] != ID_SECTION && catalog[at] != ID_LAST_SECTION)
			break;
		last = catalog[at] == ID_LAST_SECTION;
		at = read_section(catalog, at, sizeof(catalog), boot_images);
	}
}
