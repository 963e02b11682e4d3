/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/medium/drive.h"

#include <math.h>
#include <string.h>

#define MIB (1024.0 * 1024.0)

const struct tr_drive_params tr_drive_profiles[] = {
	{
		.name = "cd",
		.about = "CD-ROM 24x, CAV",
		.rate_inner = 1.5e6,
		.rate_outer = 3.6e6,
		.capacity = 700e6,
		.seek_min = 0.060,
		.seek_full = 0.120,
		.buffer = 2 * MIB,
		.gap = 0.1,
	},
	{
		.name = "dvd",
		.about = "DVD-ROM 8x, CAV, slim",
		.rate_inner = 4.6e6,
		.rate_outer = 11.08e6,
		.capacity = 4.7e9,
		.seek_min = 0.080,
		.seek_full = 0.140,
		.buffer = 2 * MIB,
		.gap = 0.1,
	},
	{
		.name = "hdd",
		.about = "hard disk, 5400 rpm",
		.rate_inner = 110e6,
		.rate_outer = 55e6,
		.capacity = 500e9,
		.seek_min = 0.0075,
		.seek_full = 0.0145,
		.request = 0.0001,
		.buffer = 2 * MIB,
		.gap = 0.0055,
	},
	{
		.name = "usb2",
		.about = "stick, USB 2",
		.rate_inner = 28e6,
		.rate_outer = 28e6,
		.capacity = 16e9,
		.request = 0.0006,
	},
	{
		.name = "usb3",
		.about = "stick, USB 3",
		.rate_inner = 120e6,
		.rate_outer = 120e6,
		.capacity = 32e9,
		.request = 0.00025,
	},
	{
		.name = "bmc",
		.about = "virtual medium over the network",
		.rate_inner = 4e6,
		.rate_outer = 4e6,
		.capacity = 4.7e9,
		.request = 0.015,
	},
	{
		.name = "none",
		.about = "no delay",
		.capacity = 700e6,
	},
	{.name = NULL},
};

#define NUMBER(field)                                                                              \
	{                                                                                          \
#field, offsetof(struct tr_drive_params, field)                                    \
	}
static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	NUMBER(rate_inner),
	NUMBER(rate_outer),
	NUMBER(capacity),
	NUMBER(seek_min),
	NUMBER(seek_full),
	NUMBER(request),
	NUMBER(buffer),
	NUMBER(gap),
};
#define NUMBER_COUNT (sizeof(numbers) / sizeof(numbers[0]))

const struct tr_drive_params *tr_drive_find(const char *name)
{
	for (const struct tr_drive_params *p = tr_drive_profiles; p->name; p++) {
		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

const char *tr_drive_param_name(size_t index)
{
	return index < NUMBER_COUNT ? numbers[index].name : NULL;
}

double tr_drive_param_get(const struct tr_drive_params *params, size_t index)
{
	return *(const double *)(const void *)((const char *)params + numbers[index].offset);
}

bool tr_drive_param_set(struct tr_drive_params *params, const char *name, double value)
{
	if (!isfinite(value) || value < 0)
		return false;
	for (size_t i = 0; i < NUMBER_COUNT; i++) {
		if (strcmp(numbers[i].name, name) == 0) {
			*(double *)(void *)((char *)params + numbers[i].offset) = value;
			return true;
		}
	}
	return false;
}

const char *tr_drive_check(const struct tr_drive_params *params)
{
	if (params->capacity <= 0)
		return "capacity must be above 0";
	if ((params->rate_inner > 0) != (params->rate_outer > 0))
		return "rate_inner and rate_outer must both be above 0, or both be 0";
	return NULL;
}

void tr_drive_init(struct tr_drive *drive, const struct tr_drive_params *params, uint64_t size)
{
	*drive = (struct tr_drive){.params = params, .size = (double)size};
}

/* Bytes/s² by which the square of the rate grows with each byte. */
static double rate_slope(const struct tr_drive_params *p)
{
	return (p->rate_outer * p->rate_outer - p->rate_inner * p->rate_inner) / p->capacity;
}

static double rate_at(const struct tr_drive_params *p, double position)
{
	return sqrt(p->rate_inner * p->rate_inner + fmin(position, p->capacity) * rate_slope(p));
}

/* On either side of capacity the rate changes evenly in time, so the mean of its two ends is exact.
 */
static double transfer_even(const struct tr_drive_params *p, double from, double to)
{
	return to > from ? 2 * (to - from) / (rate_at(p, from) + rate_at(p, to)) : 0;
}

static double transfer_time(const struct tr_drive_params *p, double from, double to)
{
	if (p->rate_inner <= 0)
		return 0;
	return transfer_even(p, from, fmin(to, p->capacity)) +
	       transfer_even(p, fmax(from, p->capacity), to);
}

/* The position that a head which reads on from a position has after so many seconds. */
static double position_after(const struct tr_drive_params *p, double from, double seconds)
{
	double to_capacity = transfer_time(p, from, p->capacity);

	if (seconds >= to_capacity)
		return fmax(from, p->capacity) + (seconds - to_capacity) * p->rate_outer;
	return from + seconds * (rate_at(p, from) + seconds * rate_slope(p) / 4);
}

static void read_ahead(struct tr_drive *d, double now)
{
	if (now <= d->ready || d->head >= d->limit)
		return;
	if (transfer_time(d->params, d->head, d->limit) <= now - d->ready)
		d->head = d->limit;
	else
		d->head = position_after(d->params, d->head, now - d->ready);
}

/* Whether the head gets to a position by reading on, or the buffer has it. */
static bool within_reach(const struct tr_drive *d, double position)
{
	double oldest = fmax(d->run_start, d->head - d->params->buffer);

	return position >= oldest && transfer_time(d->params, d->head, position) <= d->params->gap;
}

static double seek_to(struct tr_drive *d, double position)
{
	const struct tr_drive_params *p = d->params;
	double distance = fmin(fabs(position - d->head) / p->capacity, 1);

	d->head = position;
	d->run_start = position;
	return p->seek_min + p->seek_full * sqrt(distance);
}

double tr_drive_read(
	struct tr_drive *drive, double now, uint64_t offset, uint64_t length, double *seek)
{
	const struct tr_drive_params *p = drive->params;
	double from = (double)offset;
	double to = fmin(from + (double)length, drive->size);
	double seeking = 0;

	if (seek)
		*seek = 0;
	if (to <= from)
		return 0;
	read_ahead(drive, now);
	if (!within_reach(drive, from))
		seeking = seek_to(drive, from);
	double taken = p->request + seeking + transfer_time(p, drive->head, to);
	drive->head = fmax(drive->head, to);
	drive->limit = fmin(to + p->buffer, drive->size);
	drive->ready = fmax(now, drive->ready) + taken;
	if (seek)
		*seek = seeking;
	return taken;
}
