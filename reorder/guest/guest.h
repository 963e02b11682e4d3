/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the programs have in common that start as the first process of a guest (rdinit=), fork, let
 * process 1 become the /init that would have been started, and live on as its child. They run as
 * root in a foreign system: static, libc only.
 */
#ifndef RO_GUEST_H
#define RO_GUEST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds since the kernel started. */
uint64_t ro_guest_now(void);

/* Whole file below a directory descriptor, NUL-terminated, in *buffer that grows; length or -1. */
ssize_t ro_guest_read_file(int dir, const char *path, char **buffer, size_t *room);

/* Mounts at point, which it makes and removes, and takes the mount out of sight at once: only the
 * descriptor that it returns leads there. flags and options as of mount(2). -1: see errno. */
int ro_guest_hidden_mount(
	const char *point, const char *type, unsigned long flags, const char *options);

/* The kernel's log, /dev/kmsg, wherever there is a /dev or not; -1: see errno. flags as of
 * open(2). */
int ro_guest_open_kernel_log(int flags);

/*
 * Nothing that ends the processes of an initramfs ends this one any more. argv0: the caller's
 * argv[0]; proc: a proc filesystem; name: as ps shows it.
 */
void ro_guest_survive(char *argv0, int proc, const char *name);

/* What the kernel would have started without us: the last rdinit= in front of the one that names
 * own, or /init. Points into cmdline, which it cuts into words. */
const char *ro_guest_real_init(char *cmdline, const char *own);

#endif
