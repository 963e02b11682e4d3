/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of a newc archive's member: a magic and 13 fields of 8 hex digits (Linux:
 * Documentation/driver-api/early-userspace/buffer-format.rst). */
#ifndef LI_INITRD_INTERNAL_H
#define LI_INITRD_INTERNAL_H

#include <glib.h>

enum {
	CPIO_HEADER = 110,
	CPIO_AT_MODE = 14,
	CPIO_AT_SIZE = 54,
	CPIO_AT_NAME_SIZE = 94,
	CPIO_NAME_MAX = 4096,
	CPIO_ALIGN = 4,
};

#define CPIO_TRAILER "TRAILER!!!"

gboolean li_cpio_is_header(const guint8 *data, gsize size);
/* FALSE if they are no hex digits. */
gboolean li_cpio_field(const guint8 *text, guint32 *value);

#endif
