/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two ISOs, booted in turn (A B A B …) from one modelled drive under the same conditions, and once
 * each from one without delay: the floor.
 */
#ifndef TR_COMPARE_H
#define TR_COMPARE_H

#include "trace/calibrate.h"
#include "trace/loader_cost.h"
#include "trace/measure.h"
#include "trace/simulate.h"
#include "trace/statistics.h"

enum { TR_RUNS_MAX = 100 };

typedef struct {
	const li_iso *iso;
	const li_entry *entry;
	const img_layer *layers; /* as in tr_boot_job */
	guint layer_count;
} tr_side;

typedef struct {
	tr_side sides[2];    /* A, B; borrowed */
	tr_boot_job options; /* what both have in common; the fields of tr_side are ignored */
	const struct tr_drive_params *drive;
	const tr_processor *processor;
	double slow_motion; /* 0: calibrated; KVM runs at 1 in any case */
	tr_firmware firmware;
	guint runs;
} tr_compare_job;

/* A piece of the medium that the read map names. */
typedef enum { TR_BAND_KERNEL, TR_BAND_INITRD, TR_BAND_IMAGE, TR_BAND_TABLES } tr_band_kind;
typedef struct {
	tr_band_kind kind;
	guint64 offset, length;
} tr_band;

typedef struct {
	char *path;
	char *sha256;
	guint64 size;
	char *volume_id;
	GArray *loader;    /* of tr_loader_file */
	GArray *bands;     /* of tr_band */
	GArray *runs;      /* of tr_measured */
	tr_measured floor; /* reads is NULL: none */
	guint typical;     /* index of the run whose total is nearest to the median */
	GPtrArray *drives; /* of tr_simulation *: the typical run on all profiles, in their order */
	char *whole_reads; /* words of the command line that make a boot read all, or NULL */
} tr_compared;

typedef struct {
	struct tr_drive_params drive; /* borrowed texts */
	const tr_processor *processor;
	tr_firmware firmware;
	double k;
	double calibrated; /* seconds of the fixed work in the guest; 0: k was given, or KVM */
	tr_accel accel;
	guint64 memory; /* bytes */
	guint cpus;
	tr_hardware hardware; /* borrowed texts */
	gint64 date;          /* seconds since 1970, when it began */
	char *qemu;           /* its version, or NULL */
	double load;          /* of this machine when it began: other work makes the times noisy */
	tr_compared sides[2];
	GPtrArray *missing; /* of char *: why the two did not start the same; empty: they did */
} tr_comparison;

gboolean tr_compare_check(const tr_compare_job *job, GError **error);

/*
 * A boot that fails ends the comparison: the error says which. If programs were started in all
 * boots of the one ISO and in none of the other, that is RO_ERROR_GUEST, too; the comparison is
 * complete then, and missing says which. Clear it in either case.
 */
gboolean tr_compare_run(const tr_compare_job *job, tr_comparison *comparison, GError **error);
void tr_comparison_clear(tr_comparison *comparison);

/* The values of all runs of a side, one each; owned by the caller. */
double *tr_compared_values(const tr_compared *side, tr_row row, tr_metric metric);
gboolean tr_compared_known(const tr_compared *side, tr_row row);

/* A / B. */
void tr_comparison_ratio(
	const tr_comparison *comparison, tr_row row, tr_metric metric, tr_ratio *ratio);

/* This machine had other work to do when the comparison began. */
gboolean tr_comparison_is_disturbed(const tr_comparison *comparison);

/* By how much the median of the total is above the floor, as a share of the floor. */
double tr_compared_above_floor(const tr_compared *side);

#endif
