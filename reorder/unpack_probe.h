/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a directory can hold the tree of an image, found out by trying one file of each kind. */
#ifndef RO_UNPACK_PROBE_H
#define RO_UNPACK_PROBE_H

#include "reorder/image/image_tree.h"

/*
 * RO_ERROR_FAILED, with what cannot be kept there and why: owners, times, devices, overlayfs
 * whiteouts, hard links, extended attributes.
 */
gboolean ro_unpack_probe(const char *workdir, const img_tree *tree, GError **error);

#endif
