/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/kernel_image.h"

#include "reorder/util/error.h"
#include "tests/unit/iso-fixture.h"

enum { SIZE = 8192, SETUP_SECTORS = 3, PAYLOAD_OFFSET = 0x100, PAYLOAD_SIZE = 0x200 };

static void put(guint8 *at, guint64 value, guint bytes)
{
	for (guint i = 0; i < bytes; i++)
		at[i] = (guint8)(value >> (8 * i));
}

/* A header as Documentation/arch/x86/boot.rst has it, protocol 2.15. */
static void make(guint8 *kernel, const char *magic, gsize magic_size)
{
	memset(kernel, 0, SIZE);
	kernel[0x1f1] = SETUP_SECTORS;
	memcpy(kernel + 0x202, "HdrS", 4);
	put(kernel + 0x206, 0x020f, 2);
	put(kernel + 0x20e, 0x300, 2);
	strcpy((char *)kernel + 0x500, "6.1.0-test (me) #1");
	put(kernel + 0x236, 1, 2);
	put(kernel + 0x248, PAYLOAD_OFFSET, 4);
	put(kernel + 0x24c, PAYLOAD_SIZE, 4);
	memcpy(kernel + (SETUP_SECTORS + 1) * 512 + PAYLOAD_OFFSET, magic, magic_size);
}

static gboolean read_kernel(
	const guint8 *bytes, gsize size, li_kernel *kernel, const char **machine, GError **error)
{
	g_autoptr(li_iso) iso = fixture_iso((const char *const[]){NULL});
	gboolean ok;

	fixture_add(iso, "/vmlinuz", bytes, size);
	li_iso_index_files(iso);
	ok = li_kernel_read(iso, li_iso_find(iso, "/vmlinuz"), kernel, error);
	if (machine)
		*machine = li_kernel_machine(iso, li_iso_find(iso, "/vmlinuz"));
	return ok;
}

static void test_payloads(void)
{
	static const struct {
		const char *name;
		const char *magic;
		gsize size;
	} cases[] = {{"gzip", "\x1f\x8b\x08", 3}, {"bzip2", "BZh9", 4},
		{"lzma", "\x5d\0\0\0\x04", 5},
		{"xz",
			"\xfd"
			"7zXZ\0",
			6},
		{"lzo", "\x89LZO\0\r\n\x1a\n", 9}, {"lz4", "\x02\x21\x4c\x18", 4},
		{"zstd", "\x28\xb5\x2f\xfd", 4},
		{"none",
			"\x7f"
			"ELF",
			4},
		{"unknown", "????", 4}};
	guint8 bytes[SIZE];

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		li_kernel kernel;

		make(bytes, cases[i].magic, cases[i].size);
		read_kernel(bytes, SIZE, &kernel, NULL, &error);
		g_assert_no_error(error);
		g_assert_cmpstr(kernel.compression, ==, cases[i].name);
		g_assert_cmpstr(kernel.version, ==, "6.1.0-test (me) #1");
		g_assert_cmpuint(kernel.size, ==, SIZE);
		g_assert_cmpuint(kernel.payload_size, ==, PAYLOAD_SIZE);
		g_assert_true(kernel.is_64bit);
		g_free(kernel.version);
	}
}

static void test_32_bits(void)
{
	guint8 bytes[SIZE];
	li_kernel kernel;

	make(bytes, "BZh", 3);
	put(bytes + 0x236, 0, 2);
	g_assert_true(read_kernel(bytes, SIZE, &kernel, NULL, NULL));
	g_assert_false(kernel.is_64bit);
	g_free(kernel.version);
}

/* Protocol 2.07 and older have no payload field; the PE header says what machine it is. */
static void test_old_protocol(void)
{
	guint8 bytes[SIZE];
	li_kernel kernel;

	make(bytes, "BZh", 3);
	put(bytes + 0x206, 0x0207, 2);
	memcpy(bytes, "MZ", 2);
	put(bytes + 0x3c, 0x100, 4);
	put(bytes + 0x104, 0x8664, 2);
	g_assert_true(read_kernel(bytes, SIZE, &kernel, NULL, NULL));
	g_assert_cmpstr(kernel.compression, ==, "unknown");
	g_assert_true(kernel.is_64bit);
	g_free(kernel.version);
}

static void test_wrong_offsets(void)
{
	static const guint fields[] = {0x20e, 0x248, 0x24c, 0x3c, 0x1f1};
	guint8 bytes[SIZE];
	li_kernel kernel;

	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
		make(bytes, "BZh", 3);
		put(bytes + fields[i], 0xffffffff, fields[i] == 0x20e ? 2 : 4);
		memcpy(bytes + 0x202, "HdrS", 4);
		g_assert_true(read_kernel(bytes, SIZE, &kernel, NULL, NULL));
		g_free(kernel.version);
	}
	/* Cut off inside the header, and behind it. */
	make(bytes, "BZh", 3);
	g_assert_false(read_kernel(bytes, 0x204, &kernel, NULL, NULL));
	g_assert_true(read_kernel(bytes, 0x280, &kernel, NULL, NULL));
	g_assert_null(kernel.version);
	g_assert_cmpstr(kernel.compression, ==, "unknown");
}

/* D9 */
static void test_other_machines(void)
{
	guint8 bytes[SIZE] = {0};
	g_autoptr(GError) error = NULL;
	const char *machine;
	li_kernel kernel;

	memcpy(bytes + 0x38, "ARM\x64", 4);
	g_assert_false(read_kernel(bytes, SIZE, &kernel, &machine, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_nonnull(strstr(error->message, "a kernel for arm64"));
	g_assert_cmpstr(machine, ==, "arm64");
	/* A text that happens to be called vmlinuz is no other machine's kernel. */
	g_assert_false(read_kernel((const guint8 *)"text", 4, &kernel, &machine, NULL));
	g_assert_null(machine);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/kernel/payloads", test_payloads);
	g_test_add_func("/kernel/32-bits", test_32_bits);
	g_test_add_func("/kernel/old-protocol", test_old_protocol);
	g_test_add_func("/kernel/wrong-offsets", test_wrong_offsets);
	g_test_add_func("/kernel/other-machines", test_other_machines);
	return g_test_run();
}
