/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is on an ISO and what can be done with it, for people and as JSON. */
#ifndef RO_INSPECT_H
#define RO_INSPECT_H

#include <stdio.h>

#include <json-glib/json-glib.h>

#include "iso/live_iso.h"

/* Writes a screen of text. RO_ERROR_FAILED if out can't be written. */
gboolean ro_inspect_print(const li_iso *iso, FILE *out, GError **error);

/* Adds one object with the same facts. */
void ro_inspect_json(const li_iso *iso, JsonBuilder *builder);

/* Why the ISO can't be reordered, one line with its name; owned by the caller. NULL if it can. */
char *ro_inspect_refusal(const li_iso *iso);

#endif
