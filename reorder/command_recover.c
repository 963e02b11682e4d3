/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes an ISO whole again that an interrupted run with --in-place has left half changed. */
#include "reorder/commands.h"

#include <stdio.h>

#include "iso/journal.h"
#include "reorder/util/escape.h"

gboolean ro_command_recover(const ro_options *options, GError **error)
{
	g_autofree char *name = ro_escape_utf8(options->input);
	gboolean undone;

	if (!li_recover(options->input, &undone, error))
		return FALSE;
	printf("%s: %s\n", name, undone ? "as it was before" : "nothing to recover");
	return TRUE;
}
