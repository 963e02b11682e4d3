/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A model of the drive that a live medium lies in: how long each read takes it. Pure C, no I/O, no
 * clock of its own; the medium plugin sleeps for what it says, the simulator adds it up. Seconds,
 * bytes, bytes per second everywhere.
 *
 * The model. The head reads at a rate that depends on where it is: constant angular velocity, so
 * that the square of the rate grows evenly from rate_inner² at position 0 to rate_outer² at
 * capacity (a hard disk begins at its fast edge: there it falls). After a request the drive reads
 * on, also while nobody asks, until buffer bytes behind the request's end are there; the last
 * buffer bytes that passed the head are kept, and a request that starts in them takes only the
 * transfer of what is still missing. A request that starts in front of the head by no more than gap
 * seconds of transfer is reached by reading through. Everything else is a seek of seek_min +
 * seek_full · sqrt(distance / capacity); the half turn that the drive waits on average until the
 * sector comes by is part of seek_min. On top of that every request costs request seconds. Left
 * out: spin-up, retries, and the short way back that a drive has to go once its buffer was full.
 */
#ifndef TR_MEDIUM_DRIVE_H
#define TR_MEDIUM_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A seek that takes longer than this is a long one. */
#define TR_DRIVE_LONG_SEEK 0.05

struct tr_drive_params {
	const char *name;
	const char *about;
	double rate_inner; /* at position 0; 0: no delay at all, as if everything were in memory */
	double rate_outer; /* at capacity and behind it */
	double capacity;
	double seek_min;
	double seek_full; /* what a seek over the whole capacity takes longer than seek_min */
	double request;
	double buffer; /* bytes */
	double gap;    /* seconds of transfer */
};

/* The built-in profiles: cd, dvd, hdd, usb2, usb3, bmc, none. The list ends with a NULL name. */
extern const struct tr_drive_params tr_drive_profiles[];

/* NULL if there is no profile of this name. */
const struct tr_drive_params *tr_drive_find(const char *name);

/* The names of the numbers above ("rate_inner" …), for printing and for parsing; NULL past the last
 * one. */
const char *tr_drive_param_name(size_t index);
double tr_drive_param_get(const struct tr_drive_params *params, size_t index);

/* Sets a number by its name. false if there is no such name or the number is negative or not
 * finite. */
bool tr_drive_param_set(struct tr_drive_params *params, const char *name, double value);

/* NULL if the numbers go together, otherwise why not (static text). */
const char *tr_drive_check(const struct tr_drive_params *params);

struct tr_drive {
	const struct tr_drive_params *params; /* borrowed */
	double size;                          /* of the medium */
	double ready;                         /* when the last request was done */
	double head;                          /* position at that time */
	double run_start; /* the head came here without a break from this position */
	double limit;     /* up to here it reads on by itself */
};

/* The head is at position 0 with nothing in the buffer. size: bytes, UINT64_MAX if unknown. params
 * must outlive the drive. */
void tr_drive_init(struct tr_drive *drive, const struct tr_drive_params *params, uint64_t size);

/*
 * Serves a request that comes at now; nows don't decrease. Returns the seconds that the drive takes
 * for it, not counted those until it is done with the request before: drive->ready is when the data
 * are there. *seek is the part of it spent seeking; may be NULL. What lies past the end of the
 * medium takes no time, nor does a request of no length.
 */
double tr_drive_read(
	struct tr_drive *drive, double now, uint64_t offset, uint64_t length, double *seek);

#endif
