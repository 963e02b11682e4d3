/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/compare_summary.h"

#include <math.h>

#include "reorder/util/escape.h"
#include "trace/compare_text.h"

/* --- for people --- */

static void print_side(const tr_compared *side, char letter, FILE *out)
{
	g_autofree char *path = ro_escape_utf8(side->path);

	fprintf(out, "%c  %s (%.1f MB, sha256 %.16s…)\n", letter, path, (double)side->size / 1e6,
		side->sha256);
}

static char *spread_text(const tr_compared *side, tr_row row, tr_metric metric)
{
	g_autofree double *values = tr_compared_values(side, row, metric);
	tr_statistics s;

	tr_statistics_of(values, side->runs->len, &s);
	g_autofree char *median = tr_metric_text(metric, s.median);
	g_autofree char *deviation = tr_metric_text(metric, s.deviation);
	return g_strdup_printf("%s ± %s", median, deviation);
}

/* Columns are counted in characters, and "±" is one of two bytes. */
static void print_line(
	const tr_comparison *c, const char *title, tr_row row, tr_metric metric, FILE *out)
{
	g_autofree char *a = spread_text(&c->sides[0], row, metric);
	g_autofree char *b = spread_text(&c->sides[1], row, metric);
	tr_ratio ratio;

	tr_comparison_ratio(c, row, metric, &ratio);
	g_autofree char *text = tr_ratio_text(&ratio);
	fprintf(out, "  %-15s %17s %17s", title, a, b);
	if (isfinite(ratio.value))
		fprintf(out, "  %5.2f  %s\n", ratio.value, text);
	else
		fprintf(out, "  %5s  %s\n", "-", text);
}

static void print_floor(const tr_comparison *c, FILE *out)
{
	const tr_compared *a = &c->sides[0], *b = &c->sides[1];

	fprintf(out, "  %-15s %16.2f %16.2f         above it: A %.0f %%, B %.0f %%\n",
		"without delay", a->floor.phases.value[TR_ROW_TOTAL][TR_METRIC_SECONDS],
		b->floor.phases.value[TR_ROW_TOTAL][TR_METRIC_SECONDS],
		100 * tr_compared_above_floor(a), 100 * tr_compared_above_floor(b));
}

static void print_table(const tr_comparison *c, FILE *out)
{
	fprintf(out, "  %-15s %16s %16s  %5s\n", "median ± sd", "A", "B", "A/B");
	for (int row = 0; row < TR_ROW_COUNT; row++) {
		gboolean known = tr_compared_known(&c->sides[0], (tr_row)row);
		if (known && (row != TR_ROW_KERNEL_TO_END ||
				     tr_compared_known(&c->sides[0], TR_PHASE_LOADER)))
			print_line(
				c, tr_row_title((tr_row)row), (tr_row)row, TR_METRIC_SECONDS, out);
	}
	print_floor(c, out);
	for (int metric = TR_METRIC_BUSY; metric < TR_METRIC_COUNT; metric++)
		print_line(c, tr_metric_title((tr_metric)metric), TR_ROW_TOTAL, (tr_metric)metric,
			out);
}

static void print_drives(const tr_comparison *c, FILE *out)
{
	const tr_compared *a = &c->sides[0], *b = &c->sides[1];

	fprintf(out, "\nThe same boots on all drives, simulated (seconds):\n");
	for (guint i = 0; i < a->drives->len; i++) {
		const tr_simulation *of_a = g_ptr_array_index(a->drives, i);
		const tr_simulation *of_b = g_ptr_array_index(b->drives, i);
		fprintf(out, "  %-15s %16.2f %16.2f  %5.2f  %s\n", of_a->params->name,
			of_a->seconds, of_b->seconds, of_a->seconds / of_b->seconds,
			of_a->params->about);
	}
}

static void print_loader(const tr_comparison *c, FILE *out)
{
	for (guint i = 0; i < 2; i++) {
		const GArray *files = c->sides[i].loader;
		double reading = 0, unpacking = 0, size = 0;
		for (guint f = 0; f < files->len; f++) {
			const tr_loader_file *file = &g_array_index(files, tr_loader_file, f);
			size += (double)file->size;
			reading += file->read_seconds;
			unpacking += MAX(file->unpack_seconds, 0);
		}
		fprintf(out,
			"%s%c: kernel and initrds %.1f MB; estimated: %.1f s to read, %.1f s to unpack\n",
			i ? "" : "\n", 'A' + (int)i, size / 1e6, reading, unpacking);
	}
}

void ro_compare_summary_print(const tr_comparison *c, FILE *out)
{
	g_autofree char *headline = tr_comparison_headline(c);
	g_autofree char *conditions = tr_comparison_conditions(c);
	g_autoptr(GPtrArray) notes = tr_comparison_notes(c);

	fprintf(out, "%s.\n\n", headline);
	print_side(&c->sides[0], 'A', out);
	print_side(&c->sides[1], 'B', out);
	fprintf(out, "%s\n\n", conditions);
	print_table(c, out);
	print_drives(c, out);
	print_loader(c, out);
	for (guint i = 0; i < notes->len; i++)
		fprintf(out, "%s\n", (char *)g_ptr_array_index(notes, i));
}

/* --- JSON --- */

static void begin(JsonBuilder *b, const char *name)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
}

/* JSON has no infinity. */
static void json_number(JsonBuilder *b, const char *name, double value)
{
	json_builder_set_member_name(b, name);
	if (isfinite(value))
		json_builder_add_double_value(b, value);
	else
		json_builder_add_null_value(b);
}

static void json_metrics(JsonBuilder *b, const double *values)
{
	for (int m = 0; m < TR_METRIC_COUNT; m++) {
		const char *name = tr_metric_name((tr_metric)m);
		if (m == TR_METRIC_SECONDS || m == TR_METRIC_BUSY)
			json_number(b, name, values[m]);
		else
			ro_json_int(b, name, (gint64)values[m]);
	}
}

static void json_phases(JsonBuilder *b, const tr_phases *phases)
{
	for (int row = 0; row < TR_ROW_COUNT; row++) {
		if (!phases->known[row])
			continue;
		begin(b, tr_row_name((tr_row)row));
		json_metrics(b, phases->value[row]);
		json_builder_end_object(b);
	}
}

static void json_measured(JsonBuilder *b, const tr_measured *m)
{
	json_builder_begin_object(b);
	ro_json_bytes(b, "end_reason", m->end_reason);
	ro_json_int(b, "programs", m->programs ? (gint64)g_hash_table_size(m->programs) : -1);
	json_number(b, "initramfs_unpack_seconds", m->unpacked >= 0 ? m->unpacked : NAN);
	json_number(b, "menu_wait_seconds", m->phases.waited);
	begin(b, "phases");
	json_phases(b, &m->phases);
	json_builder_end_object(b);
	json_builder_end_object(b);
}

static void json_loader(JsonBuilder *b, const GArray *files)
{
	json_builder_set_member_name(b, "loader_files");
	json_builder_begin_array(b);
	for (guint i = 0; i < files->len; i++) {
		const tr_loader_file *file = &g_array_index(files, tr_loader_file, i);
		json_builder_begin_object(b);
		ro_json_bytes(b, "path", file->path);
		ro_json_int(b, "size", (gint64)file->size);
		ro_json_bytes(b, "compression", file->compression);
		json_number(b, "estimated_read_seconds", file->read_seconds);
		json_number(b, "estimated_unpack_seconds",
			file->unpack_seconds >= 0 ? file->unpack_seconds : NAN);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

void ro_simulation_json(const tr_simulation *s, JsonBuilder *b)
{
	ro_json_bytes(b, "drive", s->params->name);
	json_number(b, "seconds", s->seconds);
	json_number(b, "busy_seconds", s->busy);
	ro_json_int(b, "requests", (gint64)s->requests);
	ro_json_int(b, "bytes", (gint64)s->bytes);
	ro_json_int(b, "jumps", (gint64)s->jumps);
	ro_json_int(b, "long_seeks", (gint64)s->long_seeks);
}

static void json_runs(JsonBuilder *b, const tr_compared *side)
{
	json_builder_set_member_name(b, "runs");
	json_builder_begin_array(b);
	for (guint i = 0; i < side->runs->len; i++)
		json_measured(b, &g_array_index(side->runs, tr_measured, i));
	json_builder_end_array(b);
	json_builder_set_member_name(b, "simulated");
	json_builder_begin_array(b);
	for (guint i = 0; i < side->drives->len; i++) {
		json_builder_begin_object(b);
		ro_simulation_json(g_ptr_array_index(side->drives, i), b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void json_side(JsonBuilder *b, const char *name, const tr_compared *side)
{
	const tr_measured *first =
		side->runs->len ? &g_array_index(side->runs, tr_measured, 0) : NULL;

	begin(b, name);
	ro_json_bytes(b, "path", side->path);
	ro_json_int(b, "size", (gint64)side->size);
	ro_json_bytes(b, "sha256", side->sha256);
	ro_json_bytes(b, "volume_id", side->volume_id);
	ro_json_bytes(b, "kernel", first ? first->kernel : NULL);
	ro_json_bytes(b, "cmdline", first ? first->cmdline : NULL);
	ro_json_bytes(b, "reads_whole_medium", side->whole_reads);
	json_loader(b, side->loader);
	json_runs(b, side);
	json_builder_set_member_name(b, "floor");
	json_measured(b, &side->floor);
	json_number(b, "above_floor", tr_compared_above_floor(side));
	json_builder_end_object(b);
}

static void json_statistics(
	JsonBuilder *b, const char *name, const tr_compared *side, tr_row row, tr_metric metric)
{
	g_autofree double *values = tr_compared_values(side, row, metric);
	tr_statistics s;

	tr_statistics_of(values, side->runs->len, &s);
	begin(b, name);
	json_number(b, "median", s.median);
	json_number(b, "mean", s.mean);
	json_number(b, "sd", s.deviation);
	json_number(b, "min", s.minimum);
	json_number(b, "max", s.maximum);
	json_builder_end_object(b);
}

static void json_result(JsonBuilder *b, const tr_comparison *c, tr_row row, tr_metric metric)
{
	tr_ratio ratio;

	tr_comparison_ratio(c, row, metric, &ratio);
	begin(b, tr_metric_name(metric));
	json_statistics(b, "a", &c->sides[0], row, metric);
	json_statistics(b, "b", &c->sides[1], row, metric);
	json_number(b, "ratio", ratio.value);
	json_number(b, "low", ratio.low);
	json_number(b, "high", ratio.high);
	ro_json_bytes(b, "verdict", tr_verdict_name(ratio.verdict));
	json_builder_end_object(b);
}

static void json_results(JsonBuilder *b, const tr_comparison *c)
{
	begin(b, "results");
	for (int row = 0; row < TR_ROW_COUNT; row++) {
		if (!tr_compared_known(&c->sides[0], (tr_row)row))
			continue;
		begin(b, tr_row_name((tr_row)row));
		for (int m = 0; m < TR_METRIC_COUNT; m++)
			json_result(b, c, (tr_row)row, (tr_metric)m);
		json_builder_end_object(b);
	}
	json_builder_end_object(b);
}

static void json_conditions(JsonBuilder *b, const tr_comparison *c)
{
	g_autofree char *devices = tr_hardware_devices(&c->hardware);

	begin(b, "drive");
	ro_json_bytes(b, "name", c->drive.name);
	for (size_t i = 0; tr_drive_param_name(i); i++)
		json_number(b, tr_drive_param_name(i), tr_drive_param_get(&c->drive, i));
	json_builder_end_object(b);
	ro_json_bytes(b, "firmware", tr_firmware_name(c->firmware));
	ro_json_bytes(b, "accelerator", c->accel == TR_ACCEL_KVM ? "kvm" : "tcg");
	ro_json_int(b, "memory", (gint64)c->memory);
	ro_json_int(b, "cpus", c->cpus);
	ro_json_bytes(b, "machine", tr_chipset_name(c->hardware.chipset));
	ro_json_bytes(b, "devices", devices);
	ro_json_bytes(b, "cpu_model", c->hardware.cpu_model);
	ro_json_bytes(b, "qemu", c->qemu);
	json_number(b, "host_load", c->load);
	ro_json_int(b, "date", c->date);
	ro_json_bytes(b, "cpu", c->processor->name);
	json_number(b, "slow_motion", c->k);
	json_number(b, "calibration_seconds", c->calibrated > 0 ? c->calibrated : NAN);
}

void ro_compare_summary_json(const tr_comparison *c, JsonBuilder *b)
{
	g_autofree char *headline = tr_comparison_headline(c);

	json_builder_begin_object(b);
	ro_json_bytes(b, "version", REORDER_VERSION);
	ro_json_bytes(b, "headline", headline);
	json_conditions(b, c);
	json_side(b, "a", &c->sides[0]);
	json_side(b, "b", &c->sides[1]);
	json_results(b, c);
	json_builder_set_member_name(b, "missing");
	json_builder_begin_array(b);
	for (guint i = 0; i < c->missing->len; i++) {
		g_autofree char *text = ro_escape_utf8(g_ptr_array_index(c->missing, i));
		json_builder_add_string_value(b, text);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
}
