/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns for paths inside an image. Paths are bytes, and so are patterns:
 * "*" and "?" and "[a-z]", "[!a-z]" as in a shell, but never a slash; a name that starts with a dot
 * is matched too;
 * "**" any bytes, slashes too; "**" as a whole component also none at all ("a/" "**" "/b" is a/b,
 * a/x/b, …); "\" takes the next byte as it is. A pattern is about the whole path. Slashes and "./"
 * at its start and slashes at its end are dropped. Time is bounded by length of pattern times
 * length of path.
 */
#ifndef RO_GLOB_H
#define RO_GLOB_H

#include <glib.h>

typedef struct ro_glob ro_glob;

/* RO_ERROR_USAGE, "PATTERN: reason", if it is malformed or empty. */
ro_glob *ro_glob_new(const char *pattern, GError **error);
void ro_glob_free(ro_glob *glob);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_glob, ro_glob_free)

gboolean ro_glob_match(const ro_glob *glob, const char *path);

/* Appends text so that it stands for itself in a pattern. */
void ro_glob_quote(GString *pattern, const char *text);

#endif
