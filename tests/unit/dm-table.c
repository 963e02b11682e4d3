/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "dm/table.h"

#define MIB (UINT64_C(1) << 20)

/* The table as dmsetup shows it, and as it was worked out by hand. */
static char *text_of(const struct dmx_segment *segments, size_t count)
{
	GString *text = g_string_new(NULL);
	char arguments[64];

	for (size_t i = 0; i < count; i++) {
		g_assert_true(dmx_segment_arguments(
			&segments[i], "7:1000", "11:0", arguments, sizeof arguments));
		g_string_append_printf(text,
			"%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " linear %s\n",
			segments[i].start, segments[i].length, arguments);
	}
	return g_string_free(text, FALSE);
}

static void assert_table(const struct dmx_extent *extents, size_t count, guint64 loaded,
	guint64 size, guint32 block, const char *wanted)
{
	struct dmx_segment segments[DMX_SEGMENTS(8)];
	size_t n = dmx_table_build(extents, count, loaded, size, block, segments);
	g_autofree char *text = text_of(segments, n);

	g_assert_cmpstr(text, ==, wanted);
}

static void test_plain(void)
{
	static const struct dmx_extent one = {0, 4096};

	assert_table(NULL, 0, 0, 700 * MIB, 2048, "0 1433600 linear 11:0 0\n");
	assert_table(&one, 1, 0, 700 * MIB, 2048, "0 1433600 linear 11:0 0\n");
}

static void test_whole(void)
{
	static const struct dmx_extent all = {0, MIB};

	assert_table(&all, 1, MIB, MIB, 2048, "0 2048 linear 7:1000 2048\n");
}

/* Sectors: 32768 is 64, 40960 is 80, 1 MiB is 2048, 10 MiB is 20480. */
static const struct dmx_extent three[] = {
	{32768, 8192}, {MIB, 4096}, {10 * MIB - 6144, 6144 /* the volume ends in half a page */}};

static void test_three(void)
{
	assert_table(three, 3, MIB, 10 * MIB + 512, 512,
		"0 64 linear 11:0 0\n"
		"64 16 linear 7:1000 2048\n"
		"80 1968 linear 11:0 80\n"
		"2048 8 linear 7:1000 2064\n"
		"2056 18412 linear 11:0 2056\n"
		"20468 12 linear 7:1000 2072\n"
		"20480 1 linear 11:0 20480\n");
}

/* A sweep that was cut off: whole blocks of what it got. */
static void test_cut_off(void)
{
	assert_table(three, 3, 8192 + 2048, 10 * MIB, 2048,
		"0 64 linear 11:0 0\n"
		"64 16 linear 7:1000 2048\n"
		"80 1968 linear 11:0 80\n"
		"2048 4 linear 7:1000 2064\n"
		"2052 18428 linear 11:0 2052\n");
	assert_table(three, 3, 8192, 10 * MIB, 2048,
		"0 64 linear 11:0 0\n"
		"64 16 linear 7:1000 2048\n"
		"80 20400 linear 11:0 80\n");
	assert_table(three, 3, 8192 + 2047, 10 * MIB, 2048,
		"0 64 linear 11:0 0\n"
		"64 16 linear 7:1000 2048\n"
		"80 20400 linear 11:0 80\n");
}

/* No block of a disk with blocks of 4096 may be cut in two. */
static void test_block(void)
{
	static const struct dmx_extent odd[] = {{4096, 6144}, {18432, 6144}};

	assert_table(odd, 2, MIB, 65536, 4096,
		"0 8 linear 11:0 0\n"
		"8 8 linear 7:1000 2048\n"
		"16 24 linear 11:0 16\n"
		"40 8 linear 7:1000 2064\n" /* 2 KiB into the second */
		"48 80 linear 11:0 48\n");
}

static void test_misfits(void)
{
	static const struct {
		const char *why;
		struct dmx_extent extents[2];
		guint64 size;
		guint32 block;
	} cases[] = {
		{"behind the medium", {{0, 4096}, {65536, 4096}}, 65536, 2048},
		{"over the end", {{0, 4096}, {61440, 8192}}, 65536, 2048},
		{"overflow", {{0, 4096}, {4096 * 3, UINT64_MAX - 511}}, 65536, 2048},
		{"overlap", {{0, 8192}, {4096, 8192}}, 65536, 2048},
		{"touch", {{0, 4096}, {4096, 4096}}, 65536, 2048},
		{"descend", {{8192, 4096}, {0, 4096}}, 65536, 2048},
		{"empty", {{0, 4096}, {8192, 0}}, 65536, 2048},
		{"odd offset", {{0, 4096}, {8193, 4096}}, 65536, 2048},
		{"odd length", {{0, 4096}, {8192, 4095}}, 65536, 2048},
		{"odd medium", {{0, 4096}, {8192, 4096}}, 65535, 2048},
		{"no medium", {{0, 4096}, {8192, 4096}}, 0, 2048},
		{"no block", {{0, 4096}, {8192, 4096}}, 65536, 0},
		{"odd block", {{0, 4096}, {8192, 4096}}, 65536, 1536},
	};
	struct dmx_segment segments[DMX_SEGMENTS(2)];

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].why);
		g_assert_cmpuint(dmx_table_build(cases[i].extents, 2, MIB, cases[i].size,
					 cases[i].block, segments),
			==, 0);
	}
}

static void test_bytes(void)
{
	struct dmx_segment segments[DMX_SEGMENTS(3)];
	size_t n = dmx_table_build(three, 3, 8192 + 4096, 10 * MIB, 2048, segments);

	g_assert_cmpuint(dmx_table_ram(segments, n), ==, 8192 + 4096);
}

static void test_room(void)
{
	static const struct dmx_segment segment = {.from = 12345};
	char text[10];

	g_assert_true(dmx_segment_arguments(&segment, "7:0", "8:1", text, 10));
	g_assert_cmpstr(text, ==, "8:1 12345");
	g_assert_false(dmx_segment_arguments(&segment, "7:0", "8:1", text, 9));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/dm/table/plain", test_plain);
	g_test_add_func("/dm/table/whole", test_whole);
	g_test_add_func("/dm/table/three", test_three);
	g_test_add_func("/dm/table/cut-off", test_cut_off);
	g_test_add_func("/dm/table/block", test_block);
	g_test_add_func("/dm/table/misfits", test_misfits);
	g_test_add_func("/dm/table/bytes", test_bytes);
	g_test_add_func("/dm/table/room", test_room);
	return g_test_run();
}
