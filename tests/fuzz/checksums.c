/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a checksum list, under the names that lists have. */
#include "iso/checksum_line.h"
#include "tests/fuzz/fuzz.h"

static void parse(const char *line, gsize length, const char *list)
{
	li_sum_line sum;

	if (!li_sum_parse(line, length, list, &sum))
		return;
	g_assert_cmpuint(sum.offset + sum.digits, <=, length);
	g_free(sum.name);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	static const char *const lists[] = {"/md5sum.txt", "/.treeinfo", "/a.b2"};
	/* As a list is read: with a NUL behind it. */
	g_autofree char *text = g_malloc0(size + 1);

	memcpy(text, data, size);
	for (gsize at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		gsize length = end ? (gsize)(end - text) - at : size - at;

		for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
			parse(text + at, length, lists[i]);
		at += length + 1;
	}
	return 0;
}
