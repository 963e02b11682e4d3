/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether xorriso can make an ISO anew without losing something of it. */
#ifndef LI_REBUILD_CHECK_H
#define LI_REBUILD_CHECK_H

#include "iso/live_iso.h"

/*
 * RO_ERROR_UNSUITABLE for: UDF, no Rock Ridge, zisofs, extended attributes, an HFS+ tree, several
 * sessions, data behind the volume, signed checksum lists, boot equipment that xorriso doesn't
 * know. RO_ERROR_FAILED for missing programs.
 */
gboolean li_rebuild_check(const li_iso *iso, GError **error);

#endif
