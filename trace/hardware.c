/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/hardware.h"

#include <string.h>

#include "reorder/util/error.h"

/* Of those up to the medium a machine has one each: without a choice the first row that fits. */
typedef enum { SLOT_NETWORK, SLOT_DISPLAY, SLOT_MEDIUM, SLOT_SOUND, SLOT_ANY } slot;

enum { ON_Q35 = 1 << TR_CHIPSET_Q35, ON_PC = 1 << TR_CHIPSET_PC };

typedef struct {
	const char *name;
	slot slot;
	int chipsets;       /* bits */
	gboolean usb;       /* needs the controller */
	const char *before; /* what it is attached to, as -device has it, or NULL */
	const char *device; /* as -device has it; a display: as -vga does */
} device;

static const device devices[] = {
	{"e1000e", SLOT_NETWORK, ON_Q35 | ON_PC, FALSE, NULL, "e1000e,netdev=net,romfile="},
	{"e1000", SLOT_NETWORK, ON_Q35 | ON_PC, FALSE, NULL, "e1000,netdev=net,romfile="},
	{"rtl8139", SLOT_NETWORK, ON_Q35 | ON_PC, FALSE, NULL, "rtl8139,netdev=net,romfile="},
	{"pcnet", SLOT_NETWORK, ON_Q35 | ON_PC, FALSE, NULL, "pcnet,netdev=net,romfile="},
	{"vmxnet3", SLOT_NETWORK, ON_Q35 | ON_PC, FALSE, NULL, "vmxnet3,netdev=net,romfile="},
	{"virtio-net", SLOT_NETWORK, ON_Q35 | ON_PC, FALSE, NULL,
		"virtio-net-pci,netdev=net,romfile="},

	/* Boot loaders and splash screens wait for ever without one. */
	{"std", SLOT_DISPLAY, ON_Q35 | ON_PC, FALSE, NULL, "std"},
	{"cirrus", SLOT_DISPLAY, ON_Q35 | ON_PC, FALSE, NULL, "cirrus"},
	{"vmware", SLOT_DISPLAY, ON_Q35 | ON_PC, FALSE, NULL, "vmware"},
	{"qxl", SLOT_DISPLAY, ON_Q35 | ON_PC, FALSE, NULL, "qxl"},
	{"virtio-gpu", SLOT_DISPLAY, ON_Q35 | ON_PC, FALSE, NULL, "virtio"},

	{"ahci", SLOT_MEDIUM, ON_Q35, FALSE, NULL, "ide-cd,bus=ide.0,drive=medium"},
	{"ide", SLOT_MEDIUM, ON_PC, FALSE, NULL, "ide-cd,bus=ide.0,drive=medium"},
	{"ahci", SLOT_MEDIUM, ON_PC, FALSE, "ich9-ahci,id=ahci", "ide-cd,bus=ahci.0,drive=medium"},
	{"usb-storage", SLOT_MEDIUM, ON_Q35 | ON_PC, TRUE, NULL,
		"usb-storage,bus=usb.0,drive=medium"},
	{"virtio-blk", SLOT_MEDIUM, ON_Q35 | ON_PC, FALSE, NULL, "virtio-blk-pci,drive=medium"},
	{"virtio-scsi", SLOT_MEDIUM, ON_Q35 | ON_PC, FALSE, "virtio-scsi-pci,id=scsi",
		"scsi-cd,bus=scsi.0,drive=medium"},

	{"ac97", SLOT_SOUND, ON_Q35 | ON_PC, FALSE, NULL, "AC97,audiodev=sound"},
	{"es1370", SLOT_SOUND, ON_Q35 | ON_PC, FALSE, NULL, "ES1370,audiodev=sound"},
	{"hda", SLOT_SOUND, ON_Q35 | ON_PC, FALSE, "intel-hda,id=hda",
		"hda-duplex,bus=hda.0,audiodev=sound"},

	{"usb-tablet", SLOT_ANY, ON_Q35 | ON_PC, TRUE, NULL, "usb-tablet,bus=usb.0"},
	{"usb-kbd", SLOT_ANY, ON_Q35 | ON_PC, TRUE, NULL, "usb-kbd,bus=usb.0"},
	{"virtio-tablet", SLOT_ANY, ON_Q35 | ON_PC, FALSE, NULL, "virtio-tablet-pci"},
	{"virtio-rng", SLOT_ANY, ON_Q35 | ON_PC, FALSE, NULL, "virtio-rng-pci"},
	{"virtio-balloon", SLOT_ANY, ON_Q35 | ON_PC, FALSE, NULL, "virtio-balloon-pci"},
	{"lsi", SLOT_ANY, ON_Q35 | ON_PC, FALSE, NULL, "lsi53c895a"},
	{"megasas", SLOT_ANY, ON_Q35 | ON_PC, FALSE, NULL, "megasas"},
	{"sdhci", SLOT_ANY, ON_Q35 | ON_PC, FALSE, NULL, "sdhci-pci"},
};

static const char *const slot_names[] = {
	"network card", "display", "way to the medium", "sound card"};

const char *tr_chipset_name(tr_chipset chipset)
{
	return chipset == TR_CHIPSET_PC ? "pc" : "q35";
}

static gboolean fits(const device *d, const tr_hardware *hardware)
{
	return (d->chipsets & 1 << hardware->chipset) != 0;
}

static const device *find(const char *name, const tr_hardware *hardware)
{
	for (gsize i = 0; i < G_N_ELEMENTS(devices); i++)
		if (g_str_equal(devices[i].name, name) && fits(&devices[i], hardware))
			return &devices[i];
	return NULL;
}

static const device *default_of(slot wanted, const tr_hardware *hardware)
{
	for (gsize i = 0; i < G_N_ELEMENTS(devices); i++)
		if (devices[i].slot == wanted && fits(&devices[i], hardware))
			return &devices[i];
	return NULL;
}

/* Of const device *: the slots in their order, then the rest. Names that are unknown are left out.
 */
static GPtrArray *all_devices(const tr_hardware *hardware)
{
	GPtrArray *all = g_ptr_array_new();

	for (slot s = SLOT_NETWORK; s <= SLOT_ANY; s++) {
		guint before = all->len;

		for (guint i = 0; hardware->devices && hardware->devices[i]; i++) {
			const device *d = find(hardware->devices[i], hardware);
			if (d && d->slot == s)
				g_ptr_array_add(all, (gpointer)d);
		}
		if (all->len == before && s <= SLOT_MEDIUM)
			g_ptr_array_add(all, (gpointer)default_of(s, hardware));
	}
	return all;
}

/* --- checking --- */

static gboolean fail_unknown(const char *name, const tr_hardware *hardware, GError **error)
{
	g_autoptr(GString) known = g_string_new(NULL);

	for (gsize i = 0; i < G_N_ELEMENTS(devices); i++)
		if (fits(&devices[i], hardware))
			g_string_append_printf(
				known, "%s%s", known->len ? ", " : "", devices[i].name);
	return ro_fail(error, RO_ERROR_USAGE, "--device %s: with --machine %s not one of %s", name,
		tr_chipset_name(hardware->chipset), known->str);
}

static gboolean check_devices(const tr_hardware *hardware, GError **error)
{
	const device *taken[SLOT_ANY + 1] = {NULL};

	for (guint i = 0; hardware->devices && hardware->devices[i]; i++) {
		const char *name = hardware->devices[i];
		const device *d = find(name, hardware);

		if (!d)
			return fail_unknown(name, hardware, error);
		if (d->slot != SLOT_ANY && taken[d->slot])
			return ro_fail(error, RO_ERROR_USAGE, "--device %s: a second %s, beside %s",
				name, slot_names[d->slot], taken[d->slot]->name);
		taken[d->slot] = d;
	}
	return TRUE;
}

gboolean tr_hardware_check(const tr_hardware *hardware, GError **error)
{
	static const char model_characters[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-+,=";
	const char *model = hardware->cpu_model;

	if (model && (!g_ascii_isalnum(model[0]) || model[strspn(model, model_characters)]))
		return ro_fail(error, RO_ERROR_USAGE,
			"--cpu-model %s: not a model as QEMU calls it, like Nehalem or qemu64,+ssse3",
			model);
	return check_devices(hardware, error);
}

/* --- using --- */

char *tr_hardware_devices(const tr_hardware *hardware)
{
	g_autoptr(GPtrArray) all = all_devices(hardware);
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < all->len; i++) {
		const device *d = g_ptr_array_index(all, i);
		g_string_append_printf(names, "%s%s", i ? " " : "", d->name);
	}
	return g_string_free(names, FALSE);
}

static void add(GPtrArray *argv, const char *option, const char *value)
{
	g_ptr_array_add(argv, g_strdup(option));
	g_ptr_array_add(argv, g_strdup(value));
}

/* What several devices may be attached to. */
static void add_shared(const GPtrArray *all, GPtrArray *argv)
{
	gboolean usb = FALSE, sound = FALSE;

	for (guint i = 0; i < all->len; i++) {
		const device *d = g_ptr_array_index(all, i);
		usb |= d->usb;
		sound |= d->slot == SLOT_SOUND;
	}
	if (usb)
		add(argv, "-device", "qemu-xhci,id=usb");
	if (sound)
		add(argv, "-audiodev", "none,id=sound");
}

void tr_hardware_add_devices(const tr_hardware *hardware, gboolean bootable, GPtrArray *argv)
{
	g_autoptr(GPtrArray) all = all_devices(hardware);

	add_shared(all, argv);
	for (guint i = 0; i < all->len; i++) {
		const device *d = g_ptr_array_index(all, i);
		gboolean boots = bootable && d->slot == SLOT_MEDIUM;
		g_autofree char *value =
			g_strconcat(d->device, boots ? ",bootindex=1" : NULL, NULL);

		if (d->before)
			add(argv, "-device", d->before);
		add(argv, d->slot == SLOT_DISPLAY ? "-vga" : "-device", value);
	}
}
