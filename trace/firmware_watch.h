/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the reads of the medium and the processors tell of a boot through the firmware. Times are
 * the log's. */
#ifndef TR_FIRMWARE_WATCH_H
#define TR_FIRMWARE_WATCH_H

#include "trace/measure.h"
#include "trace/monitor.h"
#include "trace/read_tail.h"

typedef struct {
	const tr_measure_job *job; /* borrowed */
	tr_read_tail *tail;
	guint count;           /* reads so far */
	double done;           /* when the drive was or will be done with the last one */
	gboolean handed_over;  /* the boot image was read */
	gboolean kernel_begun; /* a read of the kernel's file */
	double hand_over, kernel, init, mounted; /* 0: not yet */
} tr_firmware_watch;

/* The boot image that this firmware would start; NULL if there is none. */
const li_boot_image *tr_firmware_boot_image(const li_iso *iso, tr_firmware firmware);

void tr_firmware_watch_init(tr_firmware_watch *watch, const tr_measure_job *job, const char *log);
void tr_firmware_watch_clear(tr_firmware_watch *watch);

/* Takes in the reads that have come. */
void tr_firmware_watch_reads(tr_firmware_watch *watch);
void tr_firmware_watch_take(tr_firmware_watch *watch, const tr_read *read);

/* What a processor was seen to do at that time of the log. */
void tr_firmware_watch_mode(tr_firmware_watch *watch, tr_mode mode, double time);

/* The marks of the whole boot, the end being that of the last read; and the menu's wait. */
void tr_firmware_watch_marks(const tr_firmware_watch *watch, const GArray *reads, tr_marks *marks);

#endif
