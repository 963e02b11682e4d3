/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dm/device.h"
#include "dm/hot_map.h"
#include "dm/names.h"
#include "reorder/util/error.h"

static const char default_device[] = "/dev/sr0";

/* Its number and size, where it is here; otherwise it is as long as the ISO. */
static char *look_at(const char *device, guint64 *size)
{
	struct stat st;
	guint64 bytes;
	int fd = device ? open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	if (fd >= 0 && ioctl(fd, BLKGETSIZE64, &bytes) == 0)
		*size = bytes;
	if (fd >= 0)
		close(fd);
	if (device && stat(device, &st) == 0 && S_ISBLK(st.st_mode))
		return g_strdup_printf("%u:%u", major(st.st_rdev), minor(st.st_rdev));
	return g_strdup(device ? device : default_device);
}

static gboolean print_table(
	const ro_options *options, const li_iso *iso, const struct dmx_map *map, GError **error)
{
	guint64 size = iso->file_size / 512 * 512;
	g_autofree char *medium = look_at(options->dm_device, &size);
	g_autofree char *table = dmx_device_table(map, medium, size, error);

	if (!table)
		return FALSE;
	fputs(table, stdout);
	return TRUE;
}

static gboolean activate(const ro_options *options, const struct dmx_map *map, GError **error)
{
	const char *device = options->dm_device ? options->dm_device : default_device;
	guint64 bytes;

	if (!dmx_device_activate(map, device, &bytes, error))
		return FALSE;
	printf("%s: %" G_GUINT64_FORMAT " bytes of %s in RAM\n", DMX_NODE, bytes, device);
	return TRUE;
}

static gboolean release(GError **error)
{
	gboolean kept;

	if (!dmx_device_release(&kept, error))
		return FALSE;
	printf("%s: the RAM is given back; the device is %s\n", DMX_NODE,
		kept ? "in use, it stays" : "gone");
	return TRUE;
}

static gboolean print_status(GError **error)
{
	g_auto(dmx_device_state) state = {0};

	if (!dmx_device_read(&state, error))
		return FALSE;
	if (!state.active)
		printf("%s: is not there\n", DMX_NODE);
	else
		printf("%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
		       " bytes in RAM, the others on %s; in use by %u\n",
			DMX_NODE, state.ram, state.size, state.medium ? state.medium : "nothing",
			state.users);
	return TRUE;
}

gboolean ro_command_dm(const ro_options *options, GError **error)
{
	struct dmx_map map = {0};

	if (options->dm == RO_DM_STATUS)
		return print_status(error);
	if (options->dm == RO_DM_RELEASE)
		return release(error);
	g_autoptr(li_iso) iso = li_iso_open(options->input, error);
	gboolean ok = iso && dmx_hot_map_of_iso(iso, &map, error) &&
		      (options->dm == RO_DM_TABLE ? print_table(options, iso, &map, error)
						  : activate(options, &map, error));
	dmx_map_clear(&map);
	return ok;
}
