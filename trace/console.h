/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest's console: what it says of a failed boot, the text that --until waits for, and its tail
 * for messages. */
#ifndef TR_CONSOLE_H
#define TR_CONSOLE_H

#include <glib.h>

typedef struct tr_console tr_console;

tr_console *tr_console_new(void);
void tr_console_free(tr_console *console);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_console, tr_console_free)

/* regex is looked for in every line, also one that is not complete yet, from tr_console_arm() on.
 * Borrowed. */
void tr_console_watch(tr_console *console, const GRegex *regex);
void tr_console_arm(tr_console *console);

void tr_console_push(tr_console *console, const char *bytes, gsize length);

gboolean tr_console_matched(const tr_console *console);
guint64 tr_console_bytes(const tr_console *console);

typedef struct {
	const char *what; /* happened: "the kernel panicked"; static */
	const char *hint; /* what to do; static */
	char *line;       /* of the console that tells so, printable */
} tr_console_failure;

/* NULL as long as nothing looks like a failure. */
const tr_console_failure *tr_console_get_failure(const tr_console *console);

/* The last lines, printable, each with two blanks before it and a newline behind. Owned by the
 * caller. */
char *tr_console_tail(const tr_console *console);

#endif
