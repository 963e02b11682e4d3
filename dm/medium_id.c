/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/medium_id.h"

#include <stdio.h>
#include <string.h>

/* Offsets into the descriptor. */
enum {
	AT_VOLUME_ID = 40,
	AT_SPACE_SIZE = 80,
	AT_BLOCK_SIZE = 128,
	AT_CREATED = 813,
	AT_MODIFIED = 830
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void read_volume_id(const uint8_t *pvd, char *id)
{
	size_t length;

	memcpy(id, pvd + AT_VOLUME_ID, 32);
	id[32] = '\0';
	length = strlen(id);
	while (length > 0 && is_blank(id[length - 1]))
		id[--length] = '\0';
}

/* Digits only, and not the zeros that stand for no date (8.4.26.1). */
static bool is_date(const uint8_t *date)
{
	uint8_t seen = 0;

	for (int i = 0; i < 16; i++) {
		if (date[i] < '0' || date[i] > '9')
			return false;
		seen |= (uint8_t)(date[i] - '0');
	}
	return seen != 0 || date[16] != 0;
}

static bool read_uuid(const uint8_t *field, char uuid[23])
{
	const char *date = (const char *)field;

	if (!is_date(field))
		return false;
	snprintf(uuid, 23, "%.4s-%.2s-%.2s-%.2s-%.2s-%.2s-%.2s", date, date + 4, date + 6, date + 8,
		date + 10, date + 12, date + 14);
	return true;
}

bool dmx_medium_id_read(const uint8_t pvd[DMX_PVD_SIZE], struct dmx_medium_id *id)
{
	static const uint8_t primary[7] = {1, 'C', 'D', '0', '0', '1', 1};
	const uint8_t *size = pvd + AT_SPACE_SIZE, *block = pvd + AT_BLOCK_SIZE;

	memset(id, 0, sizeof *id);
	if (memcmp(pvd, primary, sizeof primary) != 0 || (block[0] | block[1] << 8) != 2048)
		return false;
	read_volume_id(pvd, id->volume_id);
	if (!read_uuid(pvd + AT_MODIFIED, id->uuid) && !read_uuid(pvd + AT_CREATED, id->uuid))
		strcpy(id->uuid, "-");
	id->size = 2048 * ((uint64_t)size[0] | (uint64_t)size[1] << 8 | (uint64_t)size[2] << 16 |
				  (uint64_t)size[3] << 24);
	return true;
}

bool dmx_medium_id_equal(const struct dmx_medium_id *a, const struct dmx_medium_id *b)
{
	return a->size == b->size && !strcmp(a->volume_id, b->volume_id) &&
	       !strcmp(a->uuid, b->uuid);
}
