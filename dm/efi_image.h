/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A FAT image that firmware boots from (El Torito, EFI), for the GRUB configurations in it. Read
 * and written with mtools, on a copy.
 */
#ifndef DMX_EFI_IMAGE_H
#define DMX_EFI_IMAGE_H

#include "iso/live_iso.h"

typedef struct {
	const li_boot_image *image;
	const li_file *file; /* NULL: it is a partition, not a file */
	char *path;          /* of the copy */
	GHashTable *texts;   /* path in it → GBytes: *.cfg and *.conf */
	gboolean has_uki;    /* EFI/Linux/….efi: boots without an initrd of the ISO */
} dmx_efi_image;

/*
 * Copies the boot image to path and reads the configurations. NULL without an error if it is no FAT
 * image; RO_ERROR_FAILED if mtools are missing.
 */
dmx_efi_image *dmx_efi_image_open(
	const li_iso *iso, const li_boot_image *image, const char *path, GError **error);
void dmx_efi_image_free(dmx_efi_image *efi);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(dmx_efi_image, dmx_efi_image_free)

/*
 * Writes the texts (path → GBytes) into the copy, which stays as long as it is, and reads them
 * again. The same bytes each time: the date is that of the volume.
 */
gboolean dmx_efi_image_write(
	dmx_efi_image *efi, const li_iso *iso, GHashTable *texts, GError **error);

#endif
