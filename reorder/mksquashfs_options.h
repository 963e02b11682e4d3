/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options with which mksquashfs writes the format of an image that is there already. */
#ifndef RO_MKSQUASHFS_OPTIONS_H
#define RO_MKSQUASHFS_OPTIONS_H

#include "reorder/image/squashfs_super.h"

/*
 * Appends them to argv, an array that frees its strings: compressor, its options if the image has
 * an option block and none if it has none, block size, flags, time, padding. image_size: of the
 * file, with its padding. RO_ERROR_UNSUITABLE if mksquashfs has no option for something.
 */
gboolean ro_mksquashfs_options(
	GPtrArray *argv, const img_super *super, guint64 image_size, GError **error);

/* A version of squashfs-tools. */
typedef struct {
	guint major, minor, patch;
} ro_tool_version;

/* From the first line of what -version prints; FALSE if there is none in it. */
gboolean ro_tool_version_parse(const char *text, ro_tool_version *version);

/*
 * RO_ERROR_FAILED for versions that are too old for the options used here, or known to write wrong
 * files from an image like this one. holes: whether it has sparse files.
 */
gboolean ro_mksquashfs_check_version(
	const ro_tool_version *version, const img_super *super, gboolean holes, GError **error);

#endif
