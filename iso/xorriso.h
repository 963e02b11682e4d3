/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running xorriso. It says "completed successfully" even of an ISO that it filled with zeros in
 * part, so any message that is more than a warning is a failure here.
 */
#ifndef LI_XORRISO_H
#define LI_XORRISO_H

#include "reorder/util/error.h"
#include "reorder/util/progress.h"

typedef struct {
	const char *const *argv; /* after "xorriso -no_rc -abort_on …"; NULL-terminated */
	const char *subject;     /* what the error is about: "SUBJECT: xorriso: reason" */
	RoError code;            /* of that error */
	GString *out;            /* NULL, or collects stdout */
	ro_progress *progress;   /* of writing; may be NULL */
} li_xorriso;

gboolean li_xorriso_run(const li_xorriso *run, GError **error);

/* "stdio:" and the absolute path: never a drive, an option or a pattern. Owned by the caller. */
char *li_xorriso_address(const char *path);

/* RO_ERROR_FAILED unless it is there and new enough: replay and -rockridge came with 1.5.2. */
gboolean li_xorriso_need(GError **error);

#endif
