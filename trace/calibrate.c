/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/calibrate.h"

#include <string.h>

#include "reorder/util/error.h"
#include "trace/boot-internal.h"
#include "trace/statistics.h"

/*
 * The reference is a 2.1 to 3.8 GHz server core of 2023 (Sapphire Rapids), where the work, built
 * like the agent, was measured; the other machines are scaled from it by published single-thread
 * scores (PassMark, rounded: Core 2 Duo P8400 850, Core i5-1135G7 2700, Core i5-12400 3500, the
 * server 2700).
 */
#define REFERENCE_SCORE 2700.0

const tr_processor tr_processors[] = {
	{"laptop2008", "Core 2 Duo, 2.3 GHz", TR_CALIBRATION_REFERENCE *REFERENCE_SCORE / 850},
	{"laptop", "Core i5 of 2020", TR_CALIBRATION_REFERENCE *REFERENCE_SCORE / 2700},
	{"desktop", "Core i5 of 2022", TR_CALIBRATION_REFERENCE *REFERENCE_SCORE / 3500},
	{NULL, NULL, 0},
};

/* Packed MB a second that one core of the reference unpacks: measured with the command line tools
 * on shared libraries at high levels. */
static const struct {
	const char *compression;
	double rate;
} unpackers[] = {
	{"gzip", 58},
	{"bzip2", 10},
	{"lzma", 19},
	{"xz", 19},
	{"lzo", 165},
	{"lz4", 800},
	{"zstd", 180},
};

const tr_processor *tr_processor_find(const char *name)
{
	for (const tr_processor *p = tr_processors; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static tr_accel accel_of(const tr_booted *b)
{
	return g_str_equal(b->accelerator, "kvm") ? TR_ACCEL_KVM : TR_ACCEL_TCG;
}

gboolean tr_calibrate(const tr_boot_job *job, tr_calibration *calibration, GError **error)
{
	g_auto(tr_booted) b = {.job = job, .calibrating = TRUE};
	tr_statistics rounds;

	if (!tr_booted_run(&b, error))
		return FALSE;
	if (b.end.round_count == 0)
		return ro_fail(error, RO_ERROR_GUEST,
			"the guest did not tell how fast its processor is; give the factor with --slow-motion");
	tr_statistics_of(b.end.rounds, b.end.round_count, &rounds);
	*calibration = (tr_calibration){rounds.median, accel_of(&b)};
	return TRUE;
}

double tr_unpacking_seconds(const tr_processor *processor, const char *compression, double packed)
{
	double slower = processor->seconds / TR_CALIBRATION_REFERENCE;

	if (g_str_equal(compression, "none"))
		return 0;
	for (guint i = 0; i < G_N_ELEMENTS(unpackers); i++)
		if (g_str_equal(unpackers[i].compression, compression))
			return packed / 1e6 / unpackers[i].rate * slower;
	return -1;
}
