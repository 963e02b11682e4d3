/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of opening an ISO that tests use one by one. */
#ifndef LI_LIVE_ISO_INTERNAL_H
#define LI_LIVE_ISO_INTERNAL_H

#include "iso/live_iso.h"

/* An ISO without anything in it, around an open descriptor, which it takes over. */
li_iso *li_iso_new(const char *path, int fd, guint64 file_size);

/* The look-up tables, once iso->files is filled and sorted. */
void li_iso_index_files(li_iso *iso);

#endif
