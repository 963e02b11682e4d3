/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/escape.h"

#include <string.h>

static void append_octal(GString *out, guchar byte)
{
	g_string_append_printf(out, "\\%03o", byte);
}

void ro_escape_append(GString *out, const char *bytes)
{
	for (const guchar *p = (const guchar *)bytes; *p; p++) {
		if (*p <= ' ' || *p == 0x7f || *p == '\\')
			append_octal(out, *p);
		else
			g_string_append_c(out, (char)*p);
	}
}

char *ro_escape(const char *bytes)
{
	GString *out = g_string_new(NULL);
	ro_escape_append(out, bytes);
	return g_string_free(out, FALSE);
}

/* The value of \ooo at p, or 0 if it is not a byte that an escape may stand for. */
static guint octal_value(const char *p)
{
	guint value = 0;

	for (int i = 1; i <= 3; i++) {
		if (p[i] < '0' || p[i] > '7')
			return 0;
		value = value * 8 + (guint)(p[i] - '0');
	}
	return value <= 0xff ? value : 0;
}

char *ro_unescape(const char *text)
{
	g_autoptr(GString) out = g_string_new(NULL);

	for (const char *p = text; *p; p++) {
		if (*p != '\\') {
			g_string_append_c(out, *p);
			continue;
		}
		guint value = octal_value(p);
		if (value == 0)
			return NULL;
		g_string_append_c(out, (char)value);
		p += 3;
	}
	return g_strdup(out->str);
}

/* keep: characters that stay although they would have to be escaped. */
static char *escape_except(const char *bytes, const char *keep)
{
	GString *out = g_string_new(NULL);

	for (const char *p = bytes; *p;) {
		gunichar c = g_utf8_get_char_validated(p, -1);
		gboolean broken = c == (gunichar)-1 || c == (gunichar)-2;
		gboolean odd = broken || c == '\\' || g_unichar_iscntrl(c);
		if (odd && !strchr(keep, *p)) {
			append_octal(out, (guchar)*p);
			p++;
			continue;
		}
		const char *next = broken ? p + 1 : g_utf8_next_char(p);
		g_string_append_len(out, p, next - p);
		p = next;
	}
	return g_string_free(out, FALSE);
}

char *ro_escape_utf8(const char *bytes)
{
	return escape_except(bytes, "");
}

char *ro_printable(const char *text, gboolean keep_newlines)
{
	return escape_except(text, keep_newlines ? "\\\n" : "\\");
}
