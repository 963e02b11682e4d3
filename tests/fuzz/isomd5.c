/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Application Use field of a small ISO with an implanted checksum. */
#include "iso/isomd5.h"
#include "tests/fuzz/fuzz.h"

enum {
	ISO_SIZE = 40 * LI_SECTOR,
	FIELD = 16 * LI_SECTOR + LI_APPLICATION_USE,
	MD5_AT = 13,
	SPACE_SIZE = 80
};

/* Puts the right sum in, so that it is renewed, unless there are partial sums that are wrong. */
static void make_right(guint8 *iso)
{
	guint8 field[LI_APPLICATION_USE_SIZE + 1] = {0};
	const char *skip;
	guint64 skipped;

	memcpy(field, iso + FIELD, LI_APPLICATION_USE_SIZE);
	skip = strstr((const char *)field, "SKIPSECTORS = ");
	skipped = skip ? g_ascii_strtoull(skip + strlen("SKIPSECTORS = "), NULL, 10) : 0;
	memset(iso + FIELD, ' ', LI_APPLICATION_USE_SIZE);
	if (skipped <= ISO_SIZE / LI_SECTOR) {
		g_autofree char *sum = g_compute_checksum_for_data(
			G_CHECKSUM_MD5, iso, ISO_SIZE - skipped * LI_SECTOR);

		memcpy(field + MD5_AT, sum, strlen(sum));
	}
	memcpy(iso + FIELD, field, LI_APPLICATION_USE_SIZE);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	g_autofree guint8 *bytes = g_malloc0(ISO_SIZE);
	g_autoptr(li_iso) iso = fz_iso_new();
	g_autoptr(li_overlay) overlay = NULL;
	li_write_result result = {0};
	GError *error = NULL;
	li_isomd5 sum;

	bytes[16 * LI_SECTOR + SPACE_SIZE] = ISO_SIZE / LI_SECTOR;
	memcpy(bytes + FIELD, data, MIN(size, LI_APPLICATION_USE_SIZE));
	li_isomd5_parse(bytes + FIELD, &sum);
	make_right(bytes);
	g_assert_cmpint(pwrite(iso->fd, bytes, ISO_SIZE, 0), ==, ISO_SIZE);
	iso->file_size = iso->volume.size = ISO_SIZE;
	iso->volume.isomd5 = TRUE;
	overlay = li_overlay_new(iso->fd, ISO_SIZE);
	fz_done(li_isomd5_renew(iso, overlay, &result, &error), &error);
	li_suse_digest_present(iso->fd);
	return 0;
}
