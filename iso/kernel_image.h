/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel of a boot entry: a bzImage (Linux: Documentation/arch/x86/boot.rst). */
#ifndef LI_KERNEL_IMAGE_H
#define LI_KERNEL_IMAGE_H

#include <glib.h>

#include "iso/live_iso.h"

typedef struct {
	char *version;           /* "6.1.0-57-amd64 (…) …", or NULL */
	const char *compression; /* "gzip", "bzip2", "lzma", "xz", "lzo", "lz4", "zstd", "none",
				    "unknown"; static */
	guint64 size;            /* of the file */
	guint64 payload_size;    /* compressed */
	gboolean is_64bit;
} li_kernel;

/* RO_ERROR_UNSUITABLE if it is no x86 bzImage. version is owned by the caller. */
gboolean li_kernel_read(const li_iso *iso, const li_file *file, li_kernel *kernel, GError **error);

/* "arm64", "RISC-V", …: what machine the kernel is for if it certainly isn't a PC; else NULL.
 * Static. */
const char *li_kernel_machine(const li_iso *iso, const li_file *file);

#endif
