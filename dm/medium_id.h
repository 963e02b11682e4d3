/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which disc it is: from the primary volume descriptor (ECMA-119 8.4). libc only. */
#ifndef DMX_MEDIUM_ID_H
#define DMX_MEDIUM_ID_H

#include <stdbool.h>
#include <stdint.h>

enum { DMX_PVD_OFFSET = 32768, DMX_PVD_SIZE = 2048 };

struct dmx_medium_id {
	char volume_id[33]; /* bytes, trailing blanks off */
	char uuid[23];      /* as blkid prints it: 2026-12-01-10-20-30-00; "-" if there is none */
	uint64_t size;      /* bytes of the volume */
};

/* FALSE if this is no primary volume descriptor. */
bool dmx_medium_id_read(const uint8_t pvd[DMX_PVD_SIZE], struct dmx_medium_id *id);

bool dmx_medium_id_equal(const struct dmx_medium_id *a, const struct dmx_medium_id *b);

#endif
