/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "iso/gpt.h"

enum { ENTRIES_SIZE = 128 * 128 };

static void put(guint8 *at, guint64 value, gsize size)
{
	value = GUINT64_TO_LE(value);
	memcpy(at, &value, size);
}

static void resum_header(guint8 *disk)
{
	put(disk + 512 + 16, 0, 4);
	put(disk + 512 + 16, crc32(0, disk + 512, 92), 4);
}

static void resum(guint8 *disk)
{
	put(disk + 512 + 88, crc32(0, disk + 1024, ENTRIES_SIZE), 4);
	resum_header(disk);
}

/* A table with two partitions; the header at block 1. */
static void make(guint8 *disk, guint8 guid)
{
	guint8 *header = disk + 512, *entries = disk + 1024;

	memset(disk, 0, 1024 + ENTRIES_SIZE);
	memcpy(header, "EFI PART\0\0\1", 12);
	put(header + 12, 92, 4);
	put(header + 24, 1, 8);
	put(header + 32, 2000, 8);
	memset(header + 56, guid, 16);
	put(header + 72, 2, 8);
	put(header + 80, 128, 4);
	put(header + 84, 128, 4);
	memset(entries, 0xaa, 16);
	memset(entries + 16, guid + 1, 16);
	memset(entries + 128, 0xbb, 16);
	memset(entries + 144, guid + 2, 16);
	memset(entries + 48, guid + 3, 80);
	resum(disk);
}

/* Both partitions get a type of such bytes. */
static void fill_types(guint8 *disk, guint8 first, guint8 second)
{
	memset(disk + 1024, first, 16);
	memset(disk + 1024 + 128, second, 16);
	resum(disk);
}

static int disk_file(const guint8 *disk)
{
	char name[] = "/tmp/iso-gpt-XXXXXX";
	int fd = g_mkstemp(name);

	g_unlink(name);
	g_assert_cmpint(pwrite(fd, disk, 1024 + ENTRIES_SIZE, 0), ==, 1024 + ENTRIES_SIZE);
	return fd;
}

static void test_guids_of_another_table(void)
{
	guint8 disk[1024 + ENTRIES_SIZE], wanted[1024 + ENTRIES_SIZE], got[1024 + ENTRIES_SIZE];
	g_auto(li_gpt) from = {0}, gpt = {0};
	int a, b;

	make(wanted, 7);
	make(disk, 50);
	a = disk_file(wanted);
	b = disk_file(disk);
	g_assert_true(li_gpt_read(a, 512, &from));
	g_assert_true(li_gpt_read(b, 512, &gpt));
	g_assert_cmpuint(gpt.backup, ==, 2000 * 512);
	g_assert_true(li_gpt_copy_ids(&gpt, &from));
	g_assert_false(li_gpt_copy_ids(&gpt, &from));
	g_assert_true(li_gpt_write(b, &gpt, NULL));
	g_assert_cmpint(pread(b, got, sizeof(got), 0), ==, sizeof(got));
	g_assert_cmpmem(got, sizeof(got), wanted, sizeof(wanted));
	close(a);
	close(b);
}

static void test_only_of_partitions_of_the_same_type(void)
{
	guint8 disk[1024 + ENTRIES_SIZE];
	g_auto(li_gpt) from = {0}, gpt = {0};
	int a, b;

	make(disk, 7);
	a = disk_file(disk);
	make(disk, 50);
	b = disk_file(disk);
	g_assert_true(li_gpt_read(a, 512, &from));
	g_assert_true(li_gpt_read(b, 512, &gpt));
	memset(from.entries, 0xcc, 16);
	g_assert_true(li_gpt_copy_ids(&gpt, &from));
	g_assert_cmpuint(gpt.entries[16], ==, 51);
	g_assert_cmpuint(gpt.entries[144], ==, 9);
	close(a);
	close(b);
}

/* What a partition is for is no business of ours; an entry of type zero is free. */
static void test_unknown_types(void)
{
	guint8 disk[1024 + ENTRIES_SIZE];
	g_auto(li_gpt) from = {0}, gpt = {0};
	int a, b;

	make(disk, 7);
	fill_types(disk, 0, 0xff);
	a = disk_file(disk);
	make(disk, 50);
	fill_types(disk, 0, 0xff);
	b = disk_file(disk);
	g_assert_true(li_gpt_read(a, 512, &from));
	g_assert_true(li_gpt_read(b, 512, &gpt));
	g_assert_true(li_gpt_copy_ids(&gpt, &from));
	g_assert_true(li_gpt_write(b, &gpt, NULL));
	li_gpt_clear(&gpt);
	g_assert_true(li_gpt_read(b, 512, &gpt));
	g_assert_cmpmem(gpt.entries, ENTRIES_SIZE, from.entries, ENTRIES_SIZE);
	close(a);
	close(b);
}

static void assert_not_read(guint8 *disk, const char *why)
{
	int fd = disk_file(disk);
	g_auto(li_gpt) gpt = {0};

	if (li_gpt_read(fd, 512, &gpt))
		g_error("read although %s", why);
	close(fd);
}

static void test_broken_tables(void)
{
	static const struct {
		guint at, size;
		guint64 value;
		const char *why;
	} cases[] = {
		{0, 1, 'X', "it has no signature"},
		{12, 4, 0, "its header has no size"},
		{12, 4, 513, "its header is larger than a block"},
		{72, 8, G_MAXUINT64, "its entries lie nowhere"},
		{72, 8, 1 << 20, "its entries lie behind the end"},
		{80, 4, 0, "there are no entries"},
		{80, 4, G_MAXUINT32, "there are too many entries"},
		{84, 4, 0, "its entries have no size"},
		{84, 4, G_MAXUINT32, "its entries are huge"},
		{32, 8, G_MAXUINT64, "its backup lies nowhere"},
		{88, 4, 1, "the CRC of its entries is wrong"},
	};
	guint8 disk[1024 + ENTRIES_SIZE];

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		make(disk, 7);
		put(disk + 512 + cases[i].at, cases[i].value, cases[i].size);
		resum_header(disk);
		assert_not_read(disk, cases[i].why);
	}
	make(disk, 7);
	disk[512 + 60] ^= 1;
	assert_not_read(disk, "the CRC of its header is wrong");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/iso-gpt/guids-of-another-table", test_guids_of_another_table);
	g_test_add_func("/iso-gpt/only-of-partitions-of-the-same-type",
		test_only_of_partitions_of_the_same_type);
	g_test_add_func("/iso-gpt/unknown-types", test_unknown_types);
	g_test_add_func("/iso-gpt/broken-tables", test_broken_tables);
	return g_test_run();
}
