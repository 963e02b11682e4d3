/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Slow motion: by which factor k the guest's processor is slower than that of the machine that a
 * comparison is about. The agent does a fixed piece of work (trace/agent/calibrate.c) in a machine
 * of its own; what it takes there, divided by what it takes on the modelled machine, is k.
 */
#ifndef TR_CALIBRATE_H
#define TR_CALIBRATE_H

#include "trace/boot.h"

/* Seconds of processor time that the fixed work takes on the reference machine (calibrate.c). */
#define TR_CALIBRATION_REFERENCE 0.030

typedef struct {
	const char *name, *about;
	double seconds; /* for the fixed work: declared, not measured by whoever runs this */
} tr_processor;

/* laptop2008, laptop, desktop. The list ends with a NULL name. */
extern const tr_processor tr_processors[];
const tr_processor *tr_processor_find(const char *name);

typedef struct {
	double seconds; /* that the work took in the guest */
	tr_accel accel; /* TR_ACCEL_KVM or _TCG: what the guest ran on */
} tr_calibration;

/* Boots the job's kernel with nothing but the agent. With TR_ACCEL_AUTO it also finds out which
 * accelerator works here. */
gboolean tr_calibrate(const tr_boot_job *job, tr_calibration *calibration, GError **error);

/* Seconds that the modelled processor needs to unpack that many bytes (as they are packed) of that
 * compression (li_kernel.compression): an estimate. Negative: unknown. */
double tr_unpacking_seconds(const tr_processor *processor, const char *compression, double packed);

#endif
