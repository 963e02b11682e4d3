/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths are bytes. In text files a path is one word, escaped as the kernel does in /proc/mounts:
 * every byte up to 0x20, 0x7f and the backslash become \ooo (three octal digits); all others,
 * also those that are not UTF-8, stay as they are.
 */
#ifndef RO_UTIL_ESCAPE_H
#define RO_UTIL_ESCAPE_H

#include <glib.h>

/* Appends the escaped form of the NUL-terminated bytes. */
void ro_escape_append(GString *out, const char *bytes);

/* New string, owned by the caller. */
char *ro_escape(const char *bytes);

/* The reverse of ro_escape; NULL if the text has a broken escape or \000. Owned by the caller. */
char *ro_unescape(const char *text);

/*
 * UTF-8 for JSON, HTML and the terminal: bytes that are not UTF-8, control characters and the
 * backslash become \ooo; everything else stays. Owned by the caller.
 */
char *ro_escape_utf8(const char *bytes);

/*
 * For the terminal: as ro_escape_utf8, but a backslash stays, since what is shown may hold escaped
 * paths already, and with keep_newlines a newline stays too. Owned by the caller.
 */
char *ro_printable(const char *text, gboolean keep_newlines);

#endif
