/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing HTML: whatever comes from an ISO or a guest goes through here. */
#ifndef TR_HTML_H
#define TR_HTML_H

#include <glib.h>

/* Appends text as content or attribute value: markup and what is not UTF-8 escaped. */
void tr_html_text(GString *html, const char *bytes);

/* "<NAME class=CLASS>text</NAME>"; class may be NULL. */
void tr_html_element(GString *html, const char *name, const char *class, const char *text);

/* The same with a formatted text. */
void tr_html_elementf(GString *html, const char *name, const char *class, const char *format, ...)
	G_GNUC_PRINTF(4, 5);

/* A number with few digits for a coordinate, always with a decimal point: "12.5". */
void tr_html_number(GString *html, double value);

#endif
