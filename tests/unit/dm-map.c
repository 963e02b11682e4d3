/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "dm/map_text.h"

/* Its checksum is of python3's zlib.crc32. */
static const char good[] = "reorder-livecd hot map 1\n"
			   "volume-id Debian\\040live\\134\n"
			   "volume-uuid 2026-12-01-08-19-00-00\n"
			   "size 104859648\n"
			   "patience 60\n"
			   "module /lib/modules/6.1/dm-mod.ko\n"
			   "module /.reorder-hot/a\\040b.ko\n"
			   "extent 32768 8192\n"
			   "extent 104857600 2048\n"
			   "crc32 @\n";

static guint32 crc32(const char *bytes, gsize length)
{
	guint32 crc = 0xffffffff;

	for (gsize i = 0; i < length * 8; i++) {
		guint32 bit = (crc ^ (guint32)(guchar)bytes[i / 8] >> i % 8) & 1;
		crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* The text with a "crc32 @" line put right. */
static char *sealed(const char *text)
{
	const char *line = strstr(text, "crc32 @");

	if (!line)
		return g_strdup(text);
	return g_strdup_printf("%.*scrc32 %08x%s", (int)(line - text), text,
		crc32(text, (gsize)(line - text)), line + strlen("crc32 @"));
}

/* One part of the good map replaced by another. */
static char *changed(const char *from, const char *to)
{
	g_auto(GStrv) parts = g_strsplit(good, from, 2);
	g_autofree char *text = NULL;

	g_assert_nonnull(parts[1]);
	text = g_strconcat(parts[0], to, parts[1], NULL);
	return sealed(text);
}

static void test_reads(void)
{
	g_autofree char *text = sealed(good);
	struct dmx_map map;

	g_assert_nonnull(strstr(text, "\ncrc32 b23958a6\n"));
	g_assert_cmpstr(dmx_map_parse(text, strlen(text), &map), ==, NULL);
	g_assert_cmpstr(map.id.volume_id, ==, "Debian live\\");
	g_assert_cmpstr(map.id.uuid, ==, "2026-12-01-08-19-00-00");
	g_assert_cmpuint(map.id.size, ==, 104859648);
	g_assert_cmpuint(map.patience, ==, 60);
	g_assert_cmpuint(map.module_count, ==, 2);
	g_assert_cmpstr(map.modules[1], ==, "/.reorder-hot/a b.ko");
	g_assert_cmpuint(map.extent_count, ==, 2);
	g_assert_cmpuint(map.extents[1].offset, ==, 104857600);
	g_assert_cmpuint(dmx_map_bytes(&map), ==, 10240);

	char *again = dmx_map_format(&map);
	g_assert_cmpstr(again, ==, text);
	free(again);
	dmx_map_clear(&map);
}

static void test_smallest(void)
{
	struct dmx_map map = {.id = {.uuid = "-", .size = 2048}}, read;
	char *text = dmx_map_format(&map);

	g_assert_nonnull(text);
	g_assert_cmpstr(dmx_map_parse(text, strlen(text), &read), ==, NULL);
	g_assert_cmpstr(read.id.volume_id, ==, "");
	g_assert_cmpstr(read.id.uuid, ==, "-");
	g_assert_cmpuint(read.extent_count + read.module_count, ==, 0);
	free(text);
	dmx_map_clear(&read);
}

static const struct {
	const char *from, *to, *reason;
	gboolean identified; /* nevertheless */
} faults[] = {
	{"map 1", "map 2", "not a hot map", FALSE},
	{"reorder", "\nreorder", "not a hot map", FALSE},
	{"volume-id", "volume_id", "volume-id", FALSE},
	{"\\134", "\\13", "volume-id", FALSE},
	{"\\134", "\\000", "volume-id", FALSE},
	{"\\134", "\\777", "volume-id", FALSE},
	{"\\040live", " live", "volume-id", FALSE},
	{"\\040live", "\\040a-name-of-more-than-32-bytes", "volume-id", FALSE},
	{"uuid 2026", "uuid 22026", "volume-uuid", FALSE},
	{"volume-uuid 2026-12-01-08-19-00-00", "volume-uuid ", "volume-uuid", FALSE},
	{"size 104859648", "size 0", "size", FALSE},
	{"size 104859648", "size 104859649", "size", FALSE},
	{"size 104859648", "size 0104859648", "size", FALSE},
	{"size 104859648", "size -104859648", "size", FALSE},
	{"size 104859648", "size 104859648 ", "size", FALSE},
	{"size 104859648", "size 18446744073709551616", "size", FALSE},
	{"size 104859648", "size 9223372036854775808", "size", FALSE},
	{"size 104859648", "size", "size", FALSE},
	{"size 104859648\n", "", "size", FALSE},
	{"patience 60", "patience 86401", "patience", TRUE},
	{"patience 60", "patience x", "patience", TRUE},
	{"module /lib", "module lib", "module's path", TRUE},
	{"module /lib/modules/6.1/dm-mod.ko", "module ", "module's path", TRUE},
	{"a\\040b", "a b", "module's path", TRUE},
	{"extent 32768", "extent  32768", "an extent is malformed", TRUE},
	{"32768 8192", "32768", "an extent is malformed", TRUE},
	{"32768 8192", "32768 8192 7:0", "an extent is malformed", TRUE},
	{"32768 8192", "32768 0x2000", "an extent is malformed", TRUE},
	{"32768 8192", "32768 9223372036854775808", "an extent is malformed", TRUE},
	{"32768 8192", "32768 0", "empty", TRUE},
	{"32768 8192", "32767 8192", "whole pages", TRUE},
	{"32768 8192", "32768 2048", "whole pages", TRUE},
	{"104857600 2048", "104849408 6144", "whole pages", TRUE},
	{"104857600 2048", "104857600 4096", "behind the volume", TRUE},
	{"104857600 2048", "104861696 4096", "behind the volume", TRUE},
	{"104857600 2048", "4096 9223372036854775807", "behind the volume", TRUE},
	{"104857600 2048", "40960 4096", "touch", TRUE},
	{"104857600 2048", "36864 4096", "overlap", TRUE},
	{"104857600 2048", "0 4096", "ascend", TRUE},
	{"extent 32768", "module /x\nextent 32768", NULL, TRUE},
	{"crc32", "module /x\ncrc32", "unknown or out of place", TRUE},
	{"crc32", "color red\ncrc32", "unknown or out of place", TRUE},
	{"crc32", "\ncrc32", "unknown or out of place", TRUE},
	{"crc32 @", "crc32 00000000", "checksum is wrong", TRUE},
	{"crc32 @", "crc32 ", "unknown or out of place", TRUE},
	{"crc32 @\n", "crc32 @\n\n", "text behind", TRUE},
	{"crc32 @\n", "crc32 @", "ends early", TRUE},
	{"crc32 @\n", "", "ends early", TRUE},
	{"patience 60\n", "patience 60\r\n", "patience", TRUE},
};

static void test_faults(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(faults); i++) {
		g_autofree char *text = changed(faults[i].from, faults[i].to);
		struct dmx_map map;
		const char *reason = dmx_map_parse(text, strlen(text), &map);

		g_test_message("%s: %s", faults[i].to, reason);
		if (!faults[i].reason) {
			g_assert_cmpstr(reason, ==, NULL);
		} else {
			g_assert_nonnull(reason);
			g_assert_nonnull(strstr(reason, faults[i].reason));
			g_assert_cmpuint(map.extent_count, ==, 0);
		}
		g_assert_cmpint(map.id.size > 0, ==, faults[i].identified);
		dmx_map_clear(&map);
	}
}

/* Wherever it breaks off, and whichever bit has turned. */
static void test_damage(void)
{
	g_autofree char *text = sealed(good);
	struct dmx_map map;

	for (gsize length = 0; length < strlen(text); length++) {
		g_autofree char *part = g_memdup2(text, length ? length : 1);
		g_assert_nonnull(dmx_map_parse(part, length, &map));
		dmx_map_clear(&map);
	}
	for (gsize bit = 0; bit < strlen(text) * 8; bit++) {
		g_autofree char *copy = g_strdup(text);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		g_assert_nonnull(dmx_map_parse(copy, strlen(text), &map));
		dmx_map_clear(&map);
	}
}

static char *long_map(const char *head, const char *tail, guint count)
{
	GString *text = g_string_new("reorder-livecd hot map 1\nvolume-id x\nvolume-uuid -\n"
				     "size 1073741824\npatience 1\n");

	for (guint i = 0; i < count; i++)
		g_string_append_printf(text, "%s%u%s\n", head, i * 8192, tail);
	g_string_append(text, "crc32 @\n");
	g_autofree char *unsealed = g_string_free(text, FALSE);
	return sealed(unsealed);
}

static void test_limits(void)
{
	static const struct {
		const char *head, *tail, *reason;
		guint count;
	} cases[] = {
		{"extent ", " 4096", NULL, DMX_MAP_EXTENTS_MAX},
		{"extent ", " 4096", "too many extents", DMX_MAP_EXTENTS_MAX + 1},
		{"module /", "", NULL, DMX_MAP_MODULES_MAX},
		{"module /", "", "too many modules", DMX_MAP_MODULES_MAX + 1},
		{"x ", "", "too long", 200000},
	};
	struct dmx_map map;

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = long_map(cases[i].head, cases[i].tail, cases[i].count);
		const char *reason = dmx_map_parse(text, strlen(text), &map);
		if (cases[i].reason)
			g_assert_nonnull(strstr(reason ? reason : "", cases[i].reason));
		else
			g_assert_cmpstr(reason, ==, NULL);
		dmx_map_clear(&map);
	}
}

static void test_writes_no_faults(void)
{
	struct dmx_extent odd = {1, 4096};
	struct dmx_map map = {
		.id = {.uuid = "-", .size = 4096 * 4}, .extents = &odd, .extent_count = 1};

	g_assert_null(dmx_map_format(&map));
	odd.offset = 4096;
	char *text = dmx_map_format(&map);
	g_assert_nonnull(text);
	free(text);
}

/* A descriptor as xorriso writes it. */
static void make_pvd(guint8 *pvd, const char *modified)
{
	memset(pvd, 0, DMX_PVD_SIZE);
	memcpy(pvd, "\1CD001\1", 7);
	memset(pvd + 40, ' ', 32);
	memcpy(pvd + 40, "d-live 12", 9);
	memcpy(pvd + 80, "\x00\x01\x02\x00", 4);
	memcpy(pvd + 128, "\x00\x08", 2);
	memcpy(pvd + 813, "2024010203040506", 16);
	memcpy(pvd + 830, modified, 16);
}

static void test_medium_id(void)
{
	guint8 pvd[DMX_PVD_SIZE];
	struct dmx_medium_id id, other;

	make_pvd(pvd, "2026120108190042");
	g_assert_true(dmx_medium_id_read(pvd, &id));
	g_assert_cmpstr(id.volume_id, ==, "d-live 12");
	g_assert_cmpstr(id.uuid, ==, "2026-12-01-08-19-00-42");
	g_assert_cmpuint(id.size, ==, UINT64_C(0x20100) * 2048);

	make_pvd(pvd, "0000000000000000");
	g_assert_true(dmx_medium_id_read(pvd, &other));
	g_assert_cmpstr(other.uuid, ==, "2024-01-02-03-04-05-06");
	g_assert_false(dmx_medium_id_equal(&id, &other));
	memset(pvd + 813, '0', 16);
	g_assert_true(dmx_medium_id_read(pvd, &other));
	g_assert_cmpstr(other.uuid, ==, "-");

	memset(pvd + 40, 'x', 32);
	g_assert_true(dmx_medium_id_read(pvd, &other));
	g_assert_cmpuint(strlen(other.volume_id), ==, 32);
	pvd[129] = 4;
	g_assert_false(dmx_medium_id_read(pvd, &other));
	make_pvd(pvd, "0000000000000000");
	pvd[0] = 2;
	g_assert_false(dmx_medium_id_read(pvd, &other));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/dm/map/reads", test_reads);
	g_test_add_func("/dm/map/smallest", test_smallest);
	g_test_add_func("/dm/map/faults", test_faults);
	g_test_add_func("/dm/map/damage", test_damage);
	g_test_add_func("/dm/map/limits", test_limits);
	g_test_add_func("/dm/map/writes-no-faults", test_writes_no_faults);
	g_test_add_func("/dm/map/medium-id", test_medium_id);
	return g_test_run();
}
