/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/image-fixture.h"

#include "reorder/plan/hardware_group.h"

static void test_group_of(void)
{
	static const struct {
		const char *path, *group;
	} rows[] = {
		{"usr/lib/modules/6.1/kernel/drivers/net/ethernet/realtek/8139too.ko",
			"usr/lib/modules/6.1/kernel/drivers/net/ethernet"},
		{"lib/modules/6.1/kernel/drivers/net/ethernet/8390.ko",
			"lib/modules/6.1/kernel/drivers/net/ethernet"},
		/* beside the kinds of its parent, not above them */
		{"lib/modules/6.1/kernel/drivers/net/mii.ko", "lib/modules/6.1/kernel/drivers/net"},
		{"usr/lib/modules/6.1/kernel/drivers/gpu/drm/tiny/cirrus.ko.xz",
			"usr/lib/modules/6.1/kernel/drivers/gpu"},
		{"usr/lib/modules/6.1/kernel/sound/pci/hda/snd-hda-intel.ko",
			"usr/lib/modules/6.1/kernel/sound"},
		{"usr/lib/modules/6.1/updates/dkms/wl.ko", "usr/lib/modules/6.1/updates"},
		{"usr/lib/modules/6.1/modules.alias.bin", "usr/lib/modules/6.1"},
		{"usr/lib/firmware/rtl_nic/rtl8168h-2.fw", "usr/lib/firmware/rtl_nic"},
		{"lib/firmware/intel/ibt/deep.sfi", "lib/firmware/intel"},
		{"usr/lib/firmware/iwlwifi-9000.ucode", "usr/lib/firmware"},
		{"usr/lib/xorg/modules/drivers/modesetting_drv.so", "usr/lib/xorg/modules/drivers"},
		{"usr/lib/xorg/modules/libfb.so", "usr/lib/xorg/modules"},
		{"usr/lib/x86_64-linux-gnu/dri/swrast_dri.so", "usr/lib/x86_64-linux-gnu/dri"},
		{"usr/lib64/dri/swrast_dri.so", "usr/lib64/dri"},
		{"usr/lib/x86_64-linux-gnu/libvulkan_radeon.so", "usr/lib/x86_64-linux-gnu"},
		{"usr/lib/x86_64-linux-gnu/libc.so.6", NULL},
		{"usr/lib/modules-load.d/x.conf", NULL},
		{"etc/passwd", NULL},
		{"", NULL},
	};

	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *group = ro_hardware_group_of(rows[i].path);

		g_assert_cmpstr(group, ==, rows[i].group);
	}
}

static void test_groups(void)
{
	static const char *const paths[] = {
		"lib/modules/6.1/kernel/drivers/net/ethernet/intel/e1000.ko",
		"usr/bin/true",
		"lib/firmware/rtl_nic/a.fw",
		"lib/modules/6.1/kernel/drivers/net/ethernet/realtek/8139too.ko",
	};
	g_auto(fixture) fx;
	g_autoptr(GArray) inodes = g_array_new(FALSE, FALSE, sizeof(guint32));

	fx_init(&fx);
	for (guint i = 0; i < G_N_ELEMENTS(paths); i++)
		fx_file(&fx, paths[i], 100);
	fx_image(&fx, "");
	for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
		guint32 inode = fx_inode(fx.tree, paths[i]);

		g_array_append_val(inodes, inode);
	}
	g_autoptr(GArray) groups = ro_hardware_groups(fx.tree, inodes);
	g_assert_cmpuint(groups->len, ==, 2);
	const ro_hardware_group *first = &g_array_index(groups, ro_hardware_group, 0);
	g_assert_cmpstr(first[0].directory, ==, "lib/modules/6.1/kernel/drivers/net/ethernet");
	g_assert_cmpuint(first[0].differing, ==, 2);
	g_assert_cmpstr(first[1].directory, ==, "lib/firmware/rtl_nic");
	g_assert_cmpuint(first[1].differing, ==, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/hardware-group/of a path", test_group_of);
	g_test_add_func("/hardware-group/of files", test_groups);
	return g_test_run();
}
