/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "dm/hot_map.h"
#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/json.h"

static void json_map(const struct dmx_map *map, JsonBuilder *b)
{
	json_builder_begin_object(b);
	ro_json_bytes(b, "version", REORDER_VERSION);
	ro_json_bytes(b, "volume_id", map->id.volume_id);
	ro_json_bytes(b, "volume_uuid", map->id.uuid);
	ro_json_int(b, "size", (gint64)map->id.size);
	ro_json_int(b, "patience", map->patience);
	json_builder_set_member_name(b, "modules");
	json_builder_begin_array(b);
	for (size_t i = 0; i < map->module_count; i++) {
		g_autofree char *module = ro_escape_utf8(map->modules[i]);

		json_builder_add_string_value(b, module);
	}
	json_builder_end_array(b);
	ro_json_int(b, "hot_bytes", (gint64)dmx_map_bytes(map));
	json_builder_set_member_name(b, "extents");
	json_builder_begin_array(b);
	for (size_t i = 0; i < map->extent_count; i++) {
		json_builder_begin_object(b);
		ro_json_int(b, "offset", (gint64)map->extents[i].offset);
		ro_json_int(b, "length", (gint64)map->extents[i].length);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
}

/* As it is in the initrd. */
static gboolean print_text(const li_iso *iso, const struct dmx_map *map, GError **error)
{
	char *text = dmx_map_format(map);

	if (!text)
		return ro_fail(
			error, RO_ERROR_FAILED, "%s: its hot map cannot be printed", iso->path);
	fputs(text, stdout);
	free(text);
	return TRUE;
}

static gboolean print(
	const ro_options *options, const li_iso *iso, const struct dmx_map *map, GError **error)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();

	if (g_strcmp0(options->json, "-") != 0 && !print_text(iso, map, error))
		return FALSE;
	if (!options->json)
		return TRUE;
	json_map(map, builder);
	return ro_json_write(builder, options->json, error);
}

gboolean ro_command_hotmap(const ro_options *options, GError **error)
{
	g_autoptr(li_iso) iso = li_iso_open(options->input, error);
	struct dmx_map map = {0};
	gboolean ok =
		iso && dmx_hot_map_of_iso(iso, &map, error) && print(options, iso, &map, error);

	dmx_map_clear(&map);
	return ok;
}
