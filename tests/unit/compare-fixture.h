/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison as it could come of two boots: A reads here and there, B most of it in a row. Made
 * with the real drive model, without a machine, always the same.
 */
#ifndef COMPARE_FIXTURE_H
#define COMPARE_FIXTURE_H

#include "trace/compare.h"

#define MB 1000000ull

static guint32 fixture_random(guint32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Reads of a boot that thinks as long in each run, up to a jitter. */
static GArray *fixture_reads(
	gboolean ordered, guint run, const struct tr_drive_params *params, double *end)
{
	GArray *reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	guint32 random = 7, jitter = run + 1;
	guint64 next = 262 * MB;
	struct tr_drive drive;
	double now = 6.5;

	tr_drive_init(&drive, params, 300 * MB);
	for (guint i = 0; i < (ordered ? 420 : 640); i++) {
		guint64 length = 4096ull << fixture_random(&random) % 6;
		gboolean far = fixture_random(&random) % (ordered ? 12 : 2) == 0;
		guint64 offset = far ? 62 * MB + fixture_random(&random) % 2300 * (MB / 10) : next;
		if (i < 20) /* the probing of the disc */
			offset = fixture_random(&random) % 300 * MB;
		tr_read read = {now, offset, length, 0};
		read.delay = tr_drive_read(&drive, now, offset, length, NULL);
		g_array_append_val(reads, read);
		if (!far || !ordered)
			next = offset + length;
		now += read.delay + 0.02 + (fixture_random(&jitter) % 100) * 1e-4 + run * 4e-4;
	}
	*end = now + 1.5;
	return reads;
}

static tr_measured fixture_run(gboolean ordered, guint run, const struct tr_drive_params *params)
{
	tr_measured m = {.unpacked = 1.9, .end_reason = "console"};
	double end;

	m.reads = fixture_reads(ordered, run, params, &end);
	m.marks = (tr_marks){.at = {0, 0, 5.5 + 0.01 * run, 10 + 0.02 * run, end}};
	tr_phases_of(m.reads, params, &m.marks, &m.phases);
	m.programs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_hash_table_add(m.programs, g_strdup("usr/bin/dash"));
	m.kernel = g_strdup("6.1.0-57-amd64");
	m.cmdline = g_strdup("boot=live components quiet console=tty0 \"a=<b>&'c'\"");
	m.dropped = g_ptr_array_new_with_free_func(g_free);
	m.console = g_strdup("  debian login:\n");
	return m;
}

static void fixture_clear_measured(gpointer data)
{
	tr_measured_clear(data);
}

static void fixture_clear_file(gpointer data)
{
	tr_loader_file *file = data;

	g_free(file->path);
	g_free(file->compression);
}

static void fixture_loader(tr_compared *side)
{
	tr_loader_file kernel = {
		g_strdup("/live/vmlinuz"), TRUE, 1 * MB, 8 * MB, g_strdup("xz"), 5.2, 0.9};
	tr_loader_file initrd = {g_strdup("/live/initrd.img"), FALSE, 9 * MB, 42 * MB,
		g_strdup("none + zstd"), 22.5, -1};

	side->loader = g_array_new(FALSE, FALSE, sizeof(tr_loader_file));
	g_array_set_clear_func(side->loader, fixture_clear_file);
	g_array_append_val(side->loader, kernel);
	g_array_append_val(side->loader, initrd);
}

static void fixture_bands(tr_compared *side)
{
	static const tr_band bands[] = {{TR_BAND_KERNEL, 1 * MB, 8 * MB},
		{TR_BAND_INITRD, 9 * MB, 42 * MB}, {TR_BAND_IMAGE, 60 * MB, 238 * MB},
		{TR_BAND_TABLES, 296 * MB, 2 * MB}};

	side->bands = g_array_new(FALSE, FALSE, sizeof(tr_band));
	g_array_append_vals(side->bands, bands, G_N_ELEMENTS(bands));
}

static void fixture_side(tr_compared *side, const char *path, gboolean ordered, guint runs)
{
	*side = (tr_compared){.path = g_strdup(path), .size = 300 * MB};
	side->sha256 = g_strdup("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	side->volume_id = g_strdup("REORDER_DEMO_12");
	fixture_loader(side);
	fixture_bands(side);
	side->runs = g_array_new(FALSE, FALSE, sizeof(tr_measured));
	g_array_set_clear_func(side->runs, fixture_clear_measured);
	for (guint i = 0; i < runs; i++) {
		tr_measured m = fixture_run(ordered, i, tr_drive_find("cd"));
		g_array_append_val(side->runs, m);
	}
	side->floor = fixture_run(ordered, 0, tr_drive_find("none"));
	side->drives = g_ptr_array_new_with_free_func(g_free);
	for (const struct tr_drive_params *p = tr_drive_profiles; p->name; p++) {
		tr_simulation *s = g_new0(tr_simulation, 1);
		tr_simulate(g_array_index(side->runs, tr_measured, 0).reads, p, 1, s, NULL);
		g_ptr_array_add(side->drives, s);
	}
}

static void fixture_comparison(tr_comparison *c, gboolean ordered, guint runs)
{
	*c = (tr_comparison){
		.drive = *tr_drive_find("cd"),
		.processor = &tr_processors[0],
		.k = 4.8,
		.calibrated = 0.47,
		.accel = TR_ACCEL_TCG,
		.memory = 2048ull << 20,
		.cpus = 2,
		.date = 1700000000,
		.qemu = g_strdup("7.2.22"),
		.missing = g_ptr_array_new_with_free_func(g_free),
	};
	fixture_side(&c->sides[0], "images/debian <live> & co.iso", FALSE, runs);
	fixture_side(&c->sides[1], "images/faster.iso", ordered, runs);
}

#endif
