/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/html.h"

#include <math.h>
#include <string.h>

#include "reorder/util/escape.h"

void tr_html_text(GString *html, const char *bytes)
{
	g_autofree char *utf8 = ro_escape_utf8(bytes);
	g_autofree char *safe = g_markup_escape_text(utf8, -1);

	g_string_append(html, safe);
}

void tr_html_element(GString *html, const char *name, const char *class, const char *text)
{
	g_string_append_printf(html, "<%s", name);
	if (class)
		g_string_append_printf(html, " class=\"%s\"", class);
	g_string_append_c(html, '>');
	tr_html_text(html, text);
	g_string_append_printf(html, "</%s>", name);
}

void tr_html_elementf(GString *html, const char *name, const char *class, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	tr_html_element(html, name, class, text);
}

void tr_html_number(GString *html, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];
	double tenths = round(value * 10) / 10;

	g_ascii_formatd(text, sizeof text, "%.1f", tenths == 0 ? 0 : tenths);
	char *end = strchr(text, '.');
	if (end && end[1] == '0')
		*end = '\0';
	g_string_append(html, text);
}
