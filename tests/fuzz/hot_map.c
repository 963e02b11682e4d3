/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of a hot map, as it is and with the right checksum behind it; and its table. */
#include <stdlib.h>
#include <zlib.h>

#include "dm/map_text.h"
#include "tests/fuzz/fuzz.h"

static void build_table(const struct dmx_map *map)
{
	g_autofree struct dmx_segment *segments =
		g_new(struct dmx_segment, DMX_SEGMENTS(map->extent_count));
	size_t count = dmx_table_build(map->extents, map->extent_count, dmx_map_bytes(map) / 2,
		map->id.size, 2048, segments);

	g_assert_cmpuint(count, <=, DMX_SEGMENTS(map->extent_count));
	g_assert_cmpuint(dmx_table_ram(segments, count), <=, dmx_map_bytes(map));
}

/* What can be read can be written. */
static void parse(const char *text, gsize size)
{
	struct dmx_map map;

	if (!dmx_map_parse(text, size, &map)) {
		char *again = dmx_map_format(&map);

		g_assert_nonnull(again);
		build_table(&map);
		free(again);
	}
	dmx_map_clear(&map);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	GString *text = g_string_new_len((const char *)data, (gssize)size);

	parse(text->str, text->len);
	g_string_append_printf(
		text, "crc32 %08x\n", (guint)crc32(0, (const Bytef *)text->str, (uInt)text->len));
	parse(text->str, text->len);
	g_string_free(text, TRUE);
	return 0;
}
