/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The phases of a measured boot, and what the medium did in each. Plain computing on a read log and
 * a few points in time; all seconds are those of the modelled machine.
 */
#ifndef TR_PHASES_H
#define TR_PHASES_H

#include "trace/medium/drive.h"
#include "trace/read_log.h"

/* The phases, then sums of them. */
typedef enum {
	TR_PHASE_LOADER,    /* hand-over by the firmware → start of the kernel */
	TR_PHASE_KERNEL,    /* → /init */
	TR_PHASE_INITRAMFS, /* → root switched */
	TR_PHASE_USERSPACE, /* → end */
	TR_PHASE_COUNT,
	TR_ROW_KERNEL_TO_END = TR_PHASE_COUNT,
	TR_ROW_TOTAL,
	TR_ROW_COUNT,
} tr_row;

typedef enum {
	TR_METRIC_SECONDS,
	TR_METRIC_BUSY, /* seconds in which the drive worked */
	TR_METRIC_REQUESTS,
	TR_METRIC_BYTES,
	TR_METRIC_SEEKS, /* long ones: of over 50 ms */
	TR_METRIC_COUNT,
} tr_metric;

/* "kernel to end", "long seeks" for people; "kernel_to_end", "long_seeks" for JSON. Static. */
const char *tr_row_name(tr_row row);
const char *tr_metric_name(tr_metric metric);

/*
 * When the phases began, in the log's seconds; at[TR_PHASE_COUNT] is the end. They do not decrease.
 * A negative one is not known: the phase is not told apart from the one before. The first and the
 * last are always known. A boot that was not measured from its loader on has equal first two.
 */
typedef struct {
	double at[TR_PHASE_COUNT + 1];
	double wait_from, wait_to; /* in the loader: a menu that waits, not counted; equal: none */
} tr_marks;

typedef struct {
	double value[TR_ROW_COUNT][TR_METRIC_COUNT];
	gboolean known[TR_ROW_COUNT]; /* else it is part of the phase before, or was not measured */
	double waited;                /* the menu's seconds */
} tr_phases;

/*
 * reads: of tr_read, as the plugin logged them on that drive. A read belongs to the phase in which
 * it was asked for; what comes before the first mark or after the end counts nowhere.
 */
void tr_phases_of(const GArray *reads, const struct tr_drive_params *drive, const tr_marks *marks,
	tr_phases *phases);

/* Makes a phase part of the one before. */
void tr_phases_fold(tr_phases *phases, tr_marks *marks, int phase);

/* The reads from the first mark to the end, the first mark being 0; the marks are moved likewise.
 * Owned by the caller. */
GArray *tr_phases_cut(const GArray *reads, tr_marks *marks);

#endif
