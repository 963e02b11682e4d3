/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the volume descriptors and the system area of an ISO say, read from the raw sectors
 * (ECMA-119, El Torito 1.0, UEFI 2.x GPT, Apple partition map).
 */
#ifndef LI_VOLUME_H
#define LI_VOLUME_H

#include "iso/live_iso.h"

/*
 * Reads everything but volume->rock_ridge, and the boot images (without their paths).
 * RO_ERROR_UNSUITABLE if it is no ISO or shorter than its descriptors or its GPT say. The volume
 * has to be zeroed; it is cleared with li_volume_clear in any case.
 */
gboolean li_volume_read(
	const img_source *disc, li_volume *volume, GPtrArray *boot_images, GError **error);
void li_volume_clear(li_volume *volume);

/* The partition tables of the first sectors. */
gboolean li_system_area_read(const img_source *disc, li_volume *volume, GError **error);

/* Appends the entries of the boot catalog at the given sector; what cannot be read is left out. */
void li_el_torito_read(const img_source *disc, guint32 sector, GPtrArray *boot_images);
void li_boot_image_free(li_boot_image *image);

/* The text that blkid calls UUID, from the 17 bytes of each date (ECMA-119 8.4.26.1); NULL if there
 * is no date. */
char *li_volume_uuid(const guint8 *modified, const guint8 *created);

#endif
