/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/map_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "reorder-livecd hot map 1";

enum { PAGE = 4096, SECTOR = 2048 };

/* What is left of the text; [at, end) is the current line, without its newline. */
struct lines {
	const char *at, *end, *limit;
};

static uint32_t crc32_of(const char *bytes, size_t length)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < length; i++) {
		crc ^= (uint8_t)bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static bool next_line(struct lines *lines)
{
	const char *start = lines->end ? lines->end + 1 : lines->at;
	const char *newline = memchr(start, '\n', (size_t)(lines->limit - start));

	if (!newline)
		return false;
	lines->at = start;
	lines->end = newline;
	return true;
}

/* Takes the line's first word and the blank behind it, if it is this one. */
static bool take_key(struct lines *lines, const char *key)
{
	size_t length = strlen(key);

	if ((size_t)(lines->end - lines->at) <= length || memcmp(lines->at, key, length) != 0 ||
		lines->at[length] != ' ')
		return false;
	lines->at += length + 1;
	return true;
}

/* Takes a number and what ends it, which is stop or, for '\n', the end of the line. */
static bool take_number(struct lines *lines, char stop, uint64_t max, uint64_t *number)
{
	const char *at = lines->at;
	uint64_t value = 0;

	if (*at == '0' && at + 1 < lines->end && at[1] != stop)
		return false;
	for (; at < lines->end && *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (at == lines->at || *at != stop)
		return false;
	lines->at = at < lines->end ? at + 1 : at;
	*number = value;
	return true;
}

/* The byte that the three characters behind a backslash stand for; 0 if none. */
static unsigned octal(const char *at, const char *end)
{
	unsigned value = 0;

	for (int i = 0; i < 3; i++, at++) {
		if (at >= end || *at < '0' || *at > '7')
			return 0;
		value = value * 8 + (unsigned)(*at - '0');
	}
	return value < 256 ? value : 0;
}

/* The rest of the line, unescaped and NUL-terminated. */
static bool take_text(struct lines *lines, char *text, size_t room)
{
	size_t length = 0;

	for (const char *at = lines->at; at < lines->end; at++) {
		unsigned byte = (uint8_t)*at;
		if (byte == '\\') {
			byte = octal(at + 1, lines->end);
			at += 3;
			if (!byte)
				return false;
		} else if (byte <= ' ' || byte == 0x7f) {
			return false;
		}
		if (length + 1 >= room)
			return false;
		text[length++] = (char)byte;
	}
	text[length] = '\0';
	return true;
}

static const char *take_identity(struct lines *lines, struct dmx_map *map)
{
	struct dmx_medium_id *id = &map->id;
	uint64_t size, patience;

	if (!next_line(lines) || (size_t)(lines->end - lines->at) != strlen(magic) ||
		memcmp(lines->at, magic, strlen(magic)) != 0)
		return "not a hot map of this version";
	if (!next_line(lines) || !take_key(lines, "volume-id") ||
		!take_text(lines, id->volume_id, sizeof id->volume_id))
		return "volume-id is missing or malformed";
	if (!next_line(lines) || !take_key(lines, "volume-uuid") ||
		!take_text(lines, id->uuid, sizeof id->uuid) || !id->uuid[0])
		return "volume-uuid is missing or malformed";
	if (!next_line(lines) || !take_key(lines, "size") ||
		!take_number(lines, '\n', INT64_MAX, &size) || size == 0 || size % SECTOR)
		return "size is missing or malformed";
	id->size = size;
	if (!next_line(lines) || !take_key(lines, "patience") ||
		!take_number(lines, '\n', DMX_MAP_PATIENCE_MAX, &patience))
		return "patience is missing or malformed";
	map->patience = (uint32_t)patience;
	return NULL;
}

static const char *add_module(struct lines *lines, struct dmx_map *map)
{
	char path[DMX_MAP_PATH_MAX];

	if (!take_text(lines, path, sizeof path) || path[0] != '/')
		return "a module's path is malformed";
	if (map->module_count == DMX_MAP_MODULES_MAX)
		return "too many modules";
	char *copy = strdup(path);
	if (!copy)
		return "no memory";
	map->modules[map->module_count++] = copy;
	return NULL;
}

/* What breaks the rules for the extent, which comes behind previous (or NULL). */
static const char *check_extent(
	const struct dmx_extent *extent, const struct dmx_extent *previous, uint64_t size)
{
	if (extent->length == 0)
		return "an extent is empty";
	if (extent->offset > size || extent->length > size - extent->offset)
		return "an extent ends behind the volume";
	if (extent->offset % PAGE ||
		(extent->length % PAGE &&
			(extent->length % SECTOR || extent->offset + extent->length != size)))
		return "an extent is not of whole pages";
	if (previous && extent->offset <= previous->offset + previous->length)
		return "extents overlap, touch or do not ascend";
	return NULL;
}

static const char *add_extent(struct lines *lines, struct dmx_map *map)
{
	struct dmx_extent extent;
	size_t n = map->extent_count;

	if (!take_number(lines, ' ', INT64_MAX, &extent.offset) ||
		!take_number(lines, '\n', INT64_MAX, &extent.length))
		return "an extent is malformed";
	if (n == DMX_MAP_EXTENTS_MAX)
		return "too many extents";
	const char *reason = check_extent(&extent, n ? &map->extents[n - 1] : NULL, map->id.size);
	if (reason)
		return reason;
	if (n == 0 && !(map->extents = malloc(DMX_MAP_EXTENTS_MAX * sizeof extent)))
		return "no memory";
	map->extents[map->extent_count++] = extent;
	return NULL;
}

static const char *check_crc(const struct lines *lines, const char *text)
{
	char line[16];
	size_t front = (size_t)(lines->at - text), length;

	snprintf(line, sizeof line, "crc32 %08" PRIx32, crc32_of(text, front));
	length = strlen(line);
	if ((size_t)(lines->end - lines->at) != length || memcmp(lines->at, line, length) != 0)
		return "its checksum is wrong";
	return lines->end + 1 == lines->limit ? NULL : "there is text behind its checksum";
}

static const char *parse(struct lines *lines, const char *text, struct dmx_map *map)
{
	const char *reason = take_identity(lines, map);

	while (!reason && next_line(lines)) {
		if (lines->end - lines->at > 6 && !memcmp(lines->at, "crc32 ", 6))
			return check_crc(lines, text);
		if (map->extent_count == 0 && take_key(lines, "module"))
			reason = add_module(lines, map);
		else if (take_key(lines, "extent"))
			reason = add_extent(lines, map);
		else
			reason = "a line is unknown or out of place";
	}
	return reason ? reason : "it ends early";
}

const char *dmx_map_parse(const char *text, size_t length, struct dmx_map *map)
{
	struct lines lines = {.at = text, .limit = text + length};

	memset(map, 0, sizeof *map);
	if (length > DMX_MAP_BYTES_MAX)
		return "it is too long";
	const char *reason = parse(&lines, text, map);
	if (reason)
		map->extent_count = 0;
	return reason;
}

void dmx_map_clear(struct dmx_map *map)
{
	for (size_t i = 0; i < map->module_count; i++)
		free(map->modules[i]);
	free(map->extents);
	memset(map, 0, sizeof *map);
}

static void put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s ", key);
	for (const uint8_t *at = (const uint8_t *)text; *at; at++)
		fprintf(out, *at <= ' ' || *at == 0x7f || *at == '\\' ? "\\%03o" : "%c", *at);
	fputc('\n', out);
}

static void put_lines(FILE *out, const struct dmx_map *map)
{
	fprintf(out, "%s\n", magic);
	put_text(out, "volume-id", map->id.volume_id);
	put_text(out, "volume-uuid", map->id.uuid);
	fprintf(out, "size %" PRIu64 "\npatience %" PRIu32 "\n", map->id.size, map->patience);
	for (size_t i = 0; i < map->module_count; i++)
		put_text(out, "module", map->modules[i]);
	for (size_t i = 0; i < map->extent_count; i++)
		fprintf(out, "extent %" PRIu64 " %" PRIu64 "\n", map->extents[i].offset,
			map->extents[i].length);
}

/* The reader's rules are the writer's. */
static bool reads_back(const char *text, size_t length)
{
	struct dmx_map map;
	bool good = !dmx_map_parse(text, length, &map);

	dmx_map_clear(&map);
	return good;
}

char *dmx_map_format(const struct dmx_map *map)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	put_lines(out, map);
	if (fflush(out) == 0)
		fprintf(out, "crc32 %08" PRIx32 "\n", crc32_of(text, length));
	if (fclose(out) == 0 && reads_back(text, length))
		return text;
	free(text);
	return NULL;
}

uint64_t dmx_map_bytes(const struct dmx_map *map)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < map->extent_count; i++)
		bytes += map->extents[i].length;
	return bytes;
}
