/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/volume_tree.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"

enum { METADATA = 16 * LI_SECTOR };

typedef struct {
	char *dir;
	int fd;
	guint8 *data; /* the whole ISO */
	gsize size;
} fixture;

static const char script[] =
	"set -e; export SOURCE_DATE_EPOCH=1600000000 LC_ALL=C.UTF-8\n"
	"mkdir -p t/a/b; n=$(printf 'n%.0s' $(seq 200)); echo one >t/a/file; echo two >t/a/$n; : >t/a/b/empty\n"
	"ln -s ../a//b/./$n/$n t/link; ln -s / t/root; mkfifo t/a/fifo; mknod t/a/null c 1 3 2>/dev/null || mkfifo t/a/null\n"
	"printf x >$'t/\\xff \\n'; chmod 4751 t/a/file; touch -d @1500000000 t/a/file\n"
	"xorriso -report_about SORRY -as mkisofs -quiet -R -J -joliet-long -o iso t -- -padding 0 -chown 70000 /a/file \\\n"
	" -- -hide iso_rr /a/b/empty -- 2>log\n";

static void set_up(fixture *f, gconstpointer data)
{
	const char *argv[] = {"bash", "-c", script, NULL};
	int status = -1;
	g_autofree char *path = NULL;

	(void)data;
	f->dir = g_dir_make_tmp("iso-volume-tree-XXXXXX", NULL);
	g_spawn_sync(f->dir, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
		&status, NULL);
	g_assert_cmpint(status, ==, 0);
	path = g_build_filename(f->dir, "iso", NULL);
	g_assert_true(g_file_get_contents(path, (char **)&f->data, &f->size, NULL));
	f->fd = open(path, O_RDWR | O_CLOEXEC);
}

static void tear_down(fixture *f, gconstpointer data)
{
	(void)data;
	close(f->fd);
	ro_remove_tree(f->dir, NULL);
	g_free(f->dir);
	g_free(f->data);
}

static void test_attributes(fixture *f, gconstpointer data)
{
	g_autoptr(li_tree) tree = li_tree_read(f->fd, LI_VD_PRIMARY, "iso", NULL);
	const li_node *file = li_tree_find(tree, "/a/file"), *link = li_tree_find(tree, "/link");
	g_autofree char *n = g_strnfill(200, 'n');
	g_autofree char *target = g_strdup_printf("../a//b/./%s/%s", n, n),
			*long_path = g_strconcat("/a/", n, NULL);
	char text[4];

	(void)data;
	g_assert_true(tree->rock_ridge);
	g_assert_cmpuint(file->mode, ==, S_IFREG | 04751);
	g_assert_cmpuint(file->uid, ==, 70000);
	g_assert_cmpint(file->times[LI_TIME_MODIFY], ==, 1500000000);
	g_assert_cmpstr(file->record_name, ==, "FILE.;1");
	g_assert_true(li_node_read(f->fd, file, 0, text, 4, NULL));
	g_assert_cmpmem(text, 4, "one\n", 4);
	g_assert_false(li_node_read(f->fd, file, 0, text, 5, NULL));
	g_assert_cmpstr(link->target, ==, target);
	g_assert_cmpstr(li_tree_find(tree, "/root")->target, ==, "/");
	g_assert_nonnull(li_tree_find(tree, long_path));
	g_assert_nonnull(li_tree_find(tree, "/\xff \n"));
	g_assert_true(S_ISFIFO(li_tree_find(tree, "/a/fifo")->mode));
	g_assert_null(li_tree_find(tree, "/a/b/empty"));
}

static void test_joliet(fixture *f, gconstpointer data)
{
	g_autoptr(li_tree) tree = li_tree_read(f->fd, LI_VD_JOLIET, "iso", NULL);

	(void)data;
	g_assert_false(tree->rock_ridge);
	g_assert_nonnull(li_tree_find(tree, "/a/b/empty"));
	g_assert_null(li_tree_find(tree, "/link"));
}

static void test_no_volume(fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_null(li_tree_read(f->fd, LI_VD_ENHANCED, "iso", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
}

static void expect_failure(fixture *f, gsize at, const void *bytes, gsize size, const char *part)
{
	g_autoptr(GError) error = NULL;

	g_assert_cmpint(pwrite(f->fd, bytes, size, (off_t)at), ==, size);
	g_assert_null(li_tree_read(f->fd, LI_VD_PRIMARY, "iso", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	if (!strstr(error->message, part))
		g_printerr("message: %s\n", error->message);
	g_assert_nonnull(strstr(error->message, part));
	g_assert_cmpint(pwrite(f->fd, f->data + at, size, (off_t)at), ==, size);
}

/* The first record of a name in the primary tree. */
static gsize record_of(const fixture *f, const char *name)
{
	const guint8 *found = memmem(f->data + METADATA, f->size - METADATA, name, strlen(name));

	g_assert_nonnull(found);
	return (gsize)(found - f->data) - 33;
}

static void test_broken_directories(fixture *f, gconstpointer data)
{
	gsize file = record_of(f, "FILE.;1");
	gsize b = file - file % LI_SECTOR; /* of directory a: its "." */
	guint32 root;

	(void)data;
	memcpy(&root, f->data + METADATA + 158, 4);
	g_assert_cmpuint(GUINT32_FROM_LE(root), >, 16);
	expect_failure(f, file, "\x05", 1, "broken directory record");
	expect_failure(f, file + 32, "\xf0", 1, "broken directory record");
	expect_failure(f, METADATA + 158, "\xff\xff\xff\x7f", 4, "end of the file");
	expect_failure(f, METADATA + 166, "\xff\xff\xff\x7f", 4, "too large");
	b += f->data[b]; /* ".." */
	b += f->data[b]; /* directory b */
	expect_failure(f, b + 2, &root, 4, "contain each other");
}

enum { DIRECTORY = 18 * LI_SECTOR, AREA = 21 * LI_SECTOR, RECORD = 64, RECORDS = 80 };

static void put_extent(guint8 *record, guint32 offset, guint32 size)
{
	const guint32 raw[2] = {GUINT32_TO_LE(offset / LI_SECTOR), GUINT32_TO_LE(size)};

	memcpy(record + 2, &raw[0], 4);
	memcpy(record + 10, &raw[1], 4);
}

/* A sector that every record of a directory continues in would be read again for each of them. */
static void test_shared_continuation(fixture *f, gconstpointer data)
{
	guint8 iso[22 * LI_SECTOR] = {0};
	guint8 *root = iso + METADATA + 156;

	(void)data;
	memcpy(iso + METADATA, "\1CD001\1", 7);
	memcpy(iso + METADATA + LI_SECTOR, "\377CD001\1", 7);
	memcpy(root, "\42", 1);
	put_extent(root, DIRECTORY, 3 * LI_SECTOR);
	for (guint i = 0; i < RECORDS; i++) {
		guint8 *record = iso + DIRECTORY + (gsize)i * RECORD;
		const guint32 area[] = {
			GUINT32_TO_LE(AREA / LI_SECTOR), 0, 0, 0, GUINT32_TO_LE(LI_SECTOR), 0};

		record[0] = RECORD;
		record[32] = 2;
		record[33] = (guint8)('a' + i / 26);
		record[34] = (guint8)('a' + i % 26);
		memcpy(record + 36, "CE\34\1", 4);
		memcpy(record + 40, area, sizeof(area));
	}
	g_assert_cmpint(ftruncate(f->fd, 0), ==, 0);
	g_assert_cmpint(pwrite(f->fd, iso, sizeof(iso), 0), ==, sizeof(iso));
	expect_failure(f, METADATA, "\1", 1, "continuation");
}

/* Whatever the bytes are, it ends soon and within bounds (which the sanitizers watch). */
static void test_random_damage(fixture *f, gconstpointer data)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(2);
	gsize end = MIN(f->size, (gsize)80 * LI_SECTOR);

	(void)data;
	for (guint round = 0; round < 2000; round++) {
		guint64 at[4];

		for (guint i = 0; i < G_N_ELEMENTS(at); i++) {
			guint8 byte = (guint8)g_rand_int_range(rand, 0, 256);

			at[i] = (guint64)g_rand_int_range(rand, METADATA, (gint32)end);
			g_assert_cmpint(pwrite(f->fd, &byte, 1, (off_t)at[i]), ==, 1);
		}
		for (guint kind = LI_VD_PRIMARY; kind <= LI_VD_ENHANCED; kind++)
			li_tree_free(li_tree_read(f->fd, kind, "iso", NULL));
		for (guint i = 0; i < G_N_ELEMENTS(at); i++)
			g_assert_cmpint(pwrite(f->fd, f->data + at[i], 1, (off_t)at[i]), ==, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *path;
		void (*test)(fixture *f, gconstpointer data);
	} tests[] = {
		{"/iso-volume-tree/attributes", test_attributes},
		{"/iso-volume-tree/joliet", test_joliet},
		{"/iso-volume-tree/no-volume", test_no_volume},
		{"/iso-volume-tree/broken-directories", test_broken_directories},
		{"/iso-volume-tree/shared-continuation", test_shared_continuation},
		{"/iso-volume-tree/random-damage", test_random_damage},
	};

	g_test_init(&argc, &argv, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
		g_test_add(tests[i].path, fixture, NULL, set_up, tests[i].test, tear_down);
	return g_test_run();
}
