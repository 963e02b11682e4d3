/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays a read log on a modelled drive without a boot. What the guest did between the answer to
 * one read and the next read, its think time, is taken from the log and divided by k; a read that
 * came while the one before was still being served follows it at once. Only sums and square roots:
 * the same log gives the same numbers, to the microsecond, on every machine.
 */
#ifndef TR_SIMULATE_H
#define TR_SIMULATE_H

#include "trace/medium/drive.h"
#include "trace/read_log.h"

/* One log on one drive, read by read. */
typedef struct {
	struct tr_drive drive;
	double k;
	double logged_ready; /* when the drive of the log was done with the last read */
	double ready;        /* when this one was */
	double last_end;     /* of the last read, position; negative: none yet */
} tr_replay;

/* What became of a read. */
typedef struct {
	double time;   /* when it comes */
	double delay;  /* what the drive takes for it */
	double seek;   /* seeking, part of delay */
	gboolean jump; /* it does not start where the read before ended */
} tr_served;

/* params must outlive the replay; k > 0: how much slower the clock of the log ran than the modelled
 * machine's. */
void tr_replay_init(tr_replay *replay, const struct tr_drive_params *params, double k);
void tr_replay_next(tr_replay *replay, const tr_read *read, tr_served *served);

typedef struct {
	const struct tr_drive_params *params; /* the profile */
	double seconds; /* from the start of the log to the end of its last read */
	double busy;    /* of these the drive works on requests */
	guint64 requests;
	guint64 bytes;
	guint64 jumps;
	guint64 long_seeks; /* seeks of over 50 ms */
} tr_simulation;

/*
 * Totals of a whole log (GArray of tr_read, in order). served, if not NULL, is a GArray of tr_read
 * that gets every read as it would be logged on that drive.
 */
void tr_simulate(const GArray *reads, const struct tr_drive_params *params, double k,
	tr_simulation *totals, GArray *served);

#endif
