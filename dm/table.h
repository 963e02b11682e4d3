/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The device-mapper table that joins RAM and medium into one read-only device. Pure C, libc only:
 * the loader in the guest and the host build the same.
 *
 * The RAM store is a file: DMX_STORE_LEAD bytes of zeros, the extents of the hot map back to back,
 * DMX_STORE_LEAD bytes of zeros. The zeros, which are holes, keep the loop device over it from
 * looking like the filesystem whose first blocks it holds.
 */
#ifndef DMX_TABLE_H
#define DMX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DMX_STORE_LEAD (UINT64_C(1) << 20)

/* Bytes on the medium. */
struct dmx_extent {
	uint64_t offset, length;
};

/* A line of the table; sectors of 512 bytes. */
struct dmx_segment {
	uint64_t start, length;
	uint64_t from; /* sector of the RAM store or of the medium */
	bool ram;
};

/* Room that a table of so many extents needs, in segments. */
#define DMX_SEGMENTS(extents) (2 * (size_t)(extents) + 1)

/*
 * Fills segments, which has room for DMX_SEGMENTS(count); returns how many there are. 0 if the
 * extents do not fit the medium: they must ascend without touching, start and end on whole sectors
 * and end in the medium.
 *
 * size: bytes of the medium's block device. block: its logical block size, at which no segment may
 * be cut. loaded: so many bytes of the store, without its lead, are good; what is behind them stays
 * on the medium.
 */
size_t dmx_table_build(const struct dmx_extent *extents, size_t count, uint64_t loaded,
	uint64_t size, uint32_t block, struct dmx_segment *segments);

/* The arguments of the segment's "linear" target, as "MAJOR:MINOR SECTOR" or "PATH SECTOR". FALSE
 * if there is not enough room for them. */
bool dmx_segment_arguments(const struct dmx_segment *segment, const char *ram, const char *medium,
	char *text, size_t room);

/* Bytes of all segments in RAM. */
uint64_t dmx_table_ram(const struct dmx_segment *segments, size_t count);

#endif
