/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The virtual machine: QEMU's arguments, its start, and whether KVM works here. */
#ifndef TR_QEMU_H
#define TR_QEMU_H

#include <glib.h>

#include "reorder/util/child.h"
#include "trace/hardware.h"

typedef struct {
	const char *accelerator; /* "kvm" or "tcg" */
	guint64 memory;          /* bytes */
	guint cpus;
	const tr_hardware *hardware;
	const char *kernel, *initrd, *cmdline; /* kernel NULL: boots from the medium;
						  initrd may be NULL */
	const char *uefi_code, *uefi_vars;     /* OVMF, the latter written to; NULL: SeaBIOS */
	const char *monitor; /* pipes MONITOR.in and MONITOR.out for QEMU's commands, or NULL */
	const char *medium_socket; /* of the NBD server that has the ISO */
	const char *console;       /* the first serial line: pipes CONSOLE.in and CONSOLE.out */
	int agent_fd;              /* the second one: a stream socket that QEMU inherits, or -1 */
	const char *log;           /* file for what QEMU itself says */
} tr_machine;

gboolean tr_qemu_check(GError **error);

/* "7.2.22 (Debian …)"; NULL if it does not say. Owned by the caller. */
char *tr_qemu_version(void);

/*
 * Arguments, NULL-terminated; owned by the caller. The guest gets no disk and no way to the
 * network, and what QEMU itself may do is cut down: the ISO is not trusted.
 */
GPtrArray *tr_qemu_arguments(const tr_machine *machine);

ro_child *tr_qemu_start(const tr_machine *machine, GError **error);

/* RO_ERROR_FAILED if this machine has not so many bytes for a guest, used or not. */
gboolean tr_memory_check(guint64 bytes, GError **error);

/* RO_ERROR_FAILED "/dev/kvm: reason" unless a virtual machine can be made. It may still hang. */
gboolean tr_kvm_check(GError **error);

#endif
