/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the virtual machine gets, and what it does not. */
#include <string.h>

#include "reorder/util/error.h"
#include "trace/qemu.h"

static GPtrArray *arguments(const char *accelerator, const char *directory)
{
	g_autofree char *socket = g_build_filename(directory, "medium.sock", NULL);
	g_autofree char *console = g_build_filename(directory, "console", NULL);
	static const tr_hardware usual;
	tr_machine machine = {.accelerator = accelerator,
		.hardware = &usual,
		.memory = (guint64)3 << 30,
		.cpus = 2,
		.kernel = "/w/kernel",
		.initrd = "/w/initrd",
		.cmdline = "a=1,2 b",
		.agent_fd = 7,
		.medium_socket = socket,
		.console = console,
		.log = "/w/log"};

	return tr_qemu_arguments(&machine);
}

/* The value behind the nth occurrence of an option. */
static const char *value(const GPtrArray *argv, const char *option, guint nth)
{
	for (guint i = 0; i + 1 < argv->len; i++)
		if (g_strcmp0(g_ptr_array_index(argv, i), option) == 0 && nth-- == 0)
			return g_ptr_array_index(argv, i + 1);
	return NULL;
}

static gboolean has(const GPtrArray *argv, const char *word)
{
	for (guint i = 0; i + 1 < argv->len; i++)
		if (g_str_equal(g_ptr_array_index(argv, i), word))
			return TRUE;
	return FALSE;
}

/* Pitfalls H4, H6, H9, H12. */
static void test_machine(void)
{
	g_autoptr(GPtrArray) argv = arguments("tcg", "/w");

	g_assert_cmpstr(value(argv, "-vga", 0), ==, "std");
	g_assert_cmpstr(value(argv, "-display", 0), ==, "none");
	g_assert_cmpstr(value(argv, "-m", 0), ==, "3072M");
	g_assert_cmpstr(value(argv, "-append", 0), ==, "a=1,2 b");
	g_assert_cmpstr(value(argv, "-serial", 0), ==, "chardev:console");
	g_assert_cmpstr(value(argv, "-serial", 1), ==, "chardev:agent");
	g_assert_true(has(argv, "-no-reboot"));
	g_assert_nonnull(strstr(value(argv, "-device", 0), "romfile="));
}

/* Pitfall H10: the guest can write to nothing, and reach nobody. */
static void test_confined(void)
{
	g_autoptr(GPtrArray) argv = arguments("tcg", "/w");

	g_assert_true(g_str_has_prefix(value(argv, "-sandbox", 0), "on,"));
	g_assert_nonnull(strstr(value(argv, "-netdev", 0), "restrict=on"));
	g_assert_nonnull(strstr(value(argv, "-blockdev", 0), "read-only=on"));
	g_assert_null(value(argv, "-blockdev", 1));
	g_assert_null(value(argv, "-drive", 0));
	g_assert_null(value(argv, "-virtfs", 0));
	g_assert_true(has(argv, "-nodefaults"));
	g_assert_true(has(argv, "-no-user-config"));
}

/* Pitfall H5. */
static void test_processor(void)
{
	g_autoptr(GPtrArray) tcg = arguments("tcg", "/w");
	g_autoptr(GPtrArray) kvm = arguments("kvm", "/w");

	g_assert_cmpstr(value(tcg, "-cpu", 0), ==, "max,-erms,-fsrm");
	g_assert_cmpstr(value(tcg, "-accel", 0), ==, "tcg,thread=multi,tb-size=256");
	g_assert_cmpstr(value(kvm, "-cpu", 0), ==, "host");
	g_assert_cmpstr(value(kvm, "-accel", 0), ==, "kvm");
}

/* The kernel is started by either firmware. */
static void test_unlike_machine(void)
{
	static const char *const devices[] = {"rtl8139", "cirrus", NULL};
	static const tr_hardware hardware = {
		.chipset = TR_CHIPSET_PC, .cpu_model = "Nehalem", .devices = devices, .uefi = TRUE};
	tr_machine machine = {.accelerator = "tcg",
		.hardware = &hardware,
		.kernel = "/w/kernel",
		.initrd = "/w/initrd",
		.cmdline = "",
		.uefi_code = "/o/code",
		.uefi_vars = "/w/vars",
		.medium_socket = "/w/medium",
		.console = "/w/console",
		.agent_fd = -1};
	g_autoptr(GPtrArray) argv = tr_qemu_arguments(&machine);

	g_assert_cmpstr(value(argv, "-machine", 0), ==, "pc");
	g_assert_cmpstr(value(argv, "-cpu", 0), ==, "Nehalem");
	g_assert_cmpstr(value(argv, "-vga", 0), ==, "cirrus");
	g_assert_cmpstr(value(argv, "-device", 0), ==, "rtl8139,netdev=net,romfile=");
	g_assert_cmpstr(value(argv, "-kernel", 0), ==, "/w/kernel");
	g_assert_cmpstr(value(argv, "-drive", 0), ==,
		"if=pflash,format=raw,unit=0,readonly=on,file=/o/code");
	g_assert_cmpstr(value(argv, "-drive", 1), ==,
		"if=pflash,format=raw,unit=1,readonly=off,file=/w/vars");
}

static void test_commas(void)
{
	g_autoptr(GPtrArray) argv = arguments("tcg", "/a,b,,c d");

	g_assert_true(g_str_has_suffix(
		value(argv, "-blockdev", 0), "server.path=/a,,b,,,,c d/medium.sock"));
	g_assert_true(g_str_has_suffix(value(argv, "-chardev", 0), "path=/a,,b,,,,c d/console"));
}

static void test_memory(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_true(tr_memory_check(64 << 20, NULL));
	g_assert_false(tr_memory_check((guint64)1 << 50, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_assert_nonnull(strstr(error->message, "--memory"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/qemu/machine", test_machine);
	g_test_add_func("/qemu/confined", test_confined);
	g_test_add_func("/qemu/processor", test_processor);
	g_test_add_func("/qemu/unlike-machine", test_unlike_machine);
	g_test_add_func("/qemu/commas-in-paths", test_commas);
	g_test_add_func("/qemu/memory", test_memory);
	return g_test_run();
}
