/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <string.h>
#include <sys/stat.h>

#include "iso/rebuild_options.h"

static li_tree *tree_new(void)
{
	li_tree *tree = g_new0(li_tree, 1);

	tree->nodes = g_ptr_array_new();
	tree->by_path = g_hash_table_new(g_str_hash, g_str_equal);
	return tree;
}

/* sector 0: an empty file or a directory */
static void add(li_tree *tree, const char *path, const char *record_name, guint32 type,
	guint64 sector, guint64 size)
{
	li_node *node = g_new0(li_node, 1);
	li_extent extent = {sector * LI_SECTOR, size};

	node->path = g_strdup(path);
	node->record_name = g_strdup(record_name);
	node->mode = type | 0644;
	node->size = size;
	node->extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	if (size)
		g_array_append_val(node->extents, extent);
	g_ptr_array_add(tree->nodes, node);
	g_hash_table_insert(tree->by_path, node->path, node);
}

static void tree_drop(li_tree *tree)
{
	for (guint i = 0; i < tree->nodes->len; i++) {
		li_node *node = g_ptr_array_index(tree->nodes, i);

		g_free(node->path);
		g_free(node->record_name);
		g_array_unref(node->extents);
		g_free(node);
	}
	li_tree_free(tree);
}

static li_tree *tree_of_names(const char *directory, const char *file)
{
	li_tree *tree = tree_new();

	add(tree, "/", "", S_IFDIR, 0, 0);
	add(tree, "/d", directory, S_IFDIR, 0, 0);
	add(tree, "/d/f", file, S_IFREG, 100, 10);
	return tree;
}

static void assert_rules(
	const char *directory, const char *file, gboolean large, const char *wanted)
{
	li_tree *tree = tree_of_names(directory, file);
	g_autofree char *rules = li_rebuild_compliance(tree, NULL, FALSE, large);

	g_assert_cmpstr(rules, ==, wanted);
	tree_drop(tree);
}

static void test_plain_names(void)
{
	assert_rules("LIVE", "FILESYST.SQU;1", FALSE, "no_emul_toc:rec_mtime:iso_9660_level=1");
	assert_rules(
		"LIVE", "FILESYSTEM.SQUASHFS;1", FALSE, "no_emul_toc:rec_mtime:iso_9660_level=3");
	assert_rules("live", "VMLINUZ", FALSE,
		"no_emul_toc:rec_mtime:iso_9660_level=1:lowercase:omit_version:no_force_dots");
	assert_rules("A.B", "A-B.C;1", FALSE,
		"no_emul_toc:rec_mtime:iso_9660_level=1:7bit_ascii:allow_dir_id_ext");
	assert_rules("A\xe9", "A.B;1", FALSE, "no_emul_toc:rec_mtime:iso_9660_level=1:full_ascii");
	assert_rules("A", "A2345678901234567890123456789012.BCD;1", FALSE,
		"no_emul_toc:rec_mtime:iso_9660_level=3:long_names");
	assert_rules("A", "A234567890123456789012345678901234567890.B;1", FALSE,
		"no_emul_toc:rec_mtime:iso_9660_level=3:untranslated_names");
}

/* F9: levels 1 and 2 have no files of 4 GiB. */
static void test_large_files_need_level_3(void)
{
	assert_rules("LIVE", "FILESYST.SQU;1", TRUE, "no_emul_toc:rec_mtime:iso_9660_level=3");
}

static void assert_joliet_rules(const char *name, const char *wanted)
{
	li_tree *tree = tree_of_names("D", "F.;1"), *joliet = tree_of_names("d", name);
	g_autofree char *rules = li_rebuild_compliance(tree, joliet, TRUE, FALSE);
	g_autofree char *all = g_strconcat("no_emul_toc:rec_mtime:iso_9660_level=1", wanted, NULL);

	g_assert_cmpstr(rules, ==, all);
	tree_drop(tree);
	tree_drop(joliet);
}

static void test_joliet_names(void)
{
	g_autofree char *n64 = g_strnfill(64, 'n'), *n65 = g_strnfill(65, 'n');

	assert_joliet_rules("f", ":joliet_long_paths:iso_9660_1999");
	assert_joliet_rules("f;1", ":only_iso_version_off:joliet_long_paths:iso_9660_1999");
	assert_joliet_rules(n64, ":joliet_long_paths:iso_9660_1999");
	assert_joliet_rules(n65, ":joliet_long_names:joliet_long_paths:iso_9660_1999");
	/* a surrogate, as li_tree_read gives it */
	assert_joliet_rules("\xed\xa0\xbd", ":joliet_utf16:joliet_long_paths:iso_9660_1999");
}

static const char *charset(const char *path, const char *joliet_path)
{
	li_tree *tree = tree_new(), *joliet = tree_new();
	const char *found;

	add(tree, "/plain", "A", S_IFREG, 1, 1);
	add(tree, path, "B", S_IFREG, 2, 1);
	add(joliet, joliet_path, "b", S_IFREG, 2, 1);
	found = li_rebuild_charset(tree, joliet);
	tree_drop(tree);
	tree_drop(joliet);
	return found;
}

static void test_charset(void)
{
	g_assert_cmpstr(charset("/x", "/x"), ==, "UTF-8");
	g_assert_cmpstr(charset("/caf\xc3\xa9", "/caf\xc3\xa9"), ==, "UTF-8");
	g_assert_cmpstr(charset("/caf\xe9", "/caf\xc3\xa9"), ==, "ISO-8859-1");
	g_assert_cmpstr(charset("/caf\xc3\xa9", "/caf__"), ==, "ANSI_X3.4-1968");
}

static void test_padding(void)
{
	li_tree *tree = tree_new();
	g_autoptr(li_boot_report) report =
		li_boot_report_parse("MBR partition : 2 0x00 0xef 2000 400\n"
				     "MBR partition : 1 0x00 0xee 1 999999\n");
	g_autoptr(GArray) extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	li_extent extent = {100 * LI_SECTOR, 1};

	g_array_append_val(extents, extent);
	add(tree, "/x", "X", S_IFREG, 100, 1);
	/* the partition of 400 blocks ends at sector 600 */
	g_assert_cmpuint(li_rebuild_padding(tree, report, extents, 600 * LI_SECTOR, FALSE), ==, 0);
	g_assert_cmpuint(
		li_rebuild_padding(tree, report, extents, 601 * LI_SECTOR, FALSE), ==, LI_SECTOR);
	g_assert_cmpuint(li_rebuild_padding(tree, report, extents, 616 * LI_SECTOR, TRUE), ==, 0);
	g_assert_cmpuint(
		li_rebuild_padding(tree, report, extents, 617 * LI_SECTOR, TRUE), ==, LI_SECTOR);
	g_assert_cmpuint(
		li_rebuild_padding(tree, report, extents, 6000 * LI_SECTOR, TRUE), ==, 300 * 1024);
	/* or it lies behind the volume */
	g_assert_cmpuint(li_rebuild_padding(tree, report, extents, 111 * LI_SECTOR, FALSE), ==,
		10 * LI_SECTOR);
	tree_drop(tree);
}

static void test_order(void)
{
	li_tree *tree = tree_new();
	g_autoptr(GString) order = NULL, plain = NULL;

	add(tree, "/", "", S_IFDIR, 0, 0);
	add(tree, "/last", "A", S_IFREG, 90, 1);
	add(tree, "/cat", "B", S_IFREG, 30, 1);
	add(tree, "/fir st\n\"\xff", "C", S_IFREG, 20, 1);
	add(tree, "/empty", "D", S_IFREG, 20, 0);
	add(tree, "/mid", "E", S_IFREG, 40, 1);
	order = li_rebuild_order(tree, "/cat");
	g_assert_cmpstr(order->str, ==,
		"find \"/fir\\040st\\012\\042\\377\" -exec sort_weight 2000000000 --\n"
		"find \"/mid\" -exec sort_weight 900000000 --\n"
		"find \"/last\" -exec sort_weight 899999999 --\n");
	plain = li_rebuild_order(tree, NULL);
	g_assert_true(
		g_str_has_suffix(plain->str, "find \"/last\" -exec sort_weight 899999997 --\n"));
	tree_drop(tree);
}

static void test_what_joliet_does_not_have_is_hidden(void)
{
	li_tree *tree = tree_new(), *joliet = tree_new();
	g_autoptr(GString) commands = g_string_new(NULL);

	add(tree, "/", "", S_IFDIR, 0, 0);
	add(tree, "/rr_moved", "RR_MOVED", S_IFDIR, 0, 0);
	add(tree, "/link", "LINK", S_IFLNK, 0, 0);
	add(tree, "/a:b", "A_B", S_IFREG, 5, 1);
	add(tree, "/secret:x", "SECRET_X", S_IFREG, 6, 1);
	add(tree, "/d:d", "D_D", S_IFDIR, 0, 0);
	add(joliet, "/a_b", "a_b", S_IFREG, 5, 1);
	add(joliet, "/d_d", "d_d", S_IFDIR, 0, 0);
	li_rebuild_hide(commands, tree, joliet);
	g_assert_cmpstr(commands->str, ==,
		"hide joliet \"/rr_moved\" --\nhide joliet \"/secret\\072x\" --\n");
	tree_drop(tree);
	tree_drop(joliet);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/iso-rebuild-options/plain-names", test_plain_names);
	g_test_add_func(
		"/iso-rebuild-options/large-files-need-level-3", test_large_files_need_level_3);
	g_test_add_func("/iso-rebuild-options/joliet-names", test_joliet_names);
	g_test_add_func("/iso-rebuild-options/charset", test_charset);
	g_test_add_func("/iso-rebuild-options/padding", test_padding);
	g_test_add_func("/iso-rebuild-options/order", test_order);
	g_test_add_func("/iso-rebuild-options/what-joliet-does-not-have-is-hidden",
		test_what_joliet_does_not_have_is_hidden);
	return g_test_run();
}
