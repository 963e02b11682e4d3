/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names and numbers that others know an ISO by and that a rebuild does not keep: texts and dates of
 * the volume descriptors, the disk id of the MBR, the GUIDs of the GPT, sizes and ids in the boot
 * catalogue. Written into the new ISO after everything else but the implanted checksum; nothing
 * else depends on them.
 */
#ifndef LI_IDENTITY_H
#define LI_IDENTITY_H

#include <glib.h>

/*
 * new_fd is open for writing. partition_offset: bytes; where a second set of volume descriptors
 * lies, 0 if there is none. keep_application_use: also the old checksum of isomd5, which is wrong
 * then.
 */
gboolean li_identity_restore(int old_fd, int new_fd, guint64 partition_offset,
	gboolean keep_application_use, GError **error);

/* RO_ERROR_FAILED if something of it differs. Application Use is left out if a checksum was
 * implanted. */
gboolean li_identity_same(
	int old_fd, int new_fd, guint64 partition_offset, gboolean application_use, GError **error);

#endif
