/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/simulate.h"

void tr_replay_init(tr_replay *replay, const struct tr_drive_params *params, double k)
{
	*replay = (tr_replay){.k = k, .last_end = -1};
	tr_drive_init(&replay->drive, params, G_MAXUINT64);
}

void tr_replay_next(tr_replay *replay, const tr_read *read, tr_served *served)
{
	double think = MAX(read->time - replay->logged_ready, 0);

	replay->logged_ready = MAX(read->time, replay->logged_ready) + read->delay;
	served->time = replay->ready + think / replay->k;
	served->delay = tr_drive_read(
		&replay->drive, served->time, read->offset, read->length, &served->seek);
	replay->ready = served->time + served->delay;
	served->jump = replay->last_end >= 0 && replay->last_end != (double)read->offset;
	replay->last_end = (double)read->offset + (double)read->length;
}

void tr_simulate(const GArray *reads, const struct tr_drive_params *params, double k,
	tr_simulation *totals, GArray *served)
{
	tr_replay replay;

	tr_replay_init(&replay, params, k);
	*totals = (tr_simulation){.params = params, .requests = reads->len};
	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		tr_served s;

		tr_replay_next(&replay, read, &s);
		totals->busy += s.delay;
		totals->bytes += read->length;
		totals->jumps += s.jump;
		totals->long_seeks += s.seek > TR_DRIVE_LONG_SEEK;
		if (served) {
			tr_read r = {s.time, read->offset, read->length, s.delay};
			g_array_append_val(served, r);
		}
	}
	totals->seconds = replay.ready;
}
