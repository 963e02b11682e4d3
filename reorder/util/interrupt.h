/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT end a run in an orderly way: the handler only takes note;
 * loops and waits look at it, return an error and so unwind through the normal cleanup. main then
 * dies of the signal.
 */
#ifndef RO_UTIL_INTERRUPT_H
#define RO_UTIL_INTERRUPT_H

#include <glib.h>

/* Installs the handlers; SIGPIPE and SIGXFSZ are ignored from then on. */
void ro_interrupt_install(void);

/* A descriptor that polls readable once a signal has come; -1 if nothing was installed. */
int ro_interrupt_fd(void);

/* TRUE, with RO_ERROR_INTERRUPTED set, if a signal has come. Cheap: call it in every long loop. */
gboolean ro_interrupted(GError **error);

/* Dies of the signal that came, if one did; otherwise returns. */
void ro_interrupt_die(void);

#endif
