/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stages of a run and how far they are: a bar on a terminal, plain lines elsewhere, on stderr.
 * All functions accept NULL, which reports nothing: stages can be tested alone.
 */
#ifndef RO_UTIL_PROGRESS_H
#define RO_UTIL_PROGRESS_H

#include <glib.h>

typedef struct ro_progress ro_progress;

/* One finished stage. */
typedef struct {
	const char *name; /* static */
	double seconds;   /* wall time, of all stages of that name */
} ro_stage;

ro_progress *ro_progress_new(gboolean quiet, gboolean verbose);
void ro_progress_free(ro_progress *progress);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_progress, ro_progress_free)

/* name must be a static string; ends the stage before, if that is still open. */
void ro_progress_begin(ro_progress *progress, const char *name);

/* done of total, in any unit; total 0 means that the end is not known. detail may be NULL. */
void ro_progress_update(ro_progress *progress, double done, double total, const char *detail);

/* Ends the stage; the text says what came of it ("1,234 files in 20.1 s"); may be NULL. */
void ro_progress_end(ro_progress *progress, const char *result);

/* A line that only -v shows. */
void ro_progress_note(ro_progress *progress, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The finished stages (ro_stage), owned by progress. */
const GArray *ro_progress_stages(const ro_progress *progress);

/* Clears a half-drawn bar so that another line can be written to stderr. */
void ro_progress_interject(void);

#endif
