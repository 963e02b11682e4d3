/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What seals an image, so that changing one byte of it makes the boot fail: signatures and
 * dm-verity. */
#ifndef LI_SEAL_H
#define LI_SEAL_H

#include "iso/live_iso.h"

/*
 * The seal found on a squashfs image or beside it, or other data behind the filesystem that
 * reordering would lose; owned by the caller. NULL if there is none. bytes_used: where the
 * filesystem ends.
 */
char *li_seal_find(
	const li_iso *iso, const li_file *file, const img_source *source, guint64 bytes_used);

/* Adds a note for each signed checksum list: it has to change with the image, its signature can't.
 */
void li_seal_note_lists(li_iso *iso);

#endif
