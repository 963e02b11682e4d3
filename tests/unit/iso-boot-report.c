/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <string.h>

#include "iso/boot_report.h"
#include "reorder/util/error.h"

/* As xorriso 1.5.4 prints them. */
static const char ubuntu[] =
	"El Torito catalog  : 70  1\n"
	"El Torito cat path : /boot.catalog\n"
	"El Torito images   :   N  Pltf  B   Emul  Ld_seg  Hdpt  Ldsiz         LBA\n"
	"El Torito boot img :   1  BIOS  y   none  0x0000  0x00      4          71\n"
	"El Torito boot img :   2  UEFI  y   none  0x0000  0x00   2880        1955\n"
	"El Torito img path :   1  /boot/grub/i386-pc/el torito.img\n"
	"El Torito img opts :   1  boot-info-table grub2-boot-info\n"
	"El Torito img blks :   2  720\n"
	"System area options: 0x00004201\n"
	"System area summary: MBR protective-msdos-label grub2-mbr cyl-align-off GPT\n"
	"ISO image size/512 : 11364\n"
	"Partition offset   : 16\n"
	"MBR heads per cyl  : 64\n"
	"MBR secs per head  : 32\n"
	"MBR partition table:   N Status  Type        Start       Blocks\n"
	"MBR partition      :   1   0x00  0xee            1        11363\n"
	"MBR partition      :   2   0x80  0x00            0            1\n"
	"GPT                :   N  Info\n"
	"GPT disk GUID      :      3230323430313041b030303030303030\n"
	"GPT entry array    :      2  248  separated\n"
	"GPT lba range      :      64  11300  11363\n"
	"GPT partname local :   1  ISO9660\n"
	"GPT start and size :   1  64  7756\n"
	"GPT partname local :   2  Appended2\n"
	"GPT start and size :   2  7820  2880\n"
	"GPT partname local :   3  Gap1\n"
	"GPT type GUID      :   3  a2a0d0ebe5b9334487c068b6b72699c7\n"
	"GPT start and size :   3  10700  600\n"
	"APM                :   N  Info\n"
	"APM block size     :      2048\n"
	"APM gap fillers    :      0\n"
	"APM partition name :   1  EFI\n"
	"APM start and size :   1  34  720\n";

static GArray *one_extent(guint64 offset)
{
	GArray *extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	li_extent extent = {offset, 4096};

	g_array_append_val(extents, extent);
	return extents;
}

static void test_what_is_in_it(void)
{
	g_autoptr(li_boot_report) report = li_boot_report_parse(ubuntu);
	const li_boot_report_image *first = g_ptr_array_index(report->images, 0);
	const li_boot_report_image *second = g_ptr_array_index(report->images, 1);
	const li_boot_report_partition *p =
		(const li_boot_report_partition *)report->partitions->data;

	g_assert_cmpuint(report->images->len, ==, 2);
	g_assert_cmpuint(first->offset, ==, 71 * 2048);
	g_assert_cmpstr(first->path, ==, "/boot/grub/i386-pc/el torito.img");
	g_assert_true(first->info_table && first->grub2_info);
	g_assert_null(second->path);
	g_assert_cmpuint(second->size, ==, 720 * 2048);
	g_assert_false(second->info_table);
	g_assert_cmpstr(report->catalog, ==, "/boot.catalog");
	g_assert_cmpuint(report->partition_offset, ==, 32768);
	g_assert_false(report->cylinder_aligned);
	g_assert_cmpuint(report->partitions->len, ==, 6);
	g_assert_cmpuint(p[3].offset, ==, 7820 * 512);
	g_assert_false(p[3].gap);
	g_assert_true(p[4].gap);
	g_assert_cmpuint(p[5].offset, ==, 34 * 2048);
	g_assert_cmpuint(p[5].size, ==, 720 * 2048);
}

static char *replaced(const char *what, const char *with)
{
	g_auto(GStrv) parts = g_strsplit(ubuntu, what, 2);

	g_assert_nonnull(parts[1]);
	return g_strjoinv(with, parts);
}

/* The image lies in GPT partition 1, at sector 5000. */
static gboolean same_with(const char *what, const char *with)
{
	g_autofree char *text = replaced(what, with);
	g_autoptr(li_boot_report) a = li_boot_report_parse(ubuntu), b = li_boot_report_parse(text);
	g_autoptr(GArray) old_extents = one_extent(5000 * 512),
			  new_extents = one_extent(5200 * 512);
	g_autoptr(GError) error = NULL;
	gboolean same = li_boot_report_same(a, old_extents, b, new_extents, &error);

	if (!same)
		g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	return same;
}

static void test_addresses_and_fillers_may_change(void)
{
	g_assert_true(same_with("catalog  : 70", "catalog  : 170"));
	g_assert_true(same_with("4          71", "4         171"));
	g_assert_true(same_with("size/512 : 11364", "size/512 : 22"));
	g_assert_true(
		same_with("0xee            1        11363", "0xee            1        21363"));
	g_assert_true(same_with("1  64  7756", "1  64  9756"));
	g_assert_true(same_with("2  7820  2880", "2  9820  2880"));
	g_assert_true(same_with("3  10700  600", "3  12700  6"));
	g_assert_true(same_with("GPT partname local :   3  Gap1\n"
				"GPT type GUID      :   3  a2a0d0ebe5b9334487c068b6b72699c7\n"
				"GPT start and size :   3  10700  600\n",
		""));
	g_assert_true(same_with("1  34  720", "1  44  720"));
}

static void test_nothing_else_may(void)
{
	static const char *const changes[][2] = {
		{"70  1\n", "70  2\n"},
		{"img :   1  BIOS", "img :   1  UEFI"},
		{"BIOS  y", "BIOS  n"},
		{"2880        1955", "2884        1955"},
		{"img blks :   2  720", "img blks :   2  721"},
		{" grub2-boot-info", ""},
		{"boot-info-table ", ""},
		{"/boot.catalog", "/boot.cat"},
		{"0x00004201", "0x00000201"},
		{"Partition offset   : 16", "Partition offset   : 0"},
		{"0x00  0xee", "0x80  0xee"},
		{"0xee            1", "0xef            1"},
		{"3041b030", "3041b031"},
		{"Appended2", "Appended3"},
		{"2  7820  2880", "2  7820  2881"},
		{"1  64  7756", "1  64  100"}, /* no longer holds the image */
		{"GPT partname local :   2  Appended2\nGPT start and size :   2  7820  2880\n", ""},
		{"1  34  720", "1  34  721"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
		if (same_with(changes[i][0], changes[i][1]))
			g_printerr("taken for the same: %s\n", changes[i][1]);
		g_assert_false(same_with(changes[i][0], changes[i][1]));
	}
}

static void test_an_added_line_is_a_difference(void)
{
	g_autofree char *more = g_strconcat(ubuntu, "GPT backup problems: something\n", NULL);
	g_autoptr(li_boot_report) a = li_boot_report_parse(ubuntu), b = li_boot_report_parse(more);
	g_autoptr(GArray) extents = one_extent(5000 * 512);

	g_assert_false(li_boot_report_same(a, extents, b, extents, NULL));
}

static void test_rubbish(void)
{
	static const char *const texts[] = {"", "\n\n", ":",
		"El Torito boot img :", "El Torito img path : 7", "MBR partition : x y",
		"APM block size : -1\nAPM start and size : 1 2 99999999999999999999",
		"GPT start and size : 4294967296 18446744073709551615 18446744073709551615"};

	for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(li_boot_report) report = li_boot_report_parse(texts[i]);
		g_autoptr(GArray) extents = one_extent(0);

		g_assert_true(li_boot_report_same(report, extents, report, extents, NULL));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/iso-boot-report/what-is-in-it", test_what_is_in_it);
	g_test_add_func("/iso-boot-report/addresses-and-fillers-may-change",
		test_addresses_and_fillers_may_change);
	g_test_add_func("/iso-boot-report/nothing-else-may", test_nothing_else_may);
	g_test_add_func("/iso-boot-report/an-added-line-is-a-difference",
		test_an_added_line_is_a_difference);
	g_test_add_func("/iso-boot-report/rubbish", test_rubbish);
	return g_test_run();
}
