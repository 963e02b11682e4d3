/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the trace of a run comes from: a boot, or one or more files. */
#ifndef RO_RECORDING_H
#define RO_RECORDING_H

#include "reorder/input.h"
#include "reorder/options.h"
#include "reorder/util/progress.h"

typedef struct {
	gboolean booted;     /* else from files: of traces boot has nothing but the trace */
	gboolean from_log;   /* not booted, but made of a log of reads */
	tr_boot_result boot; /* trace is never NULL after success */
} ro_recording;

/* The boot as the options have it, without progress and work directory; its entry may be NULL, all
 * of the input too (a boot of something that is not at hand). What it points to is the options' and
 * the input's. */
tr_boot_job ro_recording_boot_job(const ro_options *options, const ro_input *input);

/* What would make the boot fail later, before any long work; nothing if there are trace files. */
gboolean ro_recording_check(const ro_options *options, const ro_input *input, GError **error);

/* progress may be NULL. Clear it in either case. */
gboolean ro_recording_make(ro_recording *recording, const ro_options *options,
	const ro_input *input, const char *workdir, ro_progress *progress, GError **error);
void ro_recording_clear(ro_recording *recording);

/* Merged, if there are several. NULL with error set. */
tr_trace *ro_recording_read_traces(const ro_options *options, GError **error);

/* "FILE: written" for --save-trace and trace -o; NULL is standard output. */
gboolean ro_recording_save(const tr_trace *trace, const char *path, gboolean force, GError **error);

/* The directory for scratch files: --work-dir, TMPDIR, beside the output (may be NULL), /var/tmp.
 * Owned by the caller. */
char *ro_work_parent(const ro_options *options, const char *output);

#endif
