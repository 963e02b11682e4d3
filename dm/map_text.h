/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of a hot map: what the loader in the guest is told. Pure C, libc only. Lines in this
 * order, each ended by a newline:
 *
 *   reorder-livecd hot map 1
 *   volume-id ESCAPED         may be empty
 *   volume-uuid UUID          as blkid prints it; "-" if there is none
 *   size BYTES                of the volume, in whole sectors of 2048
 *   patience SECONDS          so long the live framework waits for its medium
 *   module ESCAPED            any number: absolute path in the initramfs of a plain kernel module,
 *                             in the order of loading
 *   extent OFFSET LENGTH      any number: bytes of the medium, ascending, not touching, in whole
 *                             pages of 4096, but the last may end with the volume
 *   crc32 HEX8                CRC-32 (IEEE 802.3) of all bytes in front of this line
 *
 * ESCAPED as in reorder/util/escape.h. Numbers are decimal, without sign or leading zeros.
 */
#ifndef DMX_MAP_TEXT_H
#define DMX_MAP_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "dm/medium_id.h"
#include "dm/table.h"

enum {
	DMX_MAP_BYTES_MAX = 1 << 20,
	DMX_MAP_EXTENTS_MAX = 4096,
	DMX_MAP_MODULES_MAX = 32,
	DMX_MAP_PATH_MAX = 512, /* of a module */
	DMX_MAP_PATIENCE_MAX = 86400,
};

struct dmx_map {
	struct dmx_medium_id id;
	uint32_t patience;
	char *modules[DMX_MAP_MODULES_MAX]; /* owned */
	size_t module_count;
	struct dmx_extent *extents; /* owned */
	size_t extent_count;
};

/*
 * NULL if all is well, otherwise what is wrong (static text). The map need not be initialised, and
 * is to be cleared in any case. Of a map with a fault it has no extents, but whatever else was in
 * front of the fault: with id.size > 0 its identity is whole, otherwise it has none.
 */
const char *dmx_map_parse(const char *text, size_t length, struct dmx_map *map);
void dmx_map_clear(struct dmx_map *map);

/* The text, NUL-terminated, to be freed by the caller; NULL if there is no memory or the map breaks
 * a rule of the format. */
char *dmx_map_format(const struct dmx_map *map);

/* Bytes of all extents. */
uint64_t dmx_map_bytes(const struct dmx_map *map);

#endif
