/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the medium to the RAM store of dm/table.h. libc only: the loader in the guest and the host
 * do it alike. */
#ifndef DMX_SWEEP_H
#define DMX_SWEEP_H

#include "dm/table.h"

struct dmx_swept {
	uint64_t bytes; /* at the store's start, without its lead, that are good */
	int error;      /* why there are not more: an errno, ETIMEDOUT for the deadline; or 0 */
};

/* A file in RAM with room for so many bytes between the zeros; a descriptor or a negative errno. */
int dmx_store_create(uint64_t bytes);

/* Whether so many bytes of RAM leave enough for everybody else: a quarter of all, and 256 MiB. proc
 * is a descriptor of a proc filesystem. */
bool dmx_store_affordable(int proc, uint64_t bytes);

/* Reads the extents in their order into the store, until the deadline at most, whatever the drive
 * does: nanoseconds of the monotonic clock, UINT64_MAX for none. */
struct dmx_swept dmx_sweep(
	int medium, const struct dmx_extent *extents, size_t count, int store, uint64_t deadline);

#endif
