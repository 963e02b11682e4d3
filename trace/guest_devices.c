/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/guest_devices.h"

#include <string.h>

enum { DEVICES_MAX = 4096, BELOW_MAX = 64 };

struct tr_guest_devices {
	GHashTable *table; /* device number → tr_guest_device */
};

static void free_device(gpointer data)
{
	tr_guest_device *device = data;

	g_free(device->path);
	g_array_unref(device->below);
	g_free(device);
}

tr_guest_devices *tr_guest_devices_new(void)
{
	tr_guest_devices *devices = g_new(tr_guest_devices, 1);

	devices->table = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_device);
	return devices;
}

void tr_guest_devices_free(tr_guest_devices *devices)
{
	g_hash_table_unref(devices->table);
	g_free(devices);
}

/* NULL if there are too many. */
static tr_guest_device *get(tr_guest_devices *devices, gint64 number)
{
	tr_guest_device *device = g_hash_table_lookup(devices->table, &number);

	if (device || g_hash_table_size(devices->table) >= DEVICES_MAX)
		return device;
	device = g_new0(tr_guest_device, 1);
	device->below = g_array_new(FALSE, FALSE, sizeof(gint64));
	g_hash_table_insert(devices->table, g_memdup2(&number, sizeof number), device);
	return device;
}

gboolean tr_guest_devices_backing(tr_guest_devices *devices, gint64 number, const char *path)
{
	tr_guest_device *device = get(devices, number);

	if (!device || g_strcmp0(device->path, path) == 0)
		return FALSE;
	g_free(device->path);
	device->path = g_strdup(path);
	return TRUE;
}

gboolean tr_guest_devices_below(
	tr_guest_devices *devices, gint64 number, const gint64 *below, guint count)
{
	tr_guest_device *device = get(devices, number);

	count = MIN(count, BELOW_MAX);
	if (!device || (device->below->len == count &&
			       (count == 0 || memcmp(device->below->data, below,
						      count * sizeof *below) == 0)))
		return FALSE;
	g_array_set_size(device->below, 0);
	g_array_append_vals(device->below, below, count);
	return TRUE;
}

const tr_guest_device *tr_guest_devices_find(const tr_guest_devices *devices, gint64 number)
{
	return g_hash_table_lookup(devices->table, &number);
}
