/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/table.h"

#include <inttypes.h>
#include <stdio.h>

enum { SECTOR = 512 };

static bool fits(const struct dmx_extent *extents, size_t count, uint64_t size)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		const struct dmx_extent *extent = &extents[i];
		if ((extent->offset | extent->length) % SECTOR || extent->length == 0)
			return false;
		if (i > 0 && extent->offset <= end)
			return false;
		if (extent->offset > size || extent->length > size - extent->offset)
			return false;
		end = extent->offset + extent->length;
	}
	return size > 0 && size % SECTOR == 0;
}

static void add(struct dmx_segment *segments, size_t *count, uint64_t start, uint64_t end, bool ram,
	uint64_t from)
{
	if (start < end)
		segments[(*count)++] = (struct dmx_segment){.start = start / SECTOR,
			.length = (end - start) / SECTOR,
			.from = from / SECTOR,
			.ram = ram};
}

size_t dmx_table_build(const struct dmx_extent *extents, size_t count, uint64_t loaded,
	uint64_t size, uint32_t block, struct dmx_segment *segments)
{
	uint64_t at = 0, stored = 0;
	size_t n = 0;

	if (block < SECTOR || (block & (block - 1)) || !fits(extents, count, size))
		return 0;
	for (size_t i = 0; i < count && stored < loaded; i++) {
		const struct dmx_extent *extent = &extents[i];
		uint64_t left = loaded - stored;
		uint64_t end = extent->offset + (extent->length < left ? extent->length : left);
		uint64_t start = (extent->offset + block - 1) / block * block;

		end -= end % block;
		if (start < end) {
			add(segments, &n, at, start, false, at);
			add(segments, &n, start, end, true,
				DMX_STORE_LEAD + stored + (start - extent->offset));
			at = end;
		}
		stored += extent->length;
	}
	add(segments, &n, at, size, false, at);
	return n;
}

bool dmx_segment_arguments(const struct dmx_segment *segment, const char *ram, const char *medium,
	char *text, size_t room)
{
	int length =
		snprintf(text, room, "%s %" PRIu64, segment->ram ? ram : medium, segment->from);

	return length > 0 && (size_t)length < room;
}

uint64_t dmx_table_ram(const struct dmx_segment *segments, size_t count)
{
	uint64_t sectors = 0;

	for (size_t i = 0; i < count; i++)
		sectors += segments[i].ram ? segments[i].length : 0;
	return sectors * SECTOR;
}
