/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checksum that implantisomd5 puts into the primary volume descriptor ("Test this media & start
 * …").
 */
#ifndef LI_ISOMD5_H
#define LI_ISOMD5_H

#include "iso/live_iso.h"
#include "iso/overlay.h"
#include "iso/writer.h"

typedef struct {
	gboolean present;
	gboolean supported; /* RHLISOSTATUS=1 */
	guint fragments;
} li_isomd5;

/* From the Application Use field (ECMA-119 8.4.32). */
enum { LI_APPLICATION_USE = 883, LI_APPLICATION_USE_SIZE = 512 };
void li_isomd5_parse(const guint8 *application_use, li_isomd5 *sum);

/*
 * Puts new sums in the place of the old ISO's, if it has some that are right; else its field stays,
 * with a warning. After that no other byte of the ISO may change.
 */
gboolean li_isomd5_renew(
	const li_iso *old, li_overlay *iso, li_write_result *result, GError **error);

/* The digests of SUSE's checkmedia, which lie in the same field and can't be made here. */
gboolean li_suse_digest_present(int fd);

#endif
