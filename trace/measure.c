/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/measure.h"

#include "reorder/util/error.h"
#include "trace/boot-internal.h"
#include "trace/drive_file.h"
#include "trace/firmware.h"

const char *tr_firmware_name(tr_firmware firmware)
{
	static const char *const names[] = {"direct", "bios", "uefi"};

	return names[firmware];
}

gboolean tr_measure_check(const tr_measure_job *job, GError **error)
{
	if (job->firmware != TR_FIRMWARE_DIRECT)
		return tr_firmware_check(job, error);
	return tr_boot_check(&job->boot, error);
}

static gboolean is_program(const tr_boot_job *job, const tr_event *event)
{
	const img_layer *layer = img_layer_named(job->layers, job->layer_count, event->image);
	guint32 index = img_tree_resolve(layer->tree, event->path, FALSE);

	return event->kind == TR_FILE && index != IMG_NONE &&
	       (img_tree_inode(layer->tree, index)->mode & 0111) != 0;
}

static GHashTable *programs_of(const tr_booted *b)
{
	GHashTable *programs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) events = tr_events_steal(b->guest->events);

	for (guint i = 0; i < events->len; i++) {
		const tr_event *event = g_ptr_array_index(events, i);
		if (is_program(b->job, event))
			g_hash_table_add(programs, g_strdup(event->path));
	}
	return programs;
}

/* When the drive was done with the last read that came before a time. */
static double last_read_before(const GArray *reads, double time)
{
	double done = 0;

	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		if (read->time < time)
			done = MAX(done, read->time) + read->delay;
	}
	return done;
}

/* Quiet began with the last first access or the end of the last read, whichever was later. */
static double end_of_idle_boot(
	const tr_session_end *end, const GArray *reads, double start, double k)
{
	double last = last_read_before(reads, (end->over - start) / k);

	return MAX(MAX(last, (end->root - start) / k), (end->first - start) / k);
}

static gboolean set_marks(tr_measured *measured, const tr_booted *b, double k, GError **error)
{
	const tr_session_end *end = &b->end;
	double start;

	if (!tr_read_log_number(b->read_log, "start", &start, error))
		return FALSE;
	measured->reads = tr_read_log_read(b->read_log, error);
	if (!measured->reads)
		return FALSE;
	gboolean idle = g_str_equal(end->end_reason, "idle");
	double kernel = MAX((end->kernel - start) / k, 0);
	double init = MAX((end->init - start) / k, kernel);
	double root = MAX((end->root - start) / k, init);
	double over =
		idle ? end_of_idle_boot(end, measured->reads, start, k) : (end->over - start) / k;
	measured->marks = (tr_marks){.at = {kernel, kernel, init, root, MAX(over, root)}};
	return TRUE;
}

static void take_reads(tr_measured *measured, const tr_measure_job *job)
{
	g_autoptr(GArray) all = g_steal_pointer(&measured->reads);

	tr_phases_of(all, job->drive, &measured->marks, &measured->phases);
	measured->reads = tr_phases_cut(all, &measured->marks);
}

static void take_guest(tr_measured *measured, tr_booted *b, double k)
{
	const tr_guest *guest = b->guest;
	gboolean told = guest->unpack_end > guest->unpack_begin && guest->unpack_begin > 0;

	measured->unpacked = told ? (guest->unpack_end - guest->unpack_begin) / k : -1;
	measured->programs = programs_of(b);
	measured->kernel = g_strdup(guest->release);
	measured->cmdline = g_strdup(b->cmdline);
	measured->dropped = g_ptr_array_ref(b->dropped);
	measured->end_reason = b->end.end_reason;
	measured->console = g_strdup(b->end.console);
}

static gboolean ended_well(const tr_booted *b, GError **error)
{
	if (!g_str_equal(b->end.end_reason, "timeout"))
		return TRUE;
	return ro_fail(error, RO_ERROR_GUEST,
		"the boot did not end in time (--timeout)\nthe last lines of its console:\n%s",
		b->end.console);
}

static gboolean run_direct(const tr_measure_job *job, tr_measured *measured, GError **error)
{
	g_auto(GStrv) parameters = tr_drive_plugin_parameters(job->drive, job->k);
	tr_boot_job boot = job->boot;
	boot.medium = (const char *const *)parameters;
	g_auto(tr_booted) b = {.job = &boot, .measuring = TRUE};

	if (!tr_booted_run(&b, error) || !ended_well(&b, error) ||
		!set_marks(measured, &b, job->k, error))
		return FALSE;
	take_guest(measured, &b, job->k);
	take_reads(measured, job);
	return TRUE;
}

gboolean tr_boot_run_measured(const tr_measure_job *job, tr_measured *measured, GError **error)
{
	*measured = (tr_measured){.unpacked = -1};
	gboolean direct = job->firmware == TR_FIRMWARE_DIRECT;
	if (direct ? run_direct(job, measured, error) : tr_firmware_run(job, measured, error))
		return TRUE;
	tr_measured_clear(measured);
	return FALSE;
}

void tr_measured_clear(tr_measured *measured)
{
	g_clear_pointer(&measured->reads, g_array_unref);
	g_clear_pointer(&measured->programs, g_hash_table_unref);
	g_clear_pointer(&measured->dropped, g_ptr_array_unref);
	g_free(measured->kernel);
	g_free(measured->cmdline);
	g_free(measured->console);
	*measured = (tr_measured){0};
}
