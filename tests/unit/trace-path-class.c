/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "trace/path_class.h"

static void test_paths(void)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{"usr/lib/modules/6.1.0-40-amd64/modules.dep.bin", "kernel modules"},
		{"lib/modules/6.1.0-40-amd64/kernel/drivers/net/e100.ko", "kernel modules"},
		{"usr/lib/firmware/rtl_nic/rtl8168h-2.fw", "firmware"},
		{"usr/lib/xorg/modules/drivers/modesetting_drv.so", "display drivers"},
		{"usr/lib/x86_64-linux-gnu/dri/swrast_dri.so", "display drivers"},
		{"usr/lib/x86_64-linux-gnu/libc.so.6", "libraries"},
		{"usr/lib64/libnss_files.so.2", "libraries"},
		{"lib/security/pam_unix.so", "libraries"},
		{"usr/bin/dash", "programs"},
		{"sbin/init", "programs"},
		{"usr/local/bin/tool", "programs"},
		{"usr/lib/systemd/systemd", "programs"},
		{"usr/lib/systemd/systemd-udevd", "programs"},
		{"usr/lib/systemd/system/basic.target", "configuration"},
		{"usr/lib/udev/rules.d/50-udev-default.rules", "configuration"},
		{"usr/lib/udev/ata_id", "programs"},
		{"usr/lib/sysctl.d/50-pid-max.conf", "configuration"},
		{"etc/passwd", "configuration"},
		{"etc/init.d/keyboard-setup.sh", "programs"},
		{"usr/lib/python3/dist-packages/apt/cache.py", "scripts"},
		{"usr/lib/locale/C.utf8/LC_CTYPE", "locale"},
		{"usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache", "locale"},
		{"usr/share/zoneinfo/Etc/UTC", "locale"},
		{"usr/share/icons/Adwaita/index.theme", "fonts and pictures"},
		{"usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts and pictures"},
		{"usr/share/mime/mime.cache", "data"},
		{"var/lib/dpkg/status", "data"},
		{"boot/config-6.1.0", "other"},
		{"", "other"},
		/* Only like one of a class. */
		{"usr/share/doc/lib.sound", "data"},
		{"opt/bin/x", "other"},
		{"modules/x.ko", "other"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		tr_path_class got = tr_path_class_of(TR_FILE, cases[i].path);
		g_test_message("%s", cases[i].path);
		g_assert_cmpstr(tr_path_class_name(got), ==, cases[i].name);
	}
}

static void test_kinds(void)
{
	g_assert_cmpint(tr_path_class_of(TR_DIR, "usr/lib/firmware"), ==, TR_CLASS_DIRECTORY);
	g_assert_cmpint(tr_path_class_of(TR_SYMLINK, "usr/bin/sh"), ==, TR_CLASS_LINK);
}

static void test_hardware(void)
{
	guint hardware = 0;

	for (guint c = 0; c < TR_CLASS_COUNT; c++) {
		g_assert_nonnull(tr_path_class_name(c));
		hardware += tr_path_class_is_hardware(c);
	}
	g_assert_cmpuint(hardware, ==, 3);
	g_assert_true(tr_path_class_is_hardware(TR_CLASS_FIRMWARE));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/path-class/paths", test_paths);
	g_test_add_func("/path-class/kinds", test_kinds);
	g_test_add_func("/path-class/hardware", test_hardware);
	return g_test_run();
}
