/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A boot image that may be FAT: what is found of it and copied. The content is read by mtools,
 * which are not there. */
#include <stdlib.h>

#include "dm/efi_image.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	g_autoptr(li_iso) iso = fz_iso_new();
	int fd = fz_file("", 0);
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
	li_boot_image image = {.platform = 0xef, .offset = size > 1 ? data[0] * 16u : 0};
	g_autoptr(dmx_efi_image) efi = NULL;
	GError *error = NULL;

	setenv("PATH", "/nonexistent", 1);
	fz_iso_add(iso, "/efi.img", data, size);
	fz_iso_ready(iso);
	efi = dmx_efi_image_open(iso, &image, path, &error);
	g_assert_null(efi);
	fz_done(error == NULL, &error);
	close(fd);
	return 0;
}
