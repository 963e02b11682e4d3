/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/phases.h"

#include "trace/simulate.h"

const char *tr_row_name(tr_row row)
{
	static const char *const names[TR_ROW_COUNT] = {
		"loader", "kernel", "initramfs", "userspace", "kernel_to_end", "total"};

	return names[row];
}

const char *tr_metric_name(tr_metric metric)
{
	static const char *const names[TR_METRIC_COUNT] = {
		"seconds", "busy_seconds", "requests", "bytes", "long_seeks"};

	return names[metric];
}

/* The phase of a point in time; -1: none. */
static int phase_at(const tr_marks *marks, double time)
{
	int phase = -1;

	for (int i = 0; i < TR_PHASE_COUNT; i++)
		if (marks->at[i] >= 0 && time >= marks->at[i])
			phase = i;
	return time < marks->at[TR_PHASE_COUNT] ? phase : -1;
}

static double next_mark(const tr_marks *marks, int phase)
{
	int next = phase + 1;

	while (next < TR_PHASE_COUNT && marks->at[next] < 0)
		next++;
	return marks->at[next];
}

static void take_seconds(const tr_marks *marks, tr_phases *phases)
{
	for (int i = 0; i < TR_PHASE_COUNT; i++) {
		phases->known[i] = marks->at[i] >= 0;
		if (phases->known[i])
			phases->value[i][TR_METRIC_SECONDS] = next_mark(marks, i) - marks->at[i];
	}
	phases->waited = marks->wait_to - marks->wait_from;
	phases->value[TR_PHASE_LOADER][TR_METRIC_SECONDS] -= phases->waited;
	/* A loader that takes no time at all is one that was not there. */
	phases->known[TR_PHASE_LOADER] = phases->value[TR_PHASE_LOADER][TR_METRIC_SECONDS] > 0;
}

static void take_read(tr_phases *phases, int phase, const tr_read *read, const tr_served *served)
{
	double *value = phases->value[phase];

	value[TR_METRIC_BUSY] += read->delay;
	value[TR_METRIC_REQUESTS]++;
	value[TR_METRIC_BYTES] += (double)read->length;
	value[TR_METRIC_SEEKS] += served->seek > TR_DRIVE_LONG_SEEK;
}

static void add_up(tr_phases *phases)
{
	for (int i = 0; i < TR_PHASE_COUNT; i++)
		for (int m = 0; m < TR_METRIC_COUNT; m++) {
			phases->value[TR_ROW_TOTAL][m] += phases->value[i][m];
			if (i != TR_PHASE_LOADER)
				phases->value[TR_ROW_KERNEL_TO_END][m] += phases->value[i][m];
		}
	phases->known[TR_ROW_KERNEL_TO_END] = phases->known[TR_ROW_TOTAL] = TRUE;
}

void tr_phases_of(const GArray *reads, const struct tr_drive_params *drive, const tr_marks *marks,
	tr_phases *phases)
{
	tr_replay replay;

	*phases = (tr_phases){0};
	take_seconds(marks, phases);
	/* The log has no seeks; the same drive does the same ones again. */
	tr_replay_init(&replay, drive, 1);
	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		int phase = phase_at(marks, read->time);
		tr_served served;

		tr_replay_next(&replay, read, &served);
		if (phase >= 0)
			take_read(phases, phase, read, &served);
	}
	add_up(phases);
}

void tr_phases_fold(tr_phases *phases, tr_marks *marks, int phase)
{
	if (!phases->known[phase] || phase == 0)
		return;
	for (int m = 0; m < TR_METRIC_COUNT; m++) {
		phases->value[phase - 1][m] += phases->value[phase][m];
		phases->value[phase][m] = 0;
	}
	phases->known[phase] = FALSE;
	marks->at[phase] = -1;
}

GArray *tr_phases_cut(const GArray *reads, tr_marks *marks)
{
	GArray *cut = g_array_new(FALSE, FALSE, sizeof(tr_read));
	double start = marks->at[0];

	for (guint i = 0; i < reads->len; i++) {
		tr_read read = g_array_index(reads, tr_read, i);
		if (phase_at(marks, read.time) < 0)
			continue;
		read.time -= start;
		g_array_append_val(cut, read);
	}
	for (int i = 0; i <= TR_PHASE_COUNT; i++)
		if (marks->at[i] >= 0)
			marks->at[i] -= start;
	marks->wait_from -= start;
	marks->wait_to -= start;
	return cut;
}
