/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running mksquashfs for an image that is to be of the format of another one. */
#ifndef RO_MKSQUASHFS_PACK_H
#define RO_MKSQUASHFS_PACK_H

#include "reorder/image/squashfs_super.h"

/* A command line that owns its words. */
GPtrArray *ro_argv_new(const char *program);
void ro_argv_add(GPtrArray *argv, ...) G_GNUC_NULL_TERMINATED;
void ro_argv_add_number(GPtrArray *argv, const char *option, guint64 number);
/* Ends it with NULL; for ro_child_spec. */
const char *const *ro_argv_end(GPtrArray *argv);

/*
 * mksquashfs FROM TO with the options of the image that super and image_size are of, and as much of
 * the machine as this program may use. More may be added. Errors as of ro_mksquashfs_options.
 */
GPtrArray *ro_mksquashfs_command(const char *from, const char *to, const img_super *super,
	guint64 image_size, GError **error);

/*
 * Sees to it that an image that mksquashfs has made is of the same format as the source. -no-xattrs
 * keeps attributes out, but says so in a flag that the source need not have.
 */
gboolean ro_mksquashfs_settle(const char *path, const img_super *source, GError **error);

#endif
