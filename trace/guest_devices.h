/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guest's devices are made of, as its agent reports them: files behind loop devices, and
 * the devices below. All input comes from the guest; counts are bounded.
 */
#ifndef TR_GUEST_DEVICES_H
#define TR_GUEST_DEVICES_H

#include <glib.h>

/* One number for both: of a device, or of a filesystem that is on none. */
static inline gint64 tr_device_number(guint32 major, guint32 minor)
{
	return (gint64)((guint64)major << 32 | minor);
}

typedef struct {
	char *path;    /* of the file behind a loop device, in the guest; else NULL */
	GArray *below; /* gint64: devices; of a loop device the filesystem that holds the file */
} tr_guest_device;

typedef struct tr_guest_devices tr_guest_devices;

tr_guest_devices *tr_guest_devices_new(void);
void tr_guest_devices_free(tr_guest_devices *devices);

/* TRUE if this is news. */
gboolean tr_guest_devices_backing(tr_guest_devices *devices, gint64 device, const char *path);
gboolean tr_guest_devices_below(
	tr_guest_devices *devices, gint64 device, const gint64 *below, guint count);

/* NULL for one that nothing was reported of. */
const tr_guest_device *tr_guest_devices_find(const tr_guest_devices *devices, gint64 device);

#endif
