/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The preload on a system that runs: what the loader does in the initramfs, by libdevmapper. All
 * but dmx_device_table needs root and device-mapper; the device is DMX_NODE.
 */
#ifndef DMX_DEVICE_H
#define DMX_DEVICE_H

#include <glib.h>

#include "dm/map_text.h"

typedef struct {
	gboolean active;
	guint64 size, ram; /* bytes: all, and of these in RAM */
	char *medium;      /* "MAJOR:MINOR"; NULL if all is in RAM */
	guint users;       /* mounts and the like */
} dmx_device_state;

gboolean dmx_device_read(dmx_device_state *state, GError **error);
void dmx_device_state_clear(dmx_device_state *state);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(dmx_device_state, dmx_device_state_clear)

/*
 * The table that the loader would build for a medium in the drive; lines as "dmsetup table" prints
 * them. size: bytes of the medium. RO_ERROR_UNSUITABLE if the map does not fit it, RO_ERROR_USAGE
 * for a name that is no word of a table. Owned by the caller.
 */
char *dmx_device_table(const struct dmx_map *map, const char *medium, guint64 size, GError **error);

/*
 * Reads the hot region from the drive (a path in /dev) into RAM and makes the device of both.
 * RO_ERROR_UNSUITABLE if the drive holds another medium, RO_ERROR_FAILED if there is too little RAM
 * or the drive is in use. *bytes: in RAM.
 */
gboolean dmx_device_activate(
	const struct dmx_map *map, const char *drive, guint64 *bytes, GError **error);

/* Gives the RAM back; the device goes if nobody uses it, and leads to the medium alone if somebody
 * does: *kept. */
gboolean dmx_device_release(gboolean *kept, GError **error);

#endif
