/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QEMU's monitor, as far as a boot through the firmware needs it: a key, and what the processors
 * do. */
#ifndef TR_MONITOR_H
#define TR_MONITOR_H

#include <glib.h>

typedef enum {
	TR_MODE_EARLY,  /* firmware, boot loader, the kernel's own unpacking */
	TR_MODE_KERNEL, /* at an address of the kernel */
	TR_MODE_USER,   /* a program */
} tr_mode;

typedef struct tr_monitor tr_monitor;

/* Makes pipes in the directory. Close it with free. */
tr_monitor *tr_monitor_new(const char *directory, GError **error);
void tr_monitor_free(tr_monitor *monitor);

/* For tr_machine.monitor. */
const char *tr_monitor_pipes(const tr_monitor *monitor);

void tr_monitor_press_enter(tr_monitor *monitor);

/* Asks what the processors do; the answer comes later. One question at a time. */
void tr_monitor_ask_mode(tr_monitor *monitor);

/* TRUE once there is an answer: the most advanced mode of any processor. */
gboolean tr_monitor_get_mode(tr_monitor *monitor, tr_mode *mode);

/* The registers of one processor or more as "info registers" prints them (QEMU:
 * target/i386/cpu-dump.c). */
tr_mode tr_monitor_parse_mode(const char *text);

#endif
