/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filesystem images on the ISO, found by what is in them and never by their names. */
#ifndef LI_LIVE_IMAGE_H
#define LI_LIVE_IMAGE_H

#include "iso/live_iso.h"

/* Fills iso->images. Needs iso->files and iso->entries. FALSE only if interrupted. */
gboolean li_images_find(li_iso *iso, GError **error);
void li_image_free(li_image *image);

/*
 * The images that the default boot entry may make its root of, by path: one, or layers; which of
 * these are used, only the boot shows. What else could be a root but lies where this entry does not
 * look is left out. Array of const li_image *, owned by the caller.
 */
GPtrArray *li_images_of_root(const li_iso *iso);

#endif
