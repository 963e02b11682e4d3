/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checksum that implantisomd5 puts into the primary volume descriptor ("Test this media & start
 * …").
 */
#ifndef LI_ISOMD5_H
#define LI_ISOMD5_H

#include "iso/overlay.h"

typedef struct {
	gboolean present;
	gboolean right;     /* li_isomd5_check only */
	gboolean supported; /* RHLISOSTATUS=1 */
	guint fragments;
} li_isomd5;

/* From the Application Use field (ECMA-119 8.4.32). */
enum { LI_APPLICATION_USE = 883, LI_APPLICATION_USE_SIZE = 512 };
void li_isomd5_parse(const guint8 *application_use, li_isomd5 *sum);

/* What the ISO has, and whether it is right (checkisomd5 reads all of it). */
gboolean li_isomd5_check(const char *iso_path, li_isomd5 *sum, GError **error);

/* Puts new sums in the place of the old ones, the rest of the field as it was. size: of the volume.
 * *right: whether the old ones were right; if not they stay. */
gboolean li_isomd5_renew(li_overlay *iso, guint64 size, gboolean *right, GError **error);

/* The digests of SUSE's checkmedia, which lie in the same field and can't be made here. */
gboolean li_suse_digest_present(int fd);

/* Implants it anew, with the same fragments and supported flag; after that no byte of the ISO may
 * change. */
gboolean li_isomd5_implant(const char *iso_path, const li_isomd5 *sum, GError **error);

/* RO_ERROR_FAILED if the programs for the two above are missing. */
gboolean li_isomd5_need(GError **error);

#endif
