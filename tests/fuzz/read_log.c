/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A read log of the medium plugin. */
#include "tests/fuzz/fuzz.h"
#include "trace/read_log.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_file(data, size);
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
	GError *error = NULL;
	g_autoptr(GArray) reads = tr_read_log_read(path, &error);
	tr_read_totals totals;
	double number;

	if (fz_done(reads != NULL, &error))
		tr_read_log_totals(reads, 4096, 1 << 20, &totals);
	fz_done(tr_read_log_number(path, "size", &number, &error), &error);
	close(fd);
	return 0;
}
