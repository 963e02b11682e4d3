/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An initrd as the kernel reads it (Linux: init/initramfs.c,
 * Documentation/driver-api/early-userspace/buffer-format.rst): segments one after the other, each a
 * cpio archive, plain or compressed, with zero bytes between them.
 */
#ifndef LI_INITRD_H
#define LI_INITRD_H

#include <glib.h>

typedef struct {
	guint64 offset;          /* bytes into the initrd */
	guint64 size;            /* bytes, without the padding behind it */
	const char *compression; /* "none" for a plain cpio, or as li_kernel.compression; static */
	gboolean microcode;      /* a plain cpio with kernel/x86/microcode */
} li_segment;

/*
 * Walks all segments (of li_segment). A compressed segment's end is found by unpacking it where the
 * format has no other way; a gzip member, xz stream or zstd frame is a segment of its own, as it is
 * for the kernel. RO_ERROR_UNSUITABLE if there is something that the kernel would not take.
 */
GArray *li_initrd_segments(const guint8 *data, gsize size, GError **error);

/* A file or directory that goes into a cpio archive. */
typedef struct {
	const char *path; /* without a leading slash */
	guint32 mode;     /* with the type bits, S_IFREG or S_IFDIR */
	const void *data; /* regular files */
	gsize size;
} li_cpio_member;

/*
 * The bytes to put behind an initrd so that the kernel unpacks the members after everything else:
 * padding and a newc archive (zero times and owners: deterministic), as an LZ4 legacy frame where
 * the last segment is LZ4, which the kernel needs.
 */
GByteArray *li_initrd_appendix(const guint8 *initrd, gsize size, const li_cpio_member *members,
	guint member_count, GError **error);

#endif
