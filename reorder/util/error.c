/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/error.h"

#include <stdio.h>

#include "reorder/util/escape.h"
#include "reorder/util/progress.h"

static guint warnings;

GQuark ro_error_quark(void)
{
	return g_quark_from_static_string("reorder-livecd");
}

gboolean ro_fail_errno(GError **error, int err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, RO_ERROR, RO_ERROR_FAILED, "%s: %s", what, g_strerror(err));
	return FALSE;
}

gboolean ro_fail(GError **error, RoError code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (error)
		*error = g_error_new_valist(RO_ERROR, (int)code, format, args);
	va_end(args);
	return FALSE;
}

void ro_warn(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *raw = g_strdup_vprintf(format, args);
	g_autofree char *text = ro_printable(raw, FALSE);
	va_end(args);
	warnings++;
	ro_progress_interject();
	fprintf(stderr, "reorder-livecd: warning: %s\n", text);
}

guint ro_warning_count(void)
{
	return warnings;
}
