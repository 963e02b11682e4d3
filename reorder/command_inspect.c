/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <stdio.h>

#include "reorder/inspect.h"
#include "reorder/util/error.h"
#include "reorder/util/json.h"

gboolean ro_command_inspect(const ro_options *options, GError **error)
{
	g_autoptr(li_iso) iso = li_iso_open(options->input, error);

	if (!iso)
		return FALSE;
	gboolean json_only = options->json && g_str_equal(options->json, "-");
	if (!json_only && !ro_inspect_print(iso, stdout, error))
		return FALSE;
	if (options->json) {
		g_autoptr(JsonBuilder) builder = json_builder_new();
		ro_inspect_json(iso, builder);
		if (!ro_json_write(builder, options->json, error))
			return FALSE;
	}
	g_autofree char *refusal = ro_inspect_refusal(iso);
	return refusal ? ro_fail(error, RO_ERROR_UNSUITABLE, "%s", refusal) : TRUE;
}
