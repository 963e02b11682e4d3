/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One measured boot: its phases, and every read of the medium in it. All seconds are modelled ones:
 * those of the host divided by k. */
#ifndef TR_MEASURE_H
#define TR_MEASURE_H

#include "trace/boot.h"
#include "trace/phases.h"

typedef enum {
	TR_FIRMWARE_DIRECT, /* QEMU starts the kernel: no loader */
	TR_FIRMWARE_BIOS,   /* SeaBIOS */
	TR_FIRMWARE_UEFI,   /* OVMF */
} tr_firmware;

const char *tr_firmware_name(tr_firmware firmware);

typedef struct {
	tr_boot_job boot; /* its medium is set from the next two */
	const struct tr_drive_params *drive;
	double k; /* slow motion */
	tr_firmware firmware;
} tr_measure_job;

typedef struct {
	tr_marks marks; /* the boot begins at 0 */
	tr_phases phases;
	GArray *reads;        /* of tr_read, owned */
	double unpacked;      /* seconds in which the kernel unpacked the initramfs, by its own log;
				 negative: it does not say */
	GHashTable *programs; /* of char *: what was executed from the image; owned */
	char *kernel;         /* its release, or NULL: not known */
	char *cmdline;        /* of the boot */
	GPtrArray *dropped;   /* of char *: words taken out of the command line */
	const char *end_reason; /* "idle", "console", "time"; static */
	char *console;          /* its tail, printable; owned */
} tr_measured;

/* As tr_boot_check(), and what the firmware needs. */
gboolean tr_measure_check(const tr_measure_job *job, GError **error);

/* Fails as tr_boot_run() does; a boot that is not idle when its time is up has failed, too. */
gboolean tr_boot_run_measured(const tr_measure_job *job, tr_measured *measured, GError **error);
void tr_measured_clear(tr_measured *measured);

#endif
