/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/json.h"

#include <stdio.h>
#include <string.h>

#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/output.h"

void ro_json_bytes(JsonBuilder *builder, const char *name, const char *bytes)
{
	json_builder_set_member_name(builder, name);
	if (!bytes) {
		json_builder_add_null_value(builder);
		return;
	}
	g_autofree char *text = ro_escape_utf8(bytes);
	json_builder_add_string_value(builder, text);
}

void ro_json_int(JsonBuilder *builder, const char *name, gint64 value)
{
	json_builder_set_member_name(builder, name);
	json_builder_add_int_value(builder, value);
}

void ro_json_double(JsonBuilder *builder, const char *name, double value)
{
	json_builder_set_member_name(builder, name);
	json_builder_add_double_value(builder, value);
}

void ro_json_bool(JsonBuilder *builder, const char *name, gboolean value)
{
	json_builder_set_member_name(builder, name);
	json_builder_add_boolean_value(builder, value);
}

gboolean ro_json_write(JsonBuilder *builder, const char *path, GError **error)
{
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = json_builder_get_root(builder);
	gsize length;

	json_generator_set_pretty(generator, TRUE);
	json_generator_set_root(generator, root);
	g_autofree char *text = json_generator_to_data(generator, &length);
	g_autofree char *lines = g_strconcat(text, "\n", NULL);
	if (!g_str_equal(path, "-"))
		return ro_output_write(path, TRUE, lines, (gssize)length + 1, error);
	if (fputs(lines, stdout) < 0 || fflush(stdout) != 0)
		return ro_fail(error, RO_ERROR_FAILED, "standard output: cannot be written");
	return TRUE;
}
