/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/bytes_hash.h"

static guint64 seed(void)
{
	static gsize value;

	if (g_once_init_enter(&value)) {
		guint64 drawn = (guint64)g_random_int() << 32 | g_random_int();
		g_once_init_leave(&value, (gsize)(drawn | 1));
	}
	return value;
}

/* FNV-1a, 64 bits (the constant is its prime), mixed at every step by the seed. */
guint ro_bytes_hash(gconstpointer string)
{
	guint64 key = seed(), hash = key;

	for (const guchar *p = string; *p; p++) {
		hash = (hash ^ *p) * 0x100000001b3ull;
		hash ^= (hash >> 29) * key;
	}
	return (guint)(hash ^ hash >> 32);
}
