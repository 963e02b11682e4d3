/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors of the whole program.
 *
 * Every function that can fail takes a GError ** as its last argument. The domain is RO_ERROR and
 * the code is the exit code of the program. The message is one line, "object: reason; what to do",
 * and is written by the function that knows the object; callers only pass it on.
 */
#ifndef RO_UTIL_ERROR_H
#define RO_UTIL_ERROR_H

#include <glib.h>

#define RO_ERROR (ro_error_quark())

typedef enum {
	RO_ERROR_FAILED = 1,     /* our side: space, tools, I/O, verification */
	RO_ERROR_USAGE = 2,      /* the command line */
	RO_ERROR_UNSUITABLE = 3, /* the input is not something that can be reordered */
	RO_ERROR_GUEST = 4,      /* the guest did not boot */
	RO_ERROR_INTERRUPTED = 5 /* a signal; never an exit code: the program dies of the signal */
} RoError;

GQuark ro_error_quark(void);

/* Sets "<message>: <strerror(err)>" with code RO_ERROR_FAILED. Always returns FALSE. */
gboolean ro_fail_errno(GError **error, int err, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Sets an error with the given code. Always returns FALSE, so that "return ro_fail(…)" reads well.
 */
gboolean ro_fail(GError **error, RoError code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* A warning: one line on stderr, "reorder-livecd: warning: …"; counted for the summary. */
void ro_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
guint ro_warning_count(void);

#endif
