/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Volume descriptors, boot catalogue and partition tables; sparse (fuzz.h). */
#include "dm/medium_id.h"
#include "iso/volume.h"
#include "tests/fuzz/fuzz.h"

static void read_id(const img_source *disc)
{
	guint8 pvd[DMX_PVD_SIZE] = {0};
	struct dmx_medium_id id;

	(void)!pread(disc->fd, pvd, sizeof(pvd), DMX_PVD_OFFSET);
	if (dmx_medium_id_read(pvd, &id))
		g_assert_true(dmx_medium_id_equal(&id, &id));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_sparse_file(data, size);
	img_source disc = fz_source(fd);
	g_autoptr(GPtrArray) boot_images =
		g_ptr_array_new_with_free_func((GDestroyNotify)li_boot_image_free);
	li_volume volume = {0};
	GError *error = NULL;

	fz_done(li_volume_read(&disc, &volume, boot_images, &error), &error);
	li_volume_clear(&volume);
	read_id(&disc);
	close(fd);
	return 0;
}
