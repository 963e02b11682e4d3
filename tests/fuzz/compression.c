/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A compressed stream in one of the formats that Linux takes. */
#include "iso/compression.h"
#include "tests/fuzz/fuzz.h"

enum { LIMIT = 4 << 20 };

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	GError *error = NULL;
	gsize length = 0;
	g_autoptr(GBytes) bytes = li_unpack_all(data, size, LIMIT, &error);

	if (fz_done(bytes != NULL, &error))
		g_assert_cmpuint(g_bytes_get_size(bytes), <=, LIMIT);
	if (fz_done(li_compressed_length(data, size, &length, &error), &error))
		g_assert_true(length > 0 && length <= size);
	return 0;
}
