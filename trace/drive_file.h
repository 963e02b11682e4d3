/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The drive that --drive names: a profile of trace/medium/drive.c, or a file with one of the user's
 * own. Such a file is text, a "KEY VALUE" a line, "#" starts a comment:
 *
 *   name stick       how reports call it; the file's name otherwise
 *   about USB 2, old
 *   like usb2        first of all: begin with the numbers of that profile instead of zeros
 *   rate_inner 8e6   numbers as drive.h has them: seconds, bytes, bytes per second
 */
#ifndef TR_DRIVE_FILE_H
#define TR_DRIVE_FILE_H

#include <glib.h>

#include "trace/medium/drive.h"

typedef struct {
	struct tr_drive_params params;
	char *name, *about; /* what params points to, of a file; else NULL */
} tr_drive_choice;

/* The name of a profile; any other text is a file's. RO_ERROR_USAGE "FILE:LINE: reason". Clear it
 * in either case. */
gboolean tr_drive_choose(const char *text, tr_drive_choice *choice, GError **error);
void tr_drive_choice_clear(tr_drive_choice *choice);

gboolean tr_drive_parse(
	const char *name, const char *text, gsize length, tr_drive_choice *choice, GError **error);

/* Parameters that make the medium plugin that drive ("rate_inner=1500000"), with the slow motion k;
 * owned by the caller, ends with NULL. */
GStrv tr_drive_plugin_parameters(const struct tr_drive_params *params, double k);

#endif
