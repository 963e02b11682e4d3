/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual machine's hardware as far as it can be chosen: what decides which drivers a boot
 * loads. Devices are of a table, so that a name means the same in every trace and gives QEMU no
 * file of the host.
 */
#ifndef TR_HARDWARE_H
#define TR_HARDWARE_H

#include <glib.h>

typedef enum { TR_CHIPSET_Q35, TR_CHIPSET_PC } tr_chipset;

/* All zero: the usual machine. The texts are borrowed. */
typedef struct {
	tr_chipset chipset;
	const char *cpu_model; /* as QEMU calls it; NULL: the host's, or all that can be emulated */
	const char *const *devices; /* names, ends with NULL; or NULL */
	gboolean uefi;              /* OVMF, not SeaBIOS */
} tr_hardware;

const char *tr_chipset_name(tr_chipset chipset);

/* RO_ERROR_USAGE for a device that is unknown, not of this machine, or a second one of its kind;
 * for a processor model with odd characters. Whether there is such a model QEMU tells. */
gboolean tr_hardware_check(const tr_hardware *hardware, GError **error);

/* The names of all devices, those that are there by default too, with blanks between them; owned by
 * the caller. */
char *tr_hardware_devices(const tr_hardware *hardware);

/* Appends QEMU's arguments (char *) for the devices. It has a netdev "net" and a drive "medium",
 * which the firmware boots from if bootable. */
void tr_hardware_add_devices(const tr_hardware *hardware, gboolean bootable, GPtrArray *argv);

#endif
