/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/commands.h"

#include <stdio.h>

#include "reorder/compare_summary.h"
#include "reorder/util/json.h"
#include "trace/drive_file.h"
#include "trace/read_log.h"
#include "trace/simulate.h"

/* On the drive that was asked for, or on all profiles. */
static GArray *simulate(
	const ro_options *options, const GArray *reads, const tr_drive_choice *drive)
{
	GArray *results = g_array_new(FALSE, FALSE, sizeof(tr_simulation));
	double k = options->slow_motion > 0 ? options->slow_motion : 1;
	tr_simulation one;

	if (options->drive) {
		tr_simulate(reads, &drive->params, k, &one, NULL);
		g_array_append_val(results, one);
		return results;
	}
	for (const struct tr_drive_params *p = tr_drive_profiles; p->name; p++) {
		tr_simulate(reads, p, k, &one, NULL);
		g_array_append_val(results, one);
	}
	return results;
}

static void print(const GArray *results, FILE *out)
{
	fprintf(out, "%-8s %14s %14s %9s %12s %7s %10s\n", "drive", "seconds", "drive busy",
		"requests", "bytes", "jumps", "long seeks");
	for (guint i = 0; i < results->len; i++) {
		const tr_simulation *s = &g_array_index(results, tr_simulation, i);
		fprintf(out,
			"%-8s %14.6f %14.6f %9" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT
			" %7" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT "\n",
			s->params->name, s->seconds, s->busy, s->requests, s->bytes, s->jumps,
			s->long_seeks);
	}
}

static gboolean write_json(const ro_options *options, const GArray *results, GError **error)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	if (!options->json)
		return TRUE;
	json_builder_begin_object(b);
	ro_json_bytes(b, "version", REORDER_VERSION);
	ro_json_bytes(b, "log", options->input);
	json_builder_set_member_name(b, "simulated");
	json_builder_begin_array(b);
	for (guint i = 0; i < results->len; i++) {
		json_builder_begin_object(b);
		ro_simulation_json(&g_array_index(results, tr_simulation, i), b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	return ro_json_write(b, options->json, error);
}

static gboolean run(const ro_options *options, const tr_drive_choice *drive, GError **error)
{
	g_autoptr(GArray) reads = tr_read_log_read(options->input, error);

	if (!reads)
		return FALSE;
	g_autoptr(GArray) results = simulate(options, reads, drive);
	if (g_strcmp0(options->json, "-") != 0)
		print(results, stdout);
	return write_json(options, results, error);
}

gboolean ro_command_simulate(const ro_options *options, GError **error)
{
	tr_drive_choice drive = {0};
	gboolean ok = (!options->drive || tr_drive_choose(options->drive, &drive, error)) &&
		      run(options, &drive, error);

	tr_drive_choice_clear(&drive);
	return ok;
}
