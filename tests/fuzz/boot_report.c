/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What xorriso reports of the boot equipment of an ISO that is not trusted. */
#include "iso/boot_report.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(li_boot_report) report = li_boot_report_parse(text);
	g_autoptr(GArray) extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	li_extent extent = {65536, 1 << 20};
	GError *error = NULL;

	g_array_append_val(extents, extent);
	fz_done(li_boot_report_same(report, extents, report, extents, &error), &error);
	return 0;
}
