/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/hash.h"
#include "reorder/util/interrupt.h"
#include "trace/cmdline.h"
#include "trace/qemu.h"

enum { MISSING_SHOWN = 12, CPUS = 2 };

static const double load_limit = 0.7;

/* --- the two ISOs --- */

static gboolean hash_iso(const li_iso *iso, char **sha256, GError **error)
{
	g_autoptr(ro_hash) hash = ro_hash_new(RO_HASH_SHA256);
	g_autofree guint8 *buffer = g_malloc(1 << 20);

	for (guint64 at = 0; at < iso->file_size;) {
		ssize_t n = pread(iso->fd, buffer, 1 << 20, (off_t)at);
		if (ro_interrupted(error))
			return FALSE;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ro_fail_errno(error, n < 0 ? errno : EIO, "%s: read", iso->path);
		ro_hash_add(hash, buffer, (gsize)n);
		at += (guint64)n;
	}
	*sha256 = ro_hash_hex(hash);
	return TRUE;
}

static void add_band(GArray *bands, tr_band_kind kind, guint64 offset, guint64 length)
{
	tr_band band = {kind, offset, length};

	g_array_append_val(bands, band);
}

static void add_image(GArray *bands, const li_iso *iso, const img_layer *layer)
{
	const li_file *file = li_iso_find(iso, layer->name);
	guint64 start = file->extents[0].offset;
	guint64 tables = img_tree_metadata_start(layer->tree);
	guint64 used = img_tree_super(layer->tree)->bytes_used;

	add_band(bands, TR_BAND_IMAGE, start, file->size);
	add_band(bands, TR_BAND_TABLES, start + tables, used - tables);
}

static GArray *bands_of(const tr_side *side, const GArray *loader)
{
	GArray *bands = g_array_new(FALSE, FALSE, sizeof(tr_band));

	for (guint i = 0; i < loader->len; i++) {
		const tr_loader_file *file = &g_array_index(loader, tr_loader_file, i);
		add_band(bands, file->is_kernel ? TR_BAND_KERNEL : TR_BAND_INITRD, file->offset,
			file->size);
	}
	for (guint i = 0; i < side->layer_count; i++)
		add_image(bands, side->iso, &side->layers[i]);
	return bands;
}

/* What is taken out for a direct boot; a boot by firmware has it. */
static char *whole_reads(const tr_side *side)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	tr_cmdline_job job = {.original = side->entry->cmdline, .dropped = words};
	g_autofree char *ignored = tr_cmdline_new(&job, NULL);

	if (words->len == 0)
		return NULL;
	g_ptr_array_add(words, NULL);
	return g_strjoinv(" ", (char **)words->pdata);
}

static void clear_measured(gpointer data)
{
	tr_measured_clear(data);
}

static gboolean describe(
	const tr_compare_job *job, const tr_side *side, tr_compared *compared, GError **error)
{
	const li_iso *iso = side->iso;

	compared->path = g_strdup(iso->path);
	compared->size = iso->file_size;
	compared->volume_id = g_strdup(iso->volume.volume_id);
	compared->runs = g_array_new(FALSE, FALSE, sizeof(tr_measured));
	g_array_set_clear_func(compared->runs, clear_measured);
	compared->drives = g_ptr_array_new_with_free_func(g_free);
	compared->whole_reads = whole_reads(side);
	compared->loader = tr_loader_files(iso, side->entry, job->drive, job->processor, error);
	if (!compared->loader)
		return FALSE;
	compared->bands = bands_of(side, compared->loader);
	return hash_iso(iso, &compared->sha256, error);
}

/* --- boots --- */

static tr_boot_job boot_job(const tr_compare_job *job, const tr_side *side)
{
	tr_boot_job boot = job->options;

	boot.iso = side->iso;
	boot.entry = side->entry;
	boot.layers = side->layers;
	boot.layer_count = side->layer_count;
	return boot;
}

static tr_measure_job measure_job(
	const tr_compare_job *job, const tr_comparison *c, const tr_side *side)
{
	tr_measure_job measure = {.boot = boot_job(job, side),
		.drive = job->drive,
		.k = c->k,
		.firmware = job->firmware};

	measure.boot.accel = c->accel;
	measure.boot.memory = c->memory;
	measure.boot.cpus = c->cpus;
	return measure;
}

gboolean tr_compare_check(const tr_compare_job *job, GError **error)
{
	for (guint i = 0; i < 2; i++) {
		tr_measure_job measure = {
			.boot = boot_job(job, &job->sides[i]), .firmware = job->firmware};
		if (!tr_measure_check(&measure, error))
			return FALSE;
	}
	return TRUE;
}

/* The same for both sides. */
static void choose_machine(const tr_compare_job *job, tr_comparison *c)
{
	for (guint i = 0; i < 2; i++) {
		tr_boot_job boot = boot_job(job, &job->sides[i]);
		c->memory = MAX(c->memory, tr_boot_memory(&boot));
	}
	c->cpus = job->options.cpus ? job->options.cpus : CPUS;
	c->hardware = job->options.hardware;
	c->drive = *job->drive;
	c->processor = job->processor;
	c->date = g_get_real_time() / G_USEC_PER_SEC;
	c->qemu = tr_qemu_version();
	if (getloadavg(&c->load, 1) != 1)
		c->load = 0;
	c->firmware = job->firmware;
	c->k = 1;
}

/* Nothing has to be found out where the accelerator and the factor are given. */
static gboolean needs_calibration(const tr_compare_job *job)
{
	if (job->options.accel == TR_ACCEL_AUTO)
		return TRUE;
	return job->options.accel == TR_ACCEL_TCG && job->slow_motion <= 0;
}

static gboolean choose_accelerator(const tr_compare_job *job, tr_comparison *c, GError **error)
{
	tr_boot_job boot = boot_job(job, &job->sides[0]);
	tr_calibration calibration = {.accel = job->options.accel};

	ro_progress_begin(job->options.progress, "calibrate");
	if (needs_calibration(job) && !tr_calibrate(&boot, &calibration, error))
		return FALSE;
	c->accel = calibration.accel;
	c->calibrated = calibration.seconds;
	return TRUE;
}

gboolean tr_comparison_is_disturbed(const tr_comparison *c)
{
	return c->load > load_limit;
}

static gboolean calibrate(const tr_compare_job *job, tr_comparison *c, GError **error)
{
	ro_progress *progress = job->options.progress;

	if (!choose_accelerator(job, c, error))
		return FALSE;
	if (c->accel == TR_ACCEL_KVM) {
		if (job->slow_motion > 0)
			ro_warn("--slow-motion: not with KVM, whose clock is the real one; use --accel tcg");
		ro_progress_end(progress, "KVM: the wall clock serves");
		return TRUE;
	}
	c->k = c->calibrated / job->processor->seconds;
	if (job->slow_motion > 0) {
		c->k = job->slow_motion;
		c->calibrated = 0;
	}
	g_autofree char *text = g_strdup_printf("slow motion by %.2f (%s)", c->k,
		job->slow_motion > 0 ? "given" : job->processor->name);
	ro_progress_end(progress, text);
	return TRUE;
}

/* Puts before the message which boot it was. */
static gboolean name_boot(GError **error, const char *path, const char *which)
{
	if (error)
		g_prefix_error(error, "%s, %s: ", path, which);
	return FALSE;
}

static void report_boot(ro_progress *progress, const tr_measured *m)
{
	const double *value = m->phases.value[TR_ROW_TOTAL];
	g_autofree char *text =
		g_strdup_printf("%.1f s, %.0f requests, %.0f long seeks, drive busy %.1f s",
			value[TR_METRIC_SECONDS], value[TR_METRIC_REQUESTS], value[TR_METRIC_SEEKS],
			value[TR_METRIC_BUSY]);

	ro_progress_end(progress, text);
}

static gboolean boot_once(const tr_compare_job *job, tr_comparison *c, guint side,
	const struct tr_drive_params *drive, const char *which, tr_measured *measured,
	GError **error)
{
	static const char *const stages[] = {"boot A", "boot B"};
	tr_measure_job measure = measure_job(job, c, &job->sides[side]);

	measure.drive = drive;
	ro_progress_begin(job->options.progress, stages[side]);
	if (!tr_boot_run_measured(&measure, measured, error))
		return name_boot(error, c->sides[side].path, which);
	report_boot(job->options.progress, measured);
	return TRUE;
}

static gboolean boot_floors(const tr_compare_job *job, tr_comparison *c, GError **error)
{
	for (guint side = 0; side < 2; side++)
		if (!boot_once(job, c, side, tr_drive_find("none"), "the boot without delay",
			    &c->sides[side].floor, error))
			return FALSE;
	return TRUE;
}

static gboolean boot_all(const tr_compare_job *job, tr_comparison *c, GError **error)
{
	for (guint i = 0; i < 2 * job->runs; i++) {
		tr_measured measured;
		g_autofree char *which = g_strdup_printf("boot %u of %u", i / 2 + 1, job->runs);
		if (!boot_once(job, c, i % 2, job->drive, which, &measured, error))
			return FALSE;
		g_array_append_val(c->sides[i % 2].runs, measured);
	}
	return TRUE;
}

/* --- what came of it --- */

double *tr_compared_values(const tr_compared *side, tr_row row, tr_metric metric)
{
	double *values = g_new(double, MAX(side->runs->len, 1));

	for (guint i = 0; i < side->runs->len; i++)
		values[i] = g_array_index(side->runs, tr_measured, i).phases.value[row][metric];
	return values;
}

gboolean tr_compared_known(const tr_compared *side, tr_row row)
{
	return side->runs->len > 0 && g_array_index(side->runs, tr_measured, 0).phases.known[row];
}

void tr_comparison_ratio(
	const tr_comparison *comparison, tr_row row, tr_metric metric, tr_ratio *ratio)
{
	const tr_compared *a = &comparison->sides[0], *b = &comparison->sides[1];
	g_autofree double *of_a = tr_compared_values(a, row, metric);
	g_autofree double *of_b = tr_compared_values(b, row, metric);

	tr_ratio_of(of_a, a->runs->len, of_b, b->runs->len, ratio);
}

static double median_total(const tr_compared *side)
{
	g_autofree double *totals = tr_compared_values(side, TR_ROW_TOTAL, TR_METRIC_SECONDS);
	tr_statistics statistics;

	tr_statistics_of(totals, side->runs->len, &statistics);
	return statistics.median;
}

double tr_compared_above_floor(const tr_compared *side)
{
	double floor = side->floor.phases.value[TR_ROW_TOTAL][TR_METRIC_SECONDS];

	return floor > 0 ? median_total(side) / floor - 1 : 0;
}

/* What could not be seen in one boot is not told apart in any. */
static void fold_initramfs(tr_comparison *c)
{
	gboolean known = TRUE;

	for (guint i = 0; i < 2 * c->sides[0].runs->len; i++)
		known &= g_array_index(c->sides[i % 2].runs, tr_measured, i / 2)
				 .phases.known[TR_PHASE_INITRAMFS];
	for (guint i = 0; !known && i < 2 * c->sides[0].runs->len; i++) {
		tr_measured *run = &g_array_index(c->sides[i % 2].runs, tr_measured, i / 2);
		tr_phases_fold(&run->phases, &run->marks, TR_PHASE_INITRAMFS);
	}
	for (guint i = 0; !known && i < 2; i++)
		tr_phases_fold(
			&c->sides[i].floor.phases, &c->sides[i].floor.marks, TR_PHASE_INITRAMFS);
}

static void find_typical(tr_compared *side)
{
	g_autofree double *totals = tr_compared_values(side, TR_ROW_TOTAL, TR_METRIC_SECONDS);
	double median = median_total(side);

	for (guint i = 1; i < side->runs->len; i++)
		if (ABS(totals[i] - median) < ABS(totals[side->typical] - median))
			side->typical = i;
}

/* The typical run on every profile. What the guest did behind its last read takes as long as it
 * did. */
static void simulate_drives(tr_compared *side)
{
	const tr_measured *run = &g_array_index(side->runs, tr_measured, side->typical);
	double last = 0;

	for (guint i = 0; i < run->reads->len; i++) {
		const tr_read *read = &g_array_index(run->reads, tr_read, i);
		last = MAX(last, read->time) + read->delay;
	}
	double rest = MAX(run->marks.at[TR_PHASE_COUNT] - last, 0) - run->phases.waited;
	for (const struct tr_drive_params *p = tr_drive_profiles; p->name; p++) {
		tr_simulation *simulation = g_new0(tr_simulation, 1);
		tr_simulate(run->reads, p, 1, simulation, NULL);
		simulation->seconds += rest;
		g_ptr_array_add(side->drives, simulation);
	}
}

static gboolean in_a_run(const GArray *runs, const char *program)
{
	for (guint i = 0; i < runs->len; i++)
		if (g_hash_table_contains(g_array_index(runs, tr_measured, i).programs, program))
			return TRUE;
	return FALSE;
}

static gboolean in_all_runs(const GArray *runs, const char *program)
{
	for (guint i = 0; i < runs->len; i++)
		if (!g_hash_table_contains(g_array_index(runs, tr_measured, i).programs, program))
			return FALSE;
	return TRUE;
}

/* Programs that the one always starts and the other never. */
static void find_missing(const tr_compared *has, const tr_compared *lacks, GPtrArray *missing)
{
	const tr_measured *floor = &has->floor;
	g_autoptr(GList) programs = floor->programs ? g_hash_table_get_keys(floor->programs) : NULL;

	programs = g_list_sort(programs, (GCompareFunc)strcmp);
	for (GList *l = programs; l; l = l->next)
		if (in_all_runs(has->runs, l->data) && !in_a_run(lacks->runs, l->data) &&
			!g_hash_table_contains(lacks->floor.programs, l->data))
			g_ptr_array_add(missing,
				g_strdup_printf("%s: never started /%s, which %s always does",
					lacks->path, (char *)l->data, has->path));
}

static gboolean check_missing(const tr_comparison *c, GError **error)
{
	const GPtrArray *missing = c->missing;
	g_autoptr(GString) text = g_string_new(NULL);

	if (missing->len == 0)
		return TRUE;
	for (guint i = 0; i < MIN(missing->len, MISSING_SHOWN); i++)
		g_string_append_printf(text, "\n  %s", (char *)g_ptr_array_index(missing, i));
	return ro_fail(error, RO_ERROR_GUEST,
		"the two ISOs do not boot to the same system (%u programs): the times say nothing%s\nthe last lines of B's console:\n%s",
		missing->len, text->str, g_array_index(c->sides[1].runs, tr_measured, 0).console);
}

static gboolean evaluate(tr_comparison *c, GError **error)
{
	fold_initramfs(c);
	for (guint i = 0; i < 2; i++) {
		find_typical(&c->sides[i]);
		simulate_drives(&c->sides[i]);
	}
	find_missing(&c->sides[0], &c->sides[1], c->missing);
	find_missing(&c->sides[1], &c->sides[0], c->missing);
	return check_missing(c, error);
}

gboolean tr_compare_run(const tr_compare_job *job, tr_comparison *comparison, GError **error)
{
	*comparison = (tr_comparison){.missing = g_ptr_array_new_with_free_func(g_free)};
	choose_machine(job, comparison);
	if (tr_comparison_is_disturbed(comparison))
		ro_warn("this machine has other work (load %.1f): the times will be noisy",
			comparison->load);
	for (guint i = 0; i < 2; i++)
		if (!describe(job, &job->sides[i], &comparison->sides[i], error))
			return FALSE;
	return calibrate(job, comparison, error) && boot_floors(job, comparison, error) &&
	       boot_all(job, comparison, error) && evaluate(comparison, error);
}

static void clear_side(tr_compared *side)
{
	g_free(side->path);
	g_free(side->sha256);
	g_free(side->volume_id);
	g_free(side->whole_reads);
	g_clear_pointer(&side->loader, g_array_unref);
	g_clear_pointer(&side->bands, g_array_unref);
	g_clear_pointer(&side->runs, g_array_unref);
	g_clear_pointer(&side->drives, g_ptr_array_unref);
	tr_measured_clear(&side->floor);
}

void tr_comparison_clear(tr_comparison *comparison)
{
	clear_side(&comparison->sides[0]);
	clear_side(&comparison->sides[1]);
	g_clear_pointer(&comparison->missing, g_ptr_array_unref);
	g_clear_pointer(&comparison->qemu, g_free);
}
