/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel and the initrds of a boot entry cost before the live image is ever looked at:
 * bytes, compression, and an estimate of the time for reading and unpacking them.
 */
#ifndef TR_LOADER_COST_H
#define TR_LOADER_COST_H

#include "iso/live_iso.h"
#include "trace/calibrate.h"
#include "trace/medium/drive.h"

typedef struct {
	char *path;
	gboolean is_kernel;
	guint64 offset, size;  /* on the medium, bytes */
	char *compression;     /* "xz"; of an initrd of several segments "none + zstd" */
	double read_seconds;   /* from the drive, in one go, with the seek to it */
	double unpack_seconds; /* negative: unknown */
} tr_loader_file;

/* GArray of tr_loader_file that frees its strings: the kernel, then the initrds in loading order.
 */
GArray *tr_loader_files(const li_iso *iso, const li_entry *entry,
	const struct tr_drive_params *drive, const tr_processor *processor, GError **error);

#endif
