/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine's first serial line: to the console's reader and, bounded, into console.log. */
#ifndef TR_SERIAL_H
#define TR_SERIAL_H

#include "trace/boot.h"
#include "trace/console.h"
#include "trace/pipe_pair.h"

typedef struct {
	tr_console *console; /* owned */
	tr_pipe_pair pipes;
	int log;
	guint64 logged; /* bytes */
} tr_serial;

/* Also watches for the texts of the rules. Close it in either case. */
gboolean tr_serial_open(tr_serial *serial, const char *workdir, const tr_until *untils,
	guint until_count, GError **error);
void tr_serial_close(tr_serial *serial);

/* What has come; does not wait. */
void tr_serial_read(tr_serial *serial);

/* RO_ERROR_GUEST "WHAT after N s; HINT" and the console's tail. Always FALSE. */
gboolean tr_serial_fail(const tr_serial *serial, double seconds, const char *what, const char *hint,
	GError **error);

#endif
