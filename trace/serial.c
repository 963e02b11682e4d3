/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/serial.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "reorder/util/error.h"

enum { LOG_LIMIT = 16 << 20 }; /* bytes of console.log */

gboolean tr_serial_open(tr_serial *serial, const char *workdir, const tr_until *untils,
	guint until_count, GError **error)
{
	g_autofree char *log = g_build_filename(workdir, "console.log", NULL);

	*serial = (tr_serial){.console = tr_console_new(), .log = -1};
	for (guint i = 0; i < until_count; i++)
		if (untils[i].kind == TR_UNTIL_CONSOLE)
			tr_console_watch(serial->console, untils[i].regex);
	if (!tr_pipe_pair_open(&serial->pipes, workdir, "console", error))
		return FALSE;
	serial->log = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return serial->log >= 0 || ro_fail_errno(error, errno, "%s", log);
}

void tr_serial_close(tr_serial *serial)
{
	if (serial->log >= 0)
		close(serial->log);
	tr_pipe_pair_close(&serial->pipes);
	tr_console_free(serial->console);
	*serial = (tr_serial){.log = -1};
}

/* A guest may talk without end; its log does not grow without end. */
static void write_log(tr_serial *serial, const char *bytes, gsize length)
{
	if (serial->logged >= LOG_LIMIT)
		return;
	ssize_t n = write(serial->log, bytes, MIN(length, LOG_LIMIT - serial->logged));
	if (n > 0)
		serial->logged += (guint64)n;
}

void tr_serial_read(tr_serial *serial)
{
	char bytes[16384];
	ssize_t n;

	/* One full pipe at a time, so that a flood does not keep us from the rest. */
	for (int i = 0; i < 4 && (n = read(serial->pipes.out, bytes, sizeof bytes)) > 0; i++) {
		write_log(serial, bytes, (gsize)n);
		tr_console_push(serial->console, bytes, (gsize)n);
	}
}

gboolean tr_serial_fail(
	const tr_serial *serial, double seconds, const char *what, const char *hint, GError **error)
{
	g_autofree char *tail = tr_console_tail(serial->console);

	if (!*tail)
		return ro_fail(error, RO_ERROR_GUEST, "%s after %.0f s; %s", what, seconds, hint);
	g_strchomp(tail);
	return ro_fail(error, RO_ERROR_GUEST,
		"%s after %.0f s; %s\nthe last lines of its console:\n%s", what, seconds, hint,
		tail);
}
