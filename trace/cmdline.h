/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel command line of a virtual boot, made from that of the boot entry. */
#ifndef TR_CMDLINE_H
#define TR_CMDLINE_H

#include <glib.h>

typedef struct {
	const char *original;
	const char *rdinit; /* the agent, or NULL: a boot without one */
	GPtrArray *dropped; /* NULL, or gets the words that were taken out (char *, owned by the
			       array) */
} tr_cmdline_job;

/*
 * Words that copy the medium to RAM or check it are taken out (with them the boot would read all of
 * it, in order); then come a serial console, an end instead of a wait on a panic, and the agent.
 * RO_ERROR_UNSUITABLE if it is longer than the kernel takes. Owned by the caller.
 */
char *tr_cmdline_new(const tr_cmdline_job *job, GError **error);

#endif
