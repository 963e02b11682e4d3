/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/initrd_members.h"

#include "iso/compression.h"
#include "tests/unit/iso-fixture.h"
#include "reorder/util/error.h"

/* Three files of 1, 5,000 and 100,000 bytes, packed in every way. */
static const char script[] =
	"mkdir -p a/sub\n"
	"printf x >a/one; yes line | head -c 5000 >a/sub/two; yes other | head -c 100000 >a/three\n"
	"(cd a && find . -mindepth 1 | sort | cpio --quiet -o -H newc >../none)\n"
	"gzip -k <none >gzip; bzip2 <none >bzip2; xz --check=crc32 <none >xz; zstd -q <none >zstd\n"
	"xz --format=lzma <none >lzma; lz4 -q -l <none >lz4; lzop -q <none >lzo\n";

static char *dir;

static GByteArray *load(const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	char *data;
	gsize size;

	g_assert_true(g_file_get_contents(path, &data, &size, NULL));
	return g_byte_array_new_take((guint8 *)data, size);
}

static gboolean wants(const li_member *member, gpointer user)
{
	(void)user;
	return g_str_has_prefix(member->path, "sub/");
}

static gboolean take(const li_member *member, gpointer user)
{
	g_string_append_printf(user, "%u:%s:%u%s ", member->segment, member->path, member->size,
		member->data && memcmp(member->data, "line\nline\n", 10) == 0 ? "+" : "");
	return TRUE;
}

static char *walk(const GByteArray *bytes, guint first, gsize limit, GError **error)
{
	g_autoptr(GArray) segments = li_initrd_segments(bytes->data, bytes->len, error);
	GString *text = g_string_new(NULL);
	li_member_visitor visitor = {wants, take, text, limit};

	if (segments && li_initrd_visit(bytes->data, segments, first, &visitor, error))
		return g_string_free(text, FALSE);
	g_string_free(text, TRUE);
	return NULL;
}

static void test_every_compression(gconstpointer name)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = load(name);
	g_autofree char *text = walk(bytes, 0, 1 << 20, &error);

	g_assert_no_error(error);
	g_assert_cmpstr(text, ==, "0:one:1 0:sub:0 0:sub/two:5000+ 0:three:100000 ");
}

static void test_segments(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = load("none"), second = load("xz");
	g_autofree char *all = NULL, *last = NULL;

	g_byte_array_append(bytes, second->data, second->len);
	all = walk(bytes, 0, 1 << 20, &error);
	last = walk(bytes, 1, 100, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(all, ==,
		"0:one:1 0:sub:0 0:sub/two:5000+ 0:three:100000 "
		"1:one:1 1:sub:0 1:sub/two:5000+ 1:three:100000 ");
	/* Larger than the limit: without its data. */
	g_assert_cmpstr(last, ==, "1:one:1 1:sub:0 1:sub/two:5000 1:three:100000 ");
}

static void test_no_archive(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = NULL;

	fixture_script(dir, "yes no archive | head -c 3000 | gzip >text.gz");
	bytes = load("text.gz");
	g_assert_null(walk(bytes, 0, 100, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_nonnull(strstr(error->message, "broken cpio archive or none"));
}

static void test_cut_off(void)
{
	static const char *const sizes[] = {"1000", "60000"}; /* in data that are wanted, and not */

	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *cut =
			g_strdup_printf("head -c %s none | zstd -q -f >cut.zst", sizes[i]);

		fixture_script(dir, cut);
		g_autoptr(GByteArray) bytes = load("cut.zst");
		g_assert_null(walk(bytes, 0, 1 << 20, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	}
}

static void test_unpack_limit(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) packed = load("zstd"), plain = load("none");
	g_autoptr(GBytes) whole = li_unpack_all(packed->data, packed->len, plain->len, &error);

	g_assert_no_error(error);
	g_assert_cmpmem(
		g_bytes_get_data(whole, NULL), g_bytes_get_size(whole), plain->data, plain->len);
	g_assert_null(li_unpack_all(packed->data, packed->len, plain->len - 1, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
}

static void test_damaged(gconstpointer name)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = load(name);

	g_assert_null(li_unpack_all(bytes->data, bytes->len / 2, 1 << 20, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"none", "gzip", "bzip2", "xz", "lzma", "zstd", "lz4", "lzo"};

	g_test_init(&argc, &argv, NULL);
	dir = fixture_dir();
	fixture_script(dir, script);
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *walked = g_strconcat("/members/", names[i], NULL);
		g_autofree char *damaged = g_strconcat("/damaged/", names[i], NULL);

		g_test_add_data_func(walked, names[i], test_every_compression);
		if (i > 0)
			g_test_add_data_func(damaged, names[i], test_damaged);
	}
	g_test_add_func("/members/segments", test_segments);
	g_test_add_func("/members/no-archive", test_no_archive);
	g_test_add_func("/members/cut-off", test_cut_off);
	g_test_add_func("/unpack/limit", test_unpack_limit);

	int status = g_test_run();
	fixture_remove(dir);
	return status;
}
