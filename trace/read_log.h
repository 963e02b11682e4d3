/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of every read of the medium, written by the medium plugin (trace/medium/): one log, one
 * reader. Text: first line "reorder-livecd reads 1", lines "# key value" (drive parameters, size,
 * start …), then one read a line: "SECONDS OFFSET LENGTH DELAY", seconds (since the plugin started,
 * %.6f) at which the request came and what the drive took for it, bytes.
 */
#ifndef TR_READ_LOG_H
#define TR_READ_LOG_H

#include <glib.h>

typedef struct {
	double time;
	guint64 offset; /* bytes */
	guint64 length; /* bytes */
	double delay;   /* seconds */
} tr_read;

/* A number of the header: "size" (bytes of the medium), "start" (of the plugin, CLOCK_MONOTONIC
 * seconds), "slow" (slow motion), parameters of the drive. */
gboolean tr_read_log_number(const char *path, const char *key, double *value, GError **error);

/* GArray of tr_read. A last line that is cut off (the plugin was killed) is dropped. */
GArray *tr_read_log_read(const char *path, GError **error);

/* A line of a log, with its newline. FALSE if it is no read. */
gboolean tr_read_log_parse(const char *line, tr_read *read);

typedef struct {
	guint64 requests;
	guint64 bytes;
	guint64 jumps;        /* requests that do not start where the one before ended */
	guint64 long_seeks;   /* on the cd profile: seeks of over 50 ms (trace/medium/drive.h) */
	double drive_seconds; /* on the cd profile */
} tr_read_totals;

/*
 * Totals of the reads that overlap [offset, offset + length) (only the overlapping bytes are
 * counted; whole log: 0, G_MAXUINT64). long_seeks and drive_seconds are of the drive serving the
 * whole log, booked on the reads counted here.
 */
void tr_read_log_totals(
	const GArray *reads, guint64 offset, guint64 length, tr_read_totals *totals);

/* Of several ranges, into the first. */
void tr_read_totals_add(tr_read_totals *sum, const tr_read_totals *other);

#endif
