/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the patch writer: what will be, where there is room, how it is undone. */
#include <fcntl.h>

#include "iso/journal.h"
#include "iso/place.h"
#include "iso/writer_patch.h"
#include "reorder/util/error.h"
#include "tests/unit/iso-fixture.h"

static int memory(const char *text)
{
	int fd = memfd_create("iso", MFD_CLOEXEC);

	g_assert_cmpint(pwrite(fd, text, strlen(text), 0), ==, (gssize)strlen(text));
	return fd;
}

static void assert_reads(const li_overlay *overlay, guint64 offset, gsize size, const char *wanted)
{
	g_autofree char *text = g_malloc0(size + 1);

	g_assert_true(li_overlay_read(overlay, offset, text, size, NULL));
	g_assert_cmpmem(text, size, wanted, size);
}

/* --- overlay --- */

static void test_overlay_reads(void)
{
	int fd = memory("0123456789"), content = memory("AB");
	g_autoptr(li_overlay) overlay = li_overlay_new(fd, 10);

	assert_reads(overlay, 0, 10, "0123456789");
	g_assert_true(li_overlay_put(overlay, 7, "xy", 2, NULL));
	g_assert_true(li_overlay_put_file(overlay, 1, 4, content, 2, NULL));
	g_assert_true(li_overlay_put(overlay, 5, "z", 1, NULL));
	assert_reads(overlay, 0, 10, "0AB\0\0z6xy9");
	for (guint64 at = 0; at < 10; at++)
		for (gsize size = 0; at + size <= 10; size++)
			assert_reads(overlay, at, size, &"0AB\0\0z6xy9"[at]);
	g_assert_true(li_overlay_write(overlay, fd, "iso", NULL));
	close(content);
	g_array_set_size(overlay->changes, 0);
	assert_reads(overlay, 0, 10, "0AB\0\0z6xy9");
	close(fd);
}

static void test_overlay_overlaps(void)
{
	static const struct {
		guint64 offset;
		gsize size;
		gboolean fits;
	} puts[] = {{3, 3, TRUE}, {0, 4, FALSE}, {2, 2, FALSE}, {4, 1, FALSE}, {5, 2, FALSE},
		{0, 3, TRUE}, {6, 4, TRUE}, {9, 2, FALSE}, {10, 1, FALSE}, {11, 1, FALSE},
		{G_MAXUINT64, 1, FALSE}};
	int fd = memory("0123456789");
	g_autoptr(li_overlay) overlay = li_overlay_new(fd, 10);

	for (guint i = 0; i < G_N_ELEMENTS(puts); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_cmpint(
			li_overlay_put(overlay, puts[i].offset, "xxxx", puts[i].size, &error), ==,
			puts[i].fits);
		if (!puts[i].fits)
			g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	}
	g_assert_cmpuint(overlay->changes->len, ==, 3);
	close(fd);
}

static void test_overlay_compares(void)
{
	int fd = memory("0123456789"), other = memory("0123xx6789");
	g_autoptr(li_overlay) overlay = li_overlay_new(fd, 10);

	g_assert_false(li_overlay_compare(overlay, other, "iso", FALSE, NULL));
	g_assert_true(li_overlay_compare(overlay, other, "iso", TRUE, NULL));
	g_assert_true(li_overlay_put(overlay, 4, "xx", 2, NULL));
	g_assert_true(li_overlay_compare(overlay, other, "iso", FALSE, NULL));
	g_assert_true(li_overlay_put(overlay, 6, "x", 1, NULL));
	g_assert_false(li_overlay_compare(overlay, other, "iso", TRUE, NULL));
	close(other);
	close(fd);
}

/* --- journal --- */

typedef struct {
	char *dir, *path;
	int fd;
} scratch;

static void scratch_open(scratch *s, gconstpointer data)
{
	(void)data;
	s->dir = fixture_dir();
	s->path = g_build_filename(s->dir, "x.iso", NULL);
	g_assert_true(g_file_set_contents(s->path, "0123456789", -1, NULL));
	s->fd = open(s->path, O_RDWR | O_CLOEXEC);
}

static void scratch_close(scratch *s, gconstpointer data)
{
	(void)data;
	close(s->fd);
	g_free(s->path);
	fixture_remove(s->dir);
}

/* A journal for a change of 2-4 and 7. */
static void write_journal(const scratch *s)
{
	g_autoptr(li_overlay) overlay = li_overlay_new(s->fd, 10);
	g_autoptr(GError) error = NULL;

	g_assert_true(li_overlay_put(overlay, 2, "abc", 3, NULL));
	g_assert_true(li_overlay_put(overlay, 7, "d", 1, NULL));
	li_journal_write(s->path, overlay, &error);
	g_assert_no_error(error);
}

static void assert_content(const scratch *s, const char *wanted)
{
	g_autofree char *text = NULL;

	g_assert_true(g_file_get_contents(s->path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, wanted);
}

static void set_content(const scratch *s, const char *text)
{
	g_assert_cmpint(pwrite(s->fd, text, strlen(text), 0), ==, (gssize)strlen(text));
}

/* Nothing of it, some of it, all of it was written. */
static void test_journal_undoes(scratch *s, gconstpointer data)
{
	static const char *const states[] = {
		"0123456789", "01a3456789", "01abc56789", "01ab4567X9", "01abc56d89"};

	(void)data;
	for (guint i = 0; i < G_N_ELEMENTS(states); i++) {
		g_autoptr(GError) error = NULL;
		gboolean undone = FALSE;

		set_content(s, "0123456789");
		write_journal(s);
		g_assert_true(li_journal_exists(s->path));
		set_content(s, i == 3 ? "01ab456d89" : states[i]);
		li_recover(s->path, &undone, &error);
		g_assert_no_error(error);
		g_assert_true(undone);
		assert_content(s, "0123456789");
		g_assert_false(li_journal_exists(s->path));
	}
}

static void test_journal_of_another_iso(scratch *s, gconstpointer data)
{
	static const char *const others[] = {"X1abc56d89", "01abc5Xd89", "01abc56d8X"};

	(void)data;
	write_journal(s);
	for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
		g_autoptr(GError) error = NULL;
		gboolean undone;

		set_content(s, others[i]);
		g_assert_false(li_recover(s->path, &undone, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
		assert_content(s, others[i]);
	}
	set_content(s, "01abc56d89more");
	g_assert_false(li_journal_undo(s->path, s->fd, NULL));
	assert_content(s, "01abc56d89more");
}

/* Any byte of it wrong, or any of its end missing. */
static void test_journal_damaged(scratch *s, gconstpointer data)
{
	g_autofree char *path = li_journal_path(s->path), *good = NULL;
	gsize length;

	(void)data;
	write_journal(s);
	set_content(s, "01abc56d89");
	g_assert_true(g_file_get_contents(path, &good, &length, NULL));
	g_assert_cmpuint(length, ==, 32 + 2 * 16 + 12 + 4);
	for (gsize i = 0; i < length; i++) {
		g_autofree char *bad = g_memdup2(good, length);

		bad[i] ^= 0x11;
		g_assert_true(g_file_set_contents(path, bad, (gssize)length, NULL));
		g_assert_false(li_journal_undo(s->path, s->fd, NULL));
		g_assert_true(g_file_set_contents(path, good, (gssize)i, NULL));
		g_assert_false(li_journal_undo(s->path, s->fd, NULL));
		assert_content(s, "01abc56d89");
	}
	g_assert_true(g_file_set_contents(path, good, (gssize)length, NULL));
	g_assert_true(li_journal_undo(s->path, s->fd, NULL));
	assert_content(s, "0123456789");
}

static void test_journal_that_was_not_finished(scratch *s, gconstpointer data)
{
	g_autofree char *path = li_journal_path(s->path);
	g_autofree char *temp = g_strconcat(path, ".tmp", NULL);
	gboolean undone = TRUE;

	(void)data;
	g_assert_true(g_file_set_contents(temp, "reorder und", -1, NULL));
	g_assert_false(li_journal_exists(s->path));
	g_assert_true(li_recover(s->path, &undone, NULL));
	g_assert_false(undone);
	g_assert_cmpint(access(temp, F_OK), ==, -1);
	assert_content(s, "0123456789");
}

/* --- room --- */

enum { IMAGE_SIZE = 5000, IMAGE_SECTORS = 6144, PADDING = 150 * LI_SECTOR };

/* first.iso: another file behind the image; last.iso: padding. */
static char *make_isos(void)
{
	char *dir = fixture_dir();

	fixture_script(dir,
		"mkdir -p a b\n"
		"head -c 5000 /dev/urandom >a/image; head -c 3000 /dev/urandom >b/other\n"
		"genisoimage -quiet -J -R -o first.iso a/image b/other\n"
		"echo \"a/image 9\" >order; cd a; genisoimage -quiet -J -R -o ../last.iso image\n"
		"cd ..; truncate -s 3000000 zeros; genisoimage -quiet -J -R -o zeros.iso -sort order a/image zeros\n");
	return dir;
}

/* Bytes that IMAGE may take of so many wanted. */
static guint64 room_in(const li_iso *iso, guint64 wanted)
{
	g_autoptr(GPtrArray) trees = li_trees_read(iso, NULL);
	li_place place;

	g_assert_true(li_place_find(iso, trees, li_iso_find(iso, "/image"), &place, NULL));
	g_assert_cmpuint(place.length, ==, IMAGE_SIZE);
	g_assert_cmpuint(place.sectors, ==, IMAGE_SECTORS);
	return li_place_room(iso, trees, &place, wanted);
}

static li_iso *open_iso(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autoptr(GError) error = NULL;
	li_iso *iso = li_iso_open(path, &error);

	g_assert_no_error(error);
	return iso;
}

static void patch_file(const char *dir, const char *name, guint64 at, const void *data, gsize size)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	g_assert_cmpint(pwrite(fd, data, size, (off_t)at), ==, (gssize)size);
	close(fd);
}

static void test_room(void)
{
	char *dir = make_isos();
	g_autoptr(li_iso) first = open_iso(dir, "first.iso"), last = open_iso(dir, "last.iso"),
			  zeros = open_iso(dir, "zeros.iso");

	for (guint64 wanted = 1; wanted <= IMAGE_SECTORS; wanted += 511)
		g_assert_cmpuint(room_in(first, wanted), ==, wanted);
	g_assert_cmpuint(room_in(first, IMAGE_SECTORS + 1), ==, IMAGE_SECTORS);
	g_assert_cmpuint(room_in(first, 1 << 30), ==, IMAGE_SECTORS);
	g_assert_cmpuint(room_in(last, IMAGE_SECTORS + 1), ==, IMAGE_SECTORS + 1);
	g_assert_cmpuint(room_in(last, 1 << 30), ==, IMAGE_SECTORS + PADDING);
	/* A file of zeros is a file. */
	g_assert_cmpuint(room_in(zeros, 1 << 20), ==, IMAGE_SECTORS);
	fixture_remove(dir);
}

static void test_room_ends_at_what_is_there(void)
{
	char *dir = make_isos();
	g_autoptr(li_iso) iso = open_iso(dir, "last.iso");
	guint64 end = li_iso_find(iso, "/image")->extents[0].offset + IMAGE_SECTORS;
	guint8 table[66] = {[4] = 0x83, [64] = 0x55, [65] = 0xaa};
	guint32 block = GUINT32_TO_LE((guint32)(end / 512) + 80);

	patch_file(dir, "last.iso", end + 50 * LI_SECTOR + 7, "x", 1);
	g_assert_cmpuint(room_in(iso, 1 << 20), ==, IMAGE_SECTORS + 50 * LI_SECTOR);
	memcpy(table + 8, &block, sizeof(block));
	patch_file(dir, "last.iso", 446, table, sizeof(table));
	iso->volume.mbr = TRUE;
	g_assert_cmpuint(room_in(iso, 1 << 20), ==, IMAGE_SECTORS + 20 * LI_SECTOR);
	/* Where others say how long the file is, it stays as long. */
	iso->volume.udf = TRUE;
	g_assert_cmpuint(room_in(iso, IMAGE_SIZE), ==, IMAGE_SIZE);
	g_assert_cmpuint(room_in(iso, IMAGE_SIZE + 1), ==, IMAGE_SIZE);
	iso->volume.udf = FALSE;
	patch_file(dir, "last.iso", 1024, "H+", 2);
	g_assert_cmpuint(room_in(iso, IMAGE_SIZE + 1), ==, IMAGE_SIZE);
	fixture_remove(dir);
}

static void test_two_files_in_one_place(void)
{
	char *dir = make_isos();
	g_autoptr(li_iso) iso = open_iso(dir, "first.iso");
	g_autoptr(GPtrArray) trees = li_trees_read(iso, NULL);
	const li_node *other = li_tree_find(g_ptr_array_index(trees, 0), "/other");
	guint32 sector = GUINT32_TO_LE(
		(guint32)(li_iso_find(iso, "/image")->extents[0].offset / LI_SECTOR) + 1);
	g_autoptr(GError) error = NULL;
	li_place place;

	patch_file(dir, "first.iso", other->record + 2, &sector, sizeof(sector));
	g_ptr_array_unref(g_steal_pointer(&trees));
	trees = li_trees_read(iso, NULL);
	g_assert_false(li_place_find(iso, trees, li_iso_find(iso, "/image"), &place, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	fixture_remove(dir);
}

/* --- all of it --- */

static gboolean write_patched(
	const char *dir, const char *name, const char *content, guint size, GError **error)
{
	g_autoptr(li_iso) iso = open_iso(dir, name);
	g_autofree char *out = g_build_filename(dir, "out.iso", NULL);
	g_autofree char *path = g_build_filename(dir, "new", NULL);
	li_replacement replacement = {.file = li_iso_find(iso, "/image"), .content = path};
	li_write_job job = {.iso = iso,
		.replacements = &replacement,
		.replacement_count = 1,
		.workdir = dir,
		.out_path = out};
	li_write_result result;

	g_assert_true(g_file_set_contents(path, content, size, NULL));
	g_assert_true(g_file_set_contents(out, "", 0, NULL));
	return li_writer_patch.write(&job, &result, error) && li_verify_output(&job, error);
}

/* The independent check of the rebuild writer finds nothing, when it grows in both trees as well.
 */
static void test_verification_agrees(void)
{
	static const guint sizes[] = {IMAGE_SIZE, IMAGE_SECTORS, 3 * LI_SECTOR + 1, 200000};
	char *dir = make_isos();
	g_autofree char *content = g_malloc(200000);

	for (guint i = 0; i < 200000; i++)
		content[i] = (char)g_random_int();
	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(li_iso) out = NULL;
		g_autoptr(GPtrArray) trees = NULL;

		write_patched(dir, "last.iso", content, sizes[i], &error);
		g_assert_no_error(error);
		out = open_iso(dir, "out.iso");
		trees = li_trees_read(out, NULL);
		g_assert_cmpuint(trees->len, ==, 2);
		for (guint t = 0; t < trees->len; t++)
			g_assert_cmpuint(li_tree_find(g_ptr_array_index(trees, t), "/image")->size,
				==, sizes[i]);
	}
	fixture_remove(dir);
}

static void test_too_large(void)
{
	char *dir = make_isos();
	g_autofree char *content = g_malloc0(IMAGE_SECTORS + 1);
	g_autoptr(GError) error = NULL;

	g_assert_false(write_patched(dir, "first.iso", content, IMAGE_SECTORS + 1, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_nonnull(strstr(error->message, "is 1 bytes too large"));
	fixture_remove(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/overlay/reads", test_overlay_reads);
	g_test_add_func("/overlay/overlaps", test_overlay_overlaps);
	g_test_add_func("/overlay/compares", test_overlay_compares);
#define JOURNAL(name, test)                                                                        \
	g_test_add("/journal/" name, scratch, NULL, scratch_open, test, scratch_close)
	JOURNAL("undoes", test_journal_undoes);
	JOURNAL("of-another-iso", test_journal_of_another_iso);
	JOURNAL("damaged", test_journal_damaged);
	JOURNAL("not-finished", test_journal_that_was_not_finished);
	g_test_add_func("/room/known", test_room);
	g_test_add_func("/room/ends-at-what-is-there", test_room_ends_at_what_is_there);
	g_test_add_func("/room/two-files-in-one-place", test_two_files_in_one_place);
	g_test_add_func("/patch/verification-agrees", test_verification_agrees);
	g_test_add_func("/patch/too-large", test_too_large);
	return g_test_run();
}
