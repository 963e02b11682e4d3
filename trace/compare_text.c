/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/compare_text.h"

#include <math.h>

static const double megabyte = 1e6;

const char *tr_row_title(tr_row row)
{
	static const char *const titles[TR_ROW_COUNT] = {
		"loader", "kernel", "initramfs", "userspace", "kernel to end", "total"};

	return titles[row];
}

const char *tr_metric_title(tr_metric metric)
{
	static const char *const titles[TR_METRIC_COUNT] = {
		"seconds", "drive busy, s", "requests", "MB read", "long seeks"};

	return titles[metric];
}

char *tr_metric_text(tr_metric metric, double value)
{
	switch (metric) {
	case TR_METRIC_SECONDS:
	case TR_METRIC_BUSY:
		return g_strdup_printf("%.2f", value);
	case TR_METRIC_BYTES:
		return g_strdup_printf("%.1f", value / megabyte);
	default:
		/* A median of two may lie between two counts. */
		return g_strdup_printf(value == floor(value) ? "%.0f" : "%.1f", value);
	}
}

char *tr_ratio_text(const tr_ratio *ratio)
{
	switch (ratio->verdict) {
	case TR_RATIO_NONE:
		return g_strdup("");
	case TR_RATIO_SINGLE:
		return g_strdup("single boots");
	case TR_RATIO_NOISE:
		return g_strdup_printf("%.2f to %.2f, within the noise", ratio->low, ratio->high);
	default:
		return g_strdup_printf("%.2f to %.2f", ratio->low, ratio->high);
	}
}

char *tr_comparison_headline(const tr_comparison *comparison)
{
	tr_ratio r;

	tr_comparison_ratio(comparison, TR_ROW_TOTAL, TR_METRIC_SECONDS, &r);
	switch (r.verdict) {
	case TR_RATIO_BETTER:
		return g_strdup_printf(
			"B starts %.2f times as fast as A (95 %% interval: %.2f to %.2f)", r.value,
			r.low, r.high);
	case TR_RATIO_WORSE:
		return g_strdup_printf(
			"B starts slower: it takes %.2f times as long as A (95 %% interval: %.2f to %.2f)",
			1 / r.value, 1 / r.high, 1 / r.low);
	case TR_RATIO_SINGLE:
		return g_strdup_printf(
			"A takes %.2f times as long as B, in a single boot of each: nothing is known about the noise",
			r.value);
	default:
		return g_strdup_printf(
			"No difference: A / B = %.2f is within the noise (95 %% interval: %.2f to %.2f)",
			r.value, r.low, r.high);
	}
}

static char *motion_text(const tr_comparison *c)
{
	if (c->accel == TR_ACCEL_KVM)
		return g_strdup("KVM, wall clock");
	if (c->calibrated <= 0)
		return g_strdup_printf("emulated, slow motion by %.2f (given)", c->k);
	return g_strdup_printf("emulated, slow motion by %.2f (calibrated for %s, %s)", c->k,
		c->processor->name, c->processor->about);
}

char *tr_comparison_conditions(const tr_comparison *c)
{
	static const char *const starts[] = {"kernel started directly, without a boot loader",
		"started by SeaBIOS", "started by OVMF (UEFI)"};
	g_autofree char *motion = motion_text(c);
	guint runs = c->sides[0].runs->len;

	return g_strdup_printf("drive %s (%s); %s; %s; %u %s of each", c->drive.name,
		c->drive.about, starts[c->firmware], motion, runs, runs == 1 ? "boot" : "boots");
}

static void note(GPtrArray *notes, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void note(GPtrArray *notes, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(notes, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}

static void note_whole_reads(const tr_comparison *c, GPtrArray *notes)
{
	for (guint i = 0; i < 2; i++) {
		const char *words = c->sides[i].whole_reads;
		if (!words)
			continue;
		note(notes,
			"%c reads its whole medium when it starts (%s on its command line): the order of the files cannot help there%s.",
			'A' + (int)i, words,
			c->firmware == TR_FIRMWARE_DIRECT
				? "; these boots were measured without these words"
				: "");
	}
}

GPtrArray *tr_comparison_notes(const tr_comparison *c)
{
	GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

	note_whole_reads(c, notes);
	if (tr_comparison_is_disturbed(c))
		note(notes,
			"The machine that ran this had other work (load %.1f when it began): the times are noisier than they need be.",
			c->load);
	if (c->accel != TR_ACCEL_KVM)
		note(notes,
			"All times are those of the modelled machine: the guest ran %.2f times slower, the drive's delays were stretched by as much, and every time is divided by it. The guest's own timers do not stretch, so that long sleeps weigh a little too little.",
			c->k);
	if (c->firmware == TR_FIRMWARE_DIRECT)
		note(notes,
			"The loader's time is not measured in a direct boot; reading and unpacking kernel and initrd are estimates.");
	if (c->firmware != TR_FIRMWARE_DIRECT)
		note(notes,
			"There is no agent in a boot through the firmware. The loader begins with the first read of its boot image, without the longest pause before it reads the kernel (the menu); the starts of the kernel and of /init are seen by the mode of the processors, up to twenty times a second; the initramfs ends with the first read of the live image; which programs start is not known.");
	return notes;
}
