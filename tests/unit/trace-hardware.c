/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine's options come to: QEMU's arguments, names in the trace, refusals. */
#include "reorder/util/error.h"
#include "trace/hardware.h"

/* "-device x -vga y …" */
static char *arguments(const tr_hardware *hardware, gboolean bootable)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);

	tr_hardware_add_devices(hardware, bootable, argv);
	g_ptr_array_add(argv, NULL);
	return g_strjoinv(" ", (char **)argv->pdata);
}

static void test_devices(void)
{
	static const struct {
		tr_chipset chipset;
		const char *devices[4], *names, *arguments;
	} rows[] = {
		{TR_CHIPSET_Q35, {NULL}, "e1000e std ahci",
			"-device e1000e,netdev=net,romfile= -vga std "
			"-device ide-cd,bus=ide.0,drive=medium"},
		{TR_CHIPSET_PC, {NULL}, "e1000e std ide",
			"-device e1000e,netdev=net,romfile= -vga std "
			"-device ide-cd,bus=ide.0,drive=medium"},
		{TR_CHIPSET_PC, {"ahci", "cirrus", "rtl8139", NULL}, "rtl8139 cirrus ahci",
			"-device rtl8139,netdev=net,romfile= -vga cirrus "
			"-device ich9-ahci,id=ahci -device ide-cd,bus=ahci.0,drive=medium"},
		/* one controller for both */
		{TR_CHIPSET_Q35, {"usb-tablet", "usb-storage", "hda", NULL},
			"e1000e std usb-storage hda usb-tablet",
			"-device qemu-xhci,id=usb -audiodev none,id=sound "
			"-device e1000e,netdev=net,romfile= -vga std "
			"-device usb-storage,bus=usb.0,drive=medium -device intel-hda,id=hda "
			"-device hda-duplex,bus=hda.0,audiodev=sound "
			"-device usb-tablet,bus=usb.0"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		tr_hardware hardware = {.chipset = rows[i].chipset, .devices = rows[i].devices};
		g_autofree char *names = tr_hardware_devices(&hardware);
		g_autofree char *line = arguments(&hardware, FALSE);
		g_autoptr(GError) error = NULL;

		g_assert_true(tr_hardware_check(&hardware, &error));
		g_assert_no_error(error);
		g_assert_cmpstr(names, ==, rows[i].names);
		g_assert_cmpstr(line, ==, rows[i].arguments);
	}
}

static void test_medium_boots(void)
{
	tr_hardware hardware = {.devices = (const char *const[]){"virtio-scsi", NULL}};
	g_autofree char *line = arguments(&hardware, TRUE);

	g_assert_cmpstr(line, ==,
		"-device e1000e,netdev=net,romfile= -vga std -device virtio-scsi-pci,id=scsi "
		"-device scsi-cd,bus=scsi.0,drive=medium,bootindex=1");
}

static void refuses(const tr_hardware *hardware, const char *reason)
{
	g_autoptr(GError) error = NULL;

	g_assert_false(tr_hardware_check(hardware, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	if (!g_str_has_prefix(error->message, reason))
		g_error("\"%s\", wanted \"%s\"", error->message, reason);
}

static void test_refusals(void)
{
	static const struct {
		tr_chipset chipset;
		const char *devices[3], *cpu_model, *reason;
	} rows[] = {
		{TR_CHIPSET_Q35, {"vfio-pci", NULL}, NULL,
			"--device vfio-pci: with --machine q35 not one of e1000e, e1000, "},
		{TR_CHIPSET_Q35, {"e1000,romfile=/etc/shadow", NULL}, NULL, "--device e1000,rom"},
		{TR_CHIPSET_Q35, {"ide", NULL}, NULL, "--device ide: with --machine q35 not"},
		{TR_CHIPSET_PC, {"", NULL}, NULL, "--device : with --machine pc not one of "},
		{TR_CHIPSET_PC, {"rtl8139", "e1000", NULL}, NULL,
			"--device e1000: a second network card, beside rtl8139"},
		{TR_CHIPSET_PC, {"ide", "usb-storage", NULL}, NULL,
			"--device usb-storage: a second way to the medium, beside ide"},
		{TR_CHIPSET_Q35, {NULL}, "", "--cpu-model : not a model"},
		{TR_CHIPSET_Q35, {NULL}, "-x", "--cpu-model -x: not a model"},
		{TR_CHIPSET_Q35, {NULL}, "a b", "--cpu-model a b: not a model"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		tr_hardware hardware = {.chipset = rows[i].chipset,
			.devices = rows[i].devices,
			.cpu_model = rows[i].cpu_model};
		refuses(&hardware, rows[i].reason);
	}
	tr_hardware hardware = {.cpu_model = "Skylake-Client-v1,-avx2,+x2apic,pmu=on"};
	g_assert_true(tr_hardware_check(&hardware, NULL));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/hardware/devices", test_devices);
	g_test_add_func("/hardware/the medium boots", test_medium_boots);
	g_test_add_func("/hardware/refusals", test_refusals);
	return g_test_run();
}
