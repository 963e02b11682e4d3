/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/checksum_line.h"
#include "iso/checksums.h"
#include "reorder/util/error.h"

#define MD5 "0123456789abcdef0123456789ABCDEF"
#define SHA1 MD5 "01234567"
#define SHA256 MD5 MD5
#define SHA512 SHA256 SHA256

static void test_names_of_lists(void)
{
	static const char *const lists[] = {"/md5sum.txt", "/MD5SUMS", "/SHA256SUMS.txt",
		"/live/sha512sum.txt", "/arch/x86_64/airootfs.sha512", "/a/rootfs.sfs.md5",
		"/.treeinfo", "/CHECKSUMS", "/x.SHA256SUM"};
	static const char *const others[] = {"/md5sum.txt.gpg", "/live/filesystem.squashfs",
		"/sha256", "/md5sums/readme", "/md5sum.c32", "/x.md5/y"};

	for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
		g_assert_true(li_sums_is_list(lists[i]));
	for (guint i = 0; i < G_N_ELEMENTS(others); i++)
		g_assert_false(li_sums_is_list(others[i]));
}

static const struct {
	const char *list, *line, *name; /* name NULL: only a digest */
	guint offset, digits;
	gboolean supported;
} good[] = {
	{"/md5sum.txt", MD5 "  ./live/a b.squashfs", "./live/a b.squashfs", 0, 32, TRUE},
	{"/md5sum.txt", MD5 " *live/x\r", "live/x", 0, 32, TRUE},
	{"/md5sum.txt", MD5 "\tx", "x", 0, 32, TRUE},
	{"/SHA1SUMS", SHA1 "   *", "*", 0, 40, TRUE},
	{"/SHA256SUMS", "\\" SHA256 "  a\\nb\\\\c", "a\nb\\c", 1, 64, TRUE},
	{"/SHA256SUMS", SHA256 "  a\\nb", "a\\nb", 0, 64, TRUE},
	{"/SHA256SUMS", "SHA256 (a (1).iso) = " SHA256, "a (1).iso", 21, 64, TRUE},
	{"/SHA512SUMS", "SHA512(x)= " SHA512, "x", 11, 128, TRUE},
	{"/SHA512SUMS", "SHA2-512 (x) = " SHA512, "x", 15, 128, TRUE},
	{"/SHA512SUMS", "BLAKE2b (x) = " SHA512, "x", 14, 128, FALSE},
	{"/b2sums.txt", SHA512 "  x", "x", 0, 128, FALSE},
	{"/rootfs.sha224", "0123456789abcdef0123456789abcdef0123456789abcdef01234567  x", "x", 0,
		56, FALSE},
	{"/rootfs.sfs.md5", MD5, NULL, 0, 32, TRUE},
	{"/.treeinfo", "images/a.img = sha256:" SHA256, "images/a.img", 22, 64, TRUE},
	{"/CHECKSUMS", SHA256 "  -x", "-x", 0, 64, TRUE},
};

static void test_lines(void)
{
	for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
		li_sum_line sum;

		g_assert_true(li_sum_parse(good[i].line, strlen(good[i].line), good[i].list, &sum));
		g_assert_cmpstr(sum.name, ==, good[i].name);
		g_assert_cmpuint(sum.offset, ==, good[i].offset);
		g_assert_cmpuint(sum.digits, ==, good[i].digits);
		g_assert_cmpint(sum.supported, ==, good[i].supported);
		g_free(sum.name);
	}
}

static void test_lines_that_are_none(void)
{
	static const char *const bad[][2] = {
		{"/md5sum.txt", ""},
		{"/md5sum.txt", "# " MD5 "  x"},
		{"/md5sum.txt", MD5 "x"},
		{"/md5sum.txt", MD5 "0  x"},
		{"/md5sum.txt", "0123  x"},
		{"/md5sum.txt", "\\"},
		{"/md5sum.txt", "MD5 (x = " MD5},
		{"/md5sum.txt", "SHA256 (x) = " MD5},
		{"/md5sum.txt", "(x) = " MD5},
		{"/md5sum.txt", "MD5 (x) = " MD5 "  " MD5},
		{"/md5sum.txt", ")("},
		{"/.treeinfo", "timestamp = 1700000000.0"},
		{"/.treeinfo", "x = md5:" SHA256},
		{"/.treeinfo", "= sha256:" SHA256},
		{"/.treeinfo", "a:b = c"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
		li_sum_line sum;

		g_assert_false(li_sum_parse(bad[i][1], strlen(bad[i][1]), bad[i][0], &sum));
	}
	{
		li_sum_line sum;
		static const char with_zero[] = MD5 "  a\0b";

		g_assert_false(li_sum_parse(with_zero, sizeof(with_zero) - 1, "/md5sum.txt", &sum));
	}
}

/* A pretended ISO: files one after the other in a plain file. */
typedef struct {
	li_tree *tree;
	int fd;
	guint64 end;
} pretended;

static void pretended_open(pretended *p)
{
	char name[] = "/tmp/iso-checksums-XXXXXX";

	p->fd = g_mkstemp(name);
	g_assert_cmpint(p->fd, >=, 0);
	g_unlink(name);
	p->end = LI_SECTOR;
	p->tree = g_new0(li_tree, 1);
	p->tree->nodes = g_ptr_array_new();
	p->tree->by_path = g_hash_table_new(g_str_hash, g_str_equal);
}

static void put(pretended *p, const char *path, const char *content)
{
	li_node *node = g_new0(li_node, 1);
	li_extent extent = {p->end, strlen(content)};

	node->path = g_strdup(path);
	node->mode = S_IFREG | 0644;
	node->size = extent.length;
	node->extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	g_array_append_val(node->extents, extent);
	g_ptr_array_add(p->tree->nodes, node);
	g_hash_table_insert(p->tree->by_path, node->path, node);
	g_assert_cmpint(pwrite(p->fd, content, extent.length, (off_t)p->end), ==, extent.length);
	p->end += (extent.length / LI_SECTOR + 1) * LI_SECTOR;
}

static char *content(const pretended *p, const char *path)
{
	const li_node *node = li_tree_find(p->tree, path);
	char *text = g_malloc0(node->size + 1);

	g_assert_true(li_node_read(p->fd, node, 0, text, node->size, NULL));
	return text;
}

static void pretended_close(pretended *p)
{
	for (guint i = 0; i < p->tree->nodes->len; i++) {
		li_node *node = g_ptr_array_index(p->tree->nodes, i);

		g_free(node->path);
		g_array_unref(node->extents);
		g_free(node);
	}
	li_tree_free(p->tree);
	close(p->fd);
}

static char *md5_line(const char *text, const char *name)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_MD5, text, -1);

	return g_strdup_printf("%s  %s\n", sum, name);
}

static li_write_result update(const pretended *a, const pretended *b, const char *changed_path)
{
	g_autoptr(GHashTable) changed =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(li_overlay) b_iso = li_overlay_new(b->fd, G_MAXINT64);
	li_write_result result = {0};
	g_autoptr(GError) error = NULL;

	g_hash_table_add(changed, g_strdup(changed_path));
	li_sums_update(a->fd, a->tree, b_iso, b->tree, changed, &result, NULL, &error);
	g_assert_no_error(error);
	g_assert_true(li_overlay_write(b_iso, b->fd, "new ISO", NULL));
	return result;
}

/* c.md5 lists b.md5, which lists a.md5, which lists the file; they are found in the wrong order. */
static void test_lists_of_lists(void)
{
	pretended a, b;
	li_write_result result;
	g_autofree char *a_old = md5_line("old", "x"), *b_old = md5_line(a_old, "a.md5"),
			*c_old = md5_line(b_old, "b.md5");
	g_autofree char *a_new = md5_line("new!", "x"), *b_new = md5_line(a_new, "a.md5"),
			*c_new = md5_line(b_new, "b.md5");
	g_autofree char *got = NULL;

	pretended_open(&a);
	pretended_open(&b);
	for (pretended *p = &a; p; p = p == &a ? &b : NULL) {
		put(p, "/c.md5", c_old);
		put(p, "/b.md5", b_old);
		put(p, "/x", p == &a ? "old" : "new!");
		put(p, "/a.md5", a_old);
	}
	result = update(&a, &b, "/x");
	g_assert_cmpuint(result.lists, ==, 3);
	g_assert_cmpuint(result.lines_updated, ==, 3);
	g_assert_cmpuint(result.lines_left_wrong, ==, 0);
	got = content(&b, "/c.md5");
	g_assert_cmpstr(got, ==, c_new);
	pretended_close(&a);
	pretended_close(&b);
}

static void test_lists_that_list_each_other_end(void)
{
	pretended a, b;
	li_write_result result;
	g_autofree char *right = md5_line("old", "x"), *wrong = md5_line("?", "b.md5"),
			*back = md5_line("?", "a.md5");
	g_autofree char *a_text = g_strconcat(right, wrong, NULL);

	pretended_open(&a);
	pretended_open(&b);
	for (pretended *p = &a; p; p = p == &a ? &b : NULL) {
		put(p, "/a.md5", a_text);
		put(p, "/b.md5", back);
		put(p, "/x", p == &a ? "old" : "new!");
	}
	result = update(&a, &b, "/x");
	g_assert_cmpuint(result.lines_updated, ==, 1);
	g_assert_cmpuint(result.lines_left_wrong, ==, 1); /* of a.md5 in b.md5 */
	pretended_close(&a);
	pretended_close(&b);
}

/* Where a name could be of two files, the one beside the list counts; ".." leads nowhere outside.
 */
static void test_which_file_a_name_means(void)
{
	pretended a, b;
	li_write_result result;
	g_autofree char *first = md5_line("old", "x"), *second = md5_line("old", "/live/x");
	g_autofree char *third = md5_line("old", "../../../live/x"), *fourth = md5_line("old", "y"),
			*digest = NULL;
	g_autofree char *text = g_strconcat(first, second, third, fourth, NULL);

	digest = g_strndup(first, 32);
	pretended_open(&a);
	pretended_open(&b);
	for (pretended *p = &a; p; p = p == &a ? &b : NULL) {
		put(p, "/x", "other");
		put(p, "/live/x", p == &a ? "old" : "new!");
		put(p, "/live/md5sum.txt", text);
		put(p, "/live/x.md5", digest);
	}
	result = update(&a, &b, "/live/x");
	g_assert_cmpuint(result.lists, ==, 2);
	g_assert_cmpuint(result.lines_updated, ==, 4);
	pretended_close(&a);
	pretended_close(&b);
}

/* Of millions of components; it means no file, but has to be looked at. */
static void test_a_name_without_end(void)
{
	pretended p;
	GString *name = g_string_new(NULL);
	g_autofree char *line = NULL;

	for (guint i = 0; i < 4000000; i++)
		g_string_append(name, "./");
	g_string_append(name, "x");
	line = md5_line("x", name->str);
	pretended_open(&p);
	put(&p, "/x", "x");
	put(&p, "/md5sum.txt", line);
	g_assert_true(li_sums_check(p.fd, p.tree, "/x", NULL));
	pretended_close(&p);
	g_string_free(name, TRUE);
}

static void test_what_cannot_be_renewed_is_said(void)
{
	pretended a, b;
	li_write_result result;
	guint warnings = ro_warning_count();

	pretended_open(&a);
	pretended_open(&b);
	for (pretended *p = &a; p; p = p == &a ? &b : NULL) {
		put(p, "/x", p == &a ? "old" : "new!");
		put(p, "/b2sums", SHA512 "  x\n");
	}
	result = update(&a, &b, "/x");
	g_assert_cmpuint(result.lines_updated, ==, 0);
	g_assert_cmpuint(result.lines_left_wrong, ==, 1);
	g_assert_cmpuint(ro_warning_count(), ==, warnings + 1);
	pretended_close(&a);
	pretended_close(&b);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/iso-checksums/names-of-lists", test_names_of_lists);
	g_test_add_func("/iso-checksums/lines", test_lines);
	g_test_add_func("/iso-checksums/lines-that-are-none", test_lines_that_are_none);
	g_test_add_func("/iso-checksums/lists-of-lists", test_lists_of_lists);
	g_test_add_func("/iso-checksums/lists-that-list-each-other-end",
		test_lists_that_list_each_other_end);
	g_test_add_func("/iso-checksums/which-file-a-name-means", test_which_file_a_name_means);
	g_test_add_func("/iso-checksums/a-name-without-end", test_a_name_without_end);
	g_test_add_func("/iso-checksums/what-cannot-be-renewed-is-said",
		test_what_cannot_be_renewed_is_said);
	return g_test_run();
}
