/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace --make-boot-segment: what records the boot of a machine that is not a virtual one. */
#ifndef RO_BOOT_SEGMENT_H
#define RO_BOOT_SEGMENT_H

#include "reorder/options.h"

/* Writes the file and prints how to use it. */
gboolean ro_boot_segment_make(const ro_options *options, GError **error);

#endif
