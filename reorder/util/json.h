/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few things that json-glib does not do: bytes that are not UTF-8, and writing to a file in one
 * step. */
#ifndef RO_UTIL_JSON_H
#define RO_UTIL_JSON_H

#include <json-glib/json-glib.h>

/* Member name with a string of bytes, escaped with ro_escape_utf8; null if bytes is NULL. */
void ro_json_bytes(JsonBuilder *builder, const char *name, const char *bytes);
void ro_json_int(JsonBuilder *builder, const char *name, gint64 value);
void ro_json_double(JsonBuilder *builder, const char *name, double value);
void ro_json_bool(JsonBuilder *builder, const char *name, gboolean value);

/* Writes the finished document, pretty-printed, to path ("-" is stdout). Replaces a file that is
 * there. */
gboolean ro_json_write(JsonBuilder *builder, const char *path, GError **error);

#endif
