/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/initrd.h"

#include <lz4.h>

#include "iso/compression.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "tests/unit/iso-fixture.h"

static const char *const formats[] = {"none", "gzip", "bzip2", "lzma", "xz", "lzo", "lz4", "zstd"};

/*
 * Every format with every size modulo 4: FORMAT.RESIDUE. The kernel wants xz with CRC32; its size
 * is always a multiple of 4, so that the others have zeros at the end.
 */
static const char make_all[] =
	"pack() { case $1 in gzip) gzip -9n;; bzip2) bzip2;; lzma) xz --format=lzma;;\n"
	"xz) xz --check=crc32;; lzo) lzop;; lz4) lz4 -lq;; zstd) zstd -q;; esac; }\n"
	"mkdir tree; cd tree; mkdir -p etc bin; echo old > etc/over; echo keep > etc/keep\n"
	"head -c 3000 /dev/urandom > bin/noise; cd ..\n"
	"for try in $(seq 60); do head -c $((try*7)) /dev/urandom > tree/bin/try\n"
	"(cd tree; find . | cpio --quiet -o -H newc -C4) > none.0; missing=\n"
	"for format in gzip bzip2 lzma xz lzo lz4 zstd; do\n"
	"[ ! -e $format.3 -o ! -e $format.2 -o ! -e $format.1 -o ! -e $format.0 ] || continue\n"
	"missing=1; pack $format < none.0 > new; mv new $format.$(($(stat -c %s new) % 4))\n"
	"[ $format != xz ] || for r in 1 2 3; do cp xz.0 xz.$r; truncate -s +$r xz.$r; done\n"
	"done; [ $missing ] || break; done\n"
	"mkdir -p uc/kernel/x86/microcode; echo code > uc/kernel/x86/microcode/GenuineIntel.bin\n"
	"(cd uc; find . | cpio --quiet -o -H newc -C4) > ucode\n";

static char *dir;

static GBytes *load(const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	char *data;
	gsize size;

	g_assert_true(g_file_get_contents(path, &data, &size, NULL));
	return g_bytes_new_take(data, size);
}

static GArray *walk(GBytes *bytes)
{
	g_autoptr(GError) error = NULL;
	gsize size;
	const guint8 *data = g_bytes_get_data(bytes, &size);
	GArray *segments = li_initrd_segments(data, size, &error);

	g_assert_no_error(error);
	return segments;
}

static void assert_segment(
	const GArray *segments, guint index, gsize offset, gsize size, const char *compression)
{
	const li_segment *segment = &g_array_index(segments, li_segment, index);

	g_assert_cmpuint(segment->offset, ==, offset);
	g_assert_cmpuint(segment->size, ==, size);
	g_assert_cmpstr(segment->compression, ==, compression);
}

static GBytes *join(GBytes *a, gsize zeros, GBytes *b)
{
	GByteArray *all = g_byte_array_new();
	gsize size;
	const guint8 *data = g_bytes_get_data(a, &size);

	g_byte_array_append(all, data, (guint)size);
	g_byte_array_set_size(all, all->len + (guint)zeros);
	memset(all->data + all->len - zeros, 0, zeros);
	data = g_bytes_get_data(b, &size);
	g_byte_array_append(all, data, (guint)size);
	return g_byte_array_free_to_bytes(all);
}

static void test_one_segment_of_each_format(void)
{
	for (gsize i = 1; i < G_N_ELEMENTS(formats); i++)
		for (guint r = 0; r < 4; r++) {
			g_autofree char *name = g_strdup_printf("%s.%u", formats[i], r);
			g_autoptr(GBytes) bytes = load(name);
			g_autoptr(GArray) segments = walk(bytes);

			g_assert_cmpuint(g_bytes_get_size(bytes) % 4, ==, r);
			g_assert_cmpuint(segments->len, ==, 1);
			assert_segment(segments, 0, 0,
				g_bytes_get_size(bytes) - (strcmp(formats[i], "xz") == 0 ? r : 0),
				formats[i]);
		}
}

static void test_microcode_before_each_format(void)
{
	g_autoptr(GBytes) ucode = load("ucode");
	gsize start = g_bytes_get_size(ucode) + 4096;

	g_assert_cmpuint(start % 4, ==, 0);
	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_autofree char *name = g_strdup_printf("%s.0", formats[i]);
		g_autoptr(GBytes) main = load(name);
		g_autoptr(GBytes) all = join(ucode, 4096, main);
		g_autoptr(GArray) segments = walk(all);

		g_assert_cmpuint(segments->len, ==, 2);
		assert_segment(segments, 1, start, g_bytes_get_size(main), formats[i]);
		g_assert_true(g_array_index(segments, li_segment, 0).microcode);
		g_assert_false(g_array_index(segments, li_segment, 1).microcode);
	}
}

/* The end of what does not end with the file is found by unpacking. */
static void test_segment_behind_each_format(void)
{
	g_autoptr(GBytes) more = load("none.0");

	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_autofree char *name = g_strdup_printf("%s.0", formats[i]);
		g_autoptr(GBytes) first = load(name);
		g_autoptr(GBytes) all = join(first, 512, more);
		g_autoptr(GArray) segments = walk(all);

		g_assert_cmpuint(segments->len, ==, 2);
		assert_segment(segments, 0, 0, g_bytes_get_size(first), formats[i]);
		assert_segment(
			segments, 1, g_bytes_get_size(first) + 512, g_bytes_get_size(more), "none");
	}
}

static void test_streams_side_by_side(void)
{
	static const char *const names[] = {"gzip.1", "xz.0", "zstd.3", "bzip2.2", "lzma.1"};
	g_autoptr(GBytes) last = load("gzip.2");

	for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autoptr(GBytes) first = load(names[i]);
		g_autoptr(GBytes) all = join(first, 0, last);
		g_autoptr(GArray) segments = walk(all);

		g_assert_cmpuint(segments->len, ==, 2);
		assert_segment(
			segments, 1, g_bytes_get_size(first), g_bytes_get_size(last), "gzip");
	}
}

static void test_zeros_at_the_end(void)
{
	g_autoptr(GBytes) nothing = g_bytes_new(NULL, 0);

	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_autofree char *name = g_strdup_printf("%s.0", formats[i]);
		g_autoptr(GBytes) first = load(name);
		g_autoptr(GBytes) all = join(first, 1000, nothing);
		g_autoptr(GArray) segments = walk(all);

		g_assert_cmpuint(segments->len, ==, 1);
		assert_segment(segments, 0, 0, g_bytes_get_size(first), formats[i]);
	}
}

/* ---- what Linux does not take ---- */

static void assert_refused(GBytes *bytes, const char *text)
{
	g_autoptr(GError) error = NULL;
	gsize size;
	const guint8 *data = g_bytes_get_data(bytes, &size);

	g_assert_null(li_initrd_segments(data, size, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	if (!strstr(error->message, text))
		g_error("%s", error->message);
}

static void test_refused(void)
{
	g_autoptr(GBytes) empty = g_bytes_new(NULL, 0);
	g_autoptr(GBytes) zeros = g_bytes_new_static("\0\0\0\0", 4);
	g_autoptr(GBytes) text = g_bytes_new_static("#!/bin/sh", 9);
	g_autoptr(GBytes) plain = load("none.0");
	g_autoptr(GBytes) zipped = load("gzip.1");
	g_autoptr(GBytes) odd_plain = join(zipped, 0, plain);
	g_autoptr(GBytes) odd_zipped = join(plain, 1, zipped);
	g_autoptr(GBytes) old = g_bytes_new_static("070707", 6);

	assert_refused(empty, "empty");
	assert_refused(zeros, "empty");
	assert_refused(text, "neither a cpio archive");
	assert_refused(old, "broken");
	assert_refused(odd_plain, "not start at a multiple of 4");
	assert_refused(odd_zipped, "not start at a multiple of 4");
}

/* Cut anywhere: an error or fewer segments, never a crash; the whole is not found in a part. */
static void test_cut_off(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_autofree char *name = g_strdup_printf("%s.0", formats[i]);
		g_autoptr(GBytes) whole = load(name);
		gsize size = g_bytes_get_size(whole);

		for (gsize cut = 0; cut < size; cut += 1 + cut / 16) {
			g_autofree guint8 *part =
				g_memdup2(g_bytes_get_data(whole, NULL), MAX(cut, 1));
			GArray *segments = li_initrd_segments(part, cut, NULL);

			/* lz4 has no end: a cut between blocks is not seen. */
			if (segments && strcmp(formats[i], "lz4") != 0)
				g_assert_cmpuint(
					g_array_index(segments, li_segment, 0).size, <, size);
			g_clear_pointer(&segments, g_array_unref);
		}
	}
}

static void test_damaged_bytes(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);

	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_autofree char *name = g_strdup_printf("%s.0", formats[i]);
		g_autoptr(GBytes) whole = load(name);
		gsize size = g_bytes_get_size(whole);

		for (guint round = 0; round < 300; round++) {
			g_autofree guint8 *bytes = g_memdup2(g_bytes_get_data(whole, NULL), size);
			GArray *segments;

			for (guint n = 0; n < 3; n++)
				bytes[(gsize)g_rand_int_range(rand, 0,
					round % 2 ? (gint32)size : 128)] = (guint8)g_rand_int(rand);
			segments = li_initrd_segments(bytes, size, NULL);
			g_clear_pointer(&segments, g_array_unref);
		}
	}
}

/* ---- the appendix ---- */

static const li_cpio_member members[] = {
	{"etc", S_IFDIR | 0755, NULL, 0},
	{"etc/over", S_IFREG | 0600, "new", 3},
	{"empty", S_IFREG | 0644, NULL, 0},
};

/* A newc archive byte for byte, as cpio(1) would write it but with zero times, owners and devices.
 */
/* clang-format off */
#define Z8 "00000000"
#define HEADER(ino, mode, size, name_size) \
	"070701" ino mode Z8 Z8 "00000001" Z8 size Z8 Z8 Z8 Z8 name_size Z8
static const char golden[] =
	HEADER("00000001", "000041ed", Z8, "00000004") "etc\0" "\0\0"
	HEADER("00000002", "00008180", "00000003", "00000009") "etc/over\0" "\0" "new\0"
	HEADER("00000003", "000081a4", Z8, "00000006") "empty\0"
	HEADER(Z8, Z8, Z8, "0000000b") "TRAILER!!!\0" "\0\0\0";
/* clang-format on */

static GBytes *appended(GBytes *initrd, GBytes **appendix)
{
	g_autoptr(GError) error = NULL;
	gsize size;
	const guint8 *data = g_bytes_get_data(initrd, &size);
	GByteArray *bytes = li_initrd_appendix(data, size, members, G_N_ELEMENTS(members), &error);

	g_assert_no_error(error);
	*appendix = g_byte_array_free_to_bytes(bytes);
	return join(initrd, 0, *appendix);
}

static void assert_archive(const guint8 *data, gsize size)
{
	gsize length = sizeof(golden) - 1;

	g_assert_cmpmem(data, size, golden, length);
}

static void test_appendix_of_each_format(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
		for (guint r = 0; r < (i == 0 ? 1 : 4); r++) {
			g_autofree char *name = g_strdup_printf("%s.%u", formats[i], r);
			g_autoptr(GBytes) initrd = load(name);
			g_autoptr(GBytes) appendix = NULL;
			g_autoptr(GBytes) all = NULL;
			g_autoptr(GArray) segments = NULL;
			const li_segment *last;

			if (strcmp(formats[i], "lz4") == 0)
				continue;
			all = appended(initrd, &appendix);
			segments = walk(all);
			g_assert_cmpuint(segments->len, ==, 2);
			last = &g_array_index(segments, li_segment, 1);
			g_assert_cmpuint(last->offset % 512, ==, 0);
			if (i > 0)
				g_assert_cmpuint(
					last->offset - g_array_index(segments, li_segment, 0).size,
					>=, 8);
			assert_archive((const guint8 *)g_bytes_get_data(all, NULL) + last->offset,
				(gsize)last->size);
		}
}

/* Unpacks legacy frames as lib/decompress_unlz4.c does: block after block, a magic in between is
 * skipped, nothing may be left over. */
static GBytes *unlz4(GBytes *bytes)
{
	GByteArray *out = g_byte_array_new();
	g_autofree char *block = g_malloc(8 << 20);
	gsize size, at = 4;
	const guint8 *data = g_bytes_get_data(bytes, &size);

	while (at < size) {
		guint32 length = img_le32(data + at);
		int got;

		at += 4;
		if (length == 0x184c2102)
			continue;
		g_assert_cmpuint(length, <=, size - at);
		got = LZ4_decompress_safe((const char *)data + at, block, (int)length, 8 << 20);
		g_assert_cmpint(got, >, 0);
		g_byte_array_append(out, (guint8 *)block, (guint)got);
		at += length;
	}
	return g_byte_array_free_to_bytes(out);
}

static void test_appendix_of_lz4(void)
{
	for (guint r = 0; r < 4; r++) {
		g_autofree char *name = g_strdup_printf("lz4.%u", r);
		g_autoptr(GBytes) initrd = load(name);
		g_autoptr(GBytes) appendix = NULL;
		g_autoptr(GBytes) all = appended(initrd, &appendix);
		g_autoptr(GBytes) plain = unlz4(all);
		gsize size, length = sizeof(golden) - 1;
		const guint8 *data = g_bytes_get_data(plain, &size);
		g_autoptr(GArray) outer = walk(all);
		g_autoptr(GArray) inner = walk(plain);

		g_assert_cmpuint(outer->len, ==, 1);
		assert_segment(outer, 0, 0, g_bytes_get_size(all), "lz4");
		g_assert_cmpuint(inner->len, ==, 2);
		assert_archive(data + size - length, length);
	}
}

/* One to three zeros would be the beginning of a block size to Linux; eight end the frame. */
static void test_appendix_of_lz4_with_zeros(void)
{
	g_autoptr(GBytes) nothing = g_bytes_new(NULL, 0);
	g_autoptr(GBytes) frame = load("lz4.2");
	gsize end = g_bytes_get_size(frame);

	for (gsize zeros = 1; zeros < 20; zeros += 3) {
		g_autoptr(GBytes) initrd = join(frame, zeros, nothing);
		g_autoptr(GBytes) appendix = NULL;
		g_autoptr(GBytes) all = appended(initrd, &appendix);
		g_autoptr(GArray) segments = walk(all);
		gsize start = end + MAX(zeros, 8);

		g_assert_cmpuint(segments->len, ==, 2);
		assert_segment(segments, 1, start, g_bytes_get_size(all) - start, "lz4");
	}
}

static void test_appendix_twice(void)
{
	g_autoptr(GBytes) initrd = load("xz.3");
	g_autoptr(GBytes) first = NULL;
	g_autoptr(GBytes) second = NULL;
	g_autoptr(GBytes) once = appended(initrd, &first);
	g_autoptr(GBytes) twice = appended(once, &second);
	g_autoptr(GArray) segments = walk(twice);

	g_assert_cmpuint(segments->len, ==, 3);
}

static void test_appendix_is_deterministic(void)
{
	g_autoptr(GBytes) initrd = load("lz4.0");
	g_autoptr(GBytes) first = NULL;
	g_autoptr(GBytes) second = NULL;
	g_autoptr(GBytes) a = appended(initrd, &first);
	g_autoptr(GBytes) b = appended(initrd, &second);

	g_assert_true(g_bytes_equal(first, second));
}

/* More than one block of 8 MiB, and one that does not compress. */
static void test_appendix_large_lz4(void)
{
	g_autoptr(GBytes) initrd = load("lz4.1");
	g_autoptr(GByteArray) appendix = NULL;
	g_autoptr(GBytes) bytes = NULL;
	g_autoptr(GBytes) plain = NULL;
	gsize size = 20 << 20, plain_size, start;
	g_autofree guint32 *noise = g_malloc(size);
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);
	li_cpio_member big = {"big", S_IFREG | 0644, noise, size};
	const guint8 *data = g_bytes_get_data(initrd, &plain_size);

	for (gsize i = 0; i < size / 4; i++)
		noise[i] = g_rand_int(rand);
	appendix = li_initrd_appendix(data, plain_size, &big, 1, NULL);
	g_assert_nonnull(appendix);
	bytes = g_bytes_new(appendix->data, appendix->len);
	plain = unlz4(bytes);
	start = (110 + 4 + 3) / 4 * 4;
	data = g_bytes_get_data(plain, &plain_size);
	g_assert_cmpmem(data + start, size, noise, size);
}

static void test_appendix_cpio_reads_it(void)
{
	g_autoptr(GBytes) initrd = load("none.0");
	g_autoptr(GBytes) appendix = NULL;
	g_autoptr(GBytes) all = appended(initrd, &appendix);
	g_autofree char *path = g_build_filename(dir, "appendix", NULL);
	gsize size;
	const char *data = g_bytes_get_data(appendix, &size);

	g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
	fixture_script(dir,
		"mkdir out; cd out; tail -c 480 ../appendix | cpio --quiet -i -H newc\n"
		"[ $(cat etc/over) = new ]; [ $(stat -c %a etc/over) = 600 ]; [ -e empty ]\n");
}

/*
 * For the end-to-end test: iso-initrd --append INITRD NAME TEXT writes the initrd with a file more
 * to standard output.
 */
static int append_for_test(char **arguments)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) appendix = NULL;
	g_autofree char *initrd = NULL;
	gsize size;
	li_cpio_member member = {arguments[1], S_IFREG | 0644, arguments[2], strlen(arguments[2])};

	if (!g_file_get_contents(arguments[0], &initrd, &size, &error))
		g_error("%s", error->message);
	appendix = li_initrd_appendix((guint8 *)initrd, size, &member, 1, &error);
	if (!appendix)
		g_error("%s", error->message);
	return fwrite(initrd, 1, size, stdout) == size &&
			       fwrite(appendix->data, 1, appendix->len, stdout) == appendix->len
		       ? 0
		       : 1;
}

/* Each has to be unpacked to find its end: a small file could keep us busy for hours. */
static void test_too_many_compressed_segments(void)
{
	static const guint8 empty_gzip[20] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3};
	g_autoptr(GByteArray) initrd = g_byte_array_new();
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < 8; i++)
		g_byte_array_append(initrd, empty_gzip, sizeof empty_gzip);
	g_autoptr(GArray) eight = li_initrd_segments(initrd->data, initrd->len, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(eight->len, ==, 8);
	g_byte_array_append(initrd, empty_gzip, sizeof empty_gzip);
	g_assert_null(li_initrd_segments(initrd->data, initrd->len, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
}

int main(int argc, char **argv)
{
	int result;

	if (argc == 5 && g_str_equal(argv[1], "--append"))
		return append_for_test(argv + 2);
	g_test_init(&argc, &argv, NULL);
	dir = fixture_dir();
	fixture_script(dir, make_all);
	g_test_add_func("/segments/too-many-are-refused", test_too_many_compressed_segments);
	g_test_add_func("/segments/one-of-each-format", test_one_segment_of_each_format);
	g_test_add_func(
		"/segments/microcode-before-each-format", test_microcode_before_each_format);
	g_test_add_func("/segments/segment-behind-each-format", test_segment_behind_each_format);
	g_test_add_func("/segments/streams-side-by-side", test_streams_side_by_side);
	g_test_add_func("/segments/zeros-at-the-end", test_zeros_at_the_end);
	g_test_add_func("/segments/refused", test_refused);
	g_test_add_func("/segments/cut-off", test_cut_off);
	g_test_add_func("/segments/damaged-bytes", test_damaged_bytes);
	g_test_add_func("/appendix/each-format", test_appendix_of_each_format);
	g_test_add_func("/appendix/lz4", test_appendix_of_lz4);
	g_test_add_func("/appendix/lz4-with-zeros", test_appendix_of_lz4_with_zeros);
	g_test_add_func("/appendix/twice", test_appendix_twice);
	g_test_add_func("/appendix/deterministic", test_appendix_is_deterministic);
	g_test_add_func("/appendix/large-lz4", test_appendix_large_lz4);
	g_test_add_func("/appendix/cpio-reads-it", test_appendix_cpio_reads_it);
	result = g_test_run();
	fixture_remove(dir);
	return result;
}
