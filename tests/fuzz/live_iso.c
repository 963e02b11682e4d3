/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole ISO, as every command opens it: descriptors, files, boot catalogue, boot entries, images,
 * where the image lies and what room it has; sparse (fuzz.h). */
#include "dm/hot_map.h"
#include "iso/kernel_image.h"
#include "iso/place.h"
#include "tests/fuzz/fuzz.h"

static void find_place(const li_iso *iso, const li_file *file)
{
	GError *error = NULL;
	g_autoptr(GPtrArray) trees = li_trees_read(iso, &error);
	li_place place;

	if (!fz_done(trees != NULL, &error))
		return;
	if (fz_done(li_place_find(iso, trees, file, &place, &error), &error))
		g_assert_cmpuint(li_place_room(iso, trees, &place, G_MAXUINT32), <=, G_MAXUINT32);
}

static void read_kernel(const li_iso *iso, const li_entry *entry)
{
	GError *error = NULL;
	li_kernel kernel = {0};

	fz_done(li_kernel_read(iso, li_iso_find(iso, entry->kernel), &kernel, &error), &error);
	g_free(kernel.version);
}

static void read_map(const li_iso *iso)
{
	GError *error = NULL;
	struct dmx_map map;

	fz_done(dmx_hot_map_of_iso(iso, &map, &error), &error);
	dmx_map_clear(&map);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_sparse_file(data, size);
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
	GError *error = NULL;
	g_autoptr(li_iso) iso = li_iso_open(path, &error);

	if (fz_done(iso != NULL, &error)) {
		g_autoptr(GPtrArray) roots = li_iso_root_images(iso, &error);

		if (fz_done(roots != NULL, &error))
			find_place(iso, ((const li_image *)roots->pdata[0])->file);
		for (guint i = 0; i < iso->entries->len; i++)
			read_kernel(iso, g_ptr_array_index(iso->entries, i));
		read_map(iso);
	}
	close(fd);
	return 0;
}
