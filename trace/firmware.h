/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A measured boot as a machine does it: firmware, boot loader, its menu. Nothing on the ISO is
 * changed and no agent is in the guest, so that the phases are what can be seen from outside.
 *
 * The loader begins with the first read of the boot image that the firmware starts.
 *
 * The kernel begins when a processor is first seen at one of its addresses, the initramfs when one
 * is first seen in a program: QEMU is asked about twenty times a second, from the first read of the
 * kernel's file on.
 *
 * Userspace begins with the first read of the live image: its mount; the change of the root follows
 * soon.
 *
 * The end is that of the rule; idle means that nothing is read from the medium.
 *
 * The Enter key is pressed where the loader reads nothing for a second before it has begun with the
 * kernel. The longest pause until then, in which its menu waits, is not counted.
 */
#ifndef TR_FIRMWARE_H
#define TR_FIRMWARE_H

#include "trace/measure.h"

gboolean tr_firmware_check(const tr_measure_job *job, GError **error);

/* measured is as tr_boot_run_measured() gets it; programs and kernel stay NULL. */
gboolean tr_firmware_run(const tr_measure_job *job, tr_measured *measured, GError **error);

#endif
