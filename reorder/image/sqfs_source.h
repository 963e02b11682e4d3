/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An img_source as libsquashfs sees files. */
#ifndef IMG_SQFS_SOURCE_H
#define IMG_SQFS_SOURCE_H

#include <sqfs/io.h>

#include "reorder/image/byte_source.h"

/*
 * Read-only; writing gives SQFS_ERROR_UNSUPPORTED. The source is copied, its fd and label have to
 * stay. For the caller to sqfs_destroy().
 */
sqfs_file_t *img_sqfs_file_new(const img_source *source);

#endif
