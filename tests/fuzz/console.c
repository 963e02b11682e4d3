/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A guest's console. */
#include "tests/fuzz/fuzz.h"
#include "trace/console.h"

enum { PIECE = 100 };

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	g_autoptr(tr_console) console = tr_console_new();
	g_autofree char *tail = NULL;

	for (gsize at = 0; at < size; at += PIECE)
		tr_console_push(console, (const char *)data + at, MIN(PIECE, size - at));
	tr_console_get_failure(console);
	tail = tr_console_tail(console);
	g_assert_true(g_utf8_validate(tail, -1, NULL));
	return 0;
}
