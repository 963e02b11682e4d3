/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/boot-internal.h"

#include <string.h>
#include <unistd.h>

#include "iso/kernel_image.h"
#include "reorder/util/error.h"
#include "trace/agent/protocol.h"
#include "trace/cmdline.h"
#include "trace/medium_server.h"
#include "trace/session.h"

enum {
	MEBI = 1 << 20,
	MEMORY_DEFAULT = 2048, /* MiB */
	MEMORY_BESIDE_INITRD = 1024,
	CPUS_DEFAULT = 2,
	KVM_PATIENCE = 15, /* seconds until a guest on KVM has to say something */
	TIMEOUT_KVM = 300,
	TIMEOUT_TCG = 1200,
	SETTLE = 8,
};

static const double coverage_wanted = 0.9;

/* --- before --- */

static gboolean check_kernel(const tr_boot_job *job, GError **error)
{
	const li_file *file = tr_boot_need_file(job, job->entry->kernel, error);
	li_kernel kernel = {0};

	if (!file || !li_kernel_read(job->iso, file, &kernel, error))
		return FALSE;
	g_free(kernel.version);
	if (kernel.is_64bit || tr_boot_without_agent(job))
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s:%s: a 32-bit kernel, on which the guest agent does not run; use --tracer blocks, or record its boot elsewhere and use --trace",
		job->iso->path, file->path);
}

static char *new_cmdline(const tr_boot_job *job, GPtrArray *dropped, GError **error)
{
	tr_cmdline_job cmdline = {.original = job->entry->cmdline,
		.rdinit = tr_boot_without_agent(job) ? NULL : "/" TR_AGENT_PATH,
		.dropped = dropped};

	return tr_cmdline_new(&cmdline, error);
}

gboolean tr_boot_check(const tr_boot_job *job, GError **error)
{
	g_autofree char *agent = NULL, *cmdline = NULL;

	if (!tr_qemu_check(error) || !tr_medium_server_check(error))
		return FALSE;
	if (!tr_boot_without_agent(job) && !(agent = tr_boot_agent(error)))
		return FALSE;
	if (job->accel == TR_ACCEL_KVM && !tr_kvm_check(error))
		return FALSE;
	if (!tr_memory_check(tr_boot_memory(job), error))
		return FALSE;
	if (job->hardware.uefi && !tr_ovmf_find(error))
		return FALSE;
	if (!check_kernel(job, error) || !tr_boot_check_initrds(job, error))
		return FALSE;
	cmdline = new_cmdline(job, NULL, error);
	return cmdline != NULL;
}

/* --- the boot --- */

void tr_booted_clear(tr_booted *b)
{
	if (b->kernel)
		unlink(b->kernel);
	if (b->initrd)
		unlink(b->initrd);
	if (b->uefi_vars)
		unlink(b->uefi_vars);
	g_free(b->uefi_vars);
	g_free(b->kernel);
	g_free(b->initrd);
	g_free(b->cmdline);
	g_free(b->qemu_log);
	g_free(b->read_log);
	if (b->dropped)
		g_ptr_array_unref(b->dropped);
	g_free(b->end.console);
	tr_guest_free(b->guest);
}

guint64 tr_boot_memory(const tr_boot_job *job)
{
	guint64 needed = MEMORY_BESIDE_INITRD * (guint64)MEBI;

	for (guint i = 0; i < job->entry->initrds->len; i++) {
		const li_file *file =
			li_iso_find(job->iso, g_ptr_array_index(job->entry->initrds, i));
		needed += file ? 4 * MIN(file->size, TR_INITRD_LIMIT) : 0;
	}
	return job->memory ? job->memory : MAX(needed, MEMORY_DEFAULT * (guint64)MEBI);
}

/* The factor of a processor does not depend on the firmware. */
static gboolean make_firmware(tr_booted *b, GError **error)
{
	if (!b->job->hardware.uefi || b->calibrating)
		return TRUE;
	if (!(b->ovmf = tr_ovmf_find(error)))
		return FALSE;
	b->uefi_vars = tr_ovmf_copy_vars(b->ovmf, b->job->workdir, error);
	return b->uefi_vars != NULL;
}

static char *scratch(const tr_boot_job *job, const char *name)
{
	return g_build_filename(job->workdir, name, NULL);
}

static gboolean prepare(tr_booted *b, GError **error)
{
	const tr_boot_job *job = b->job;

	b->agentless = tr_boot_without_agent(job);
	b->qemu_log = scratch(job, "qemu.log");
	b->kernel = scratch(job, "kernel");
	b->initrd = scratch(job, "initrd");
	b->dropped = g_ptr_array_new_with_free_func(g_free);
	b->cmdline = new_cmdline(job, b->dropped, error);
	if (!b->cmdline || !tr_booted_write(b, error) || !make_firmware(b, error))
		return FALSE;
	b->memory = tr_boot_memory(job);
	for (guint i = 0; i < b->dropped->len; i++)
		ro_progress_note(job->progress,
			"left out of the kernel command line: %s (it would make the boot read the whole medium)",
			(char *)g_ptr_array_index(b->dropped, i));
	return TRUE;
}

/* One start on one accelerator, with a medium and a log of its own. */
static gboolean run_on(tr_booted *b, const char *accelerator, double speak_within, GError **error)
{
	const tr_boot_job *job = b->job;
	gboolean kvm = g_str_equal(accelerator, "kvm");
	tr_medium_job medium = {.iso_path = job->iso->path,
		.workdir = job->workdir,
		.log_name = "reads.log",
		.parameters = job->medium};
	g_autoptr(tr_medium_server) server = tr_medium_server_start(&medium, error);

	if (!server)
		return FALSE;
	tr_machine machine = {.accelerator = accelerator,
		.memory = b->memory,
		.cpus = job->cpus ? job->cpus : CPUS_DEFAULT,
		.hardware = &job->hardware,
		.uefi_code = b->ovmf ? b->ovmf->code : NULL,
		.uefi_vars = b->uefi_vars,
		.kernel = b->kernel,
		.initrd = job->entry->initrds->len > 0 || !b->agentless ? b->initrd : NULL,
		.cmdline = b->cmdline,
		.medium_socket = tr_medium_server_socket(server),
		.log = b->qemu_log};
	tr_session_job session = {.machine = &machine,
		.workdir = job->workdir,
		.untils = job->untils,
		.until_count = job->until_count,
		.speak_within = speak_within,
		.read_log = tr_medium_server_log(server),
		.wait_for_reads = b->measuring,
		.settle = b->measuring ? SETTLE : 0,
		.agentless = b->agentless,
		.boot = job,
		.reads_will_do = job->tracer == TR_TRACER_AUTO,
		.progress = job->progress,
		.timeout = job->timeout > 0 ? job->timeout
			   : kvm            ? TIMEOUT_KVM
					    : TIMEOUT_TCG};

	b->accelerator = accelerator;
	tr_guest_free(b->guest);
	b->guest = tr_guest_new(job->layers, job->layer_count);
	if (job->layers[0].outer)
		tr_guest_mounts_want_nested(b->guest->mounts);
	g_free(b->read_log);
	b->read_log = g_strdup(tr_medium_server_log(server));
	g_clear_pointer(&b->end.console, g_free);
	return tr_session_run(&session, b->guest, &b->end, error);
}

/* FALSE with *broken set if it is KVM, and not the guest, that does not work. */
static gboolean run_on_kvm(tr_booted *b, gboolean *broken, GError **error)
{
	g_autoptr(GError) reason = NULL;

	*broken = TRUE;
	if (!tr_kvm_check(error))
		return FALSE;
	if (!run_on(b, "kvm", KVM_PATIENCE, &reason)) {
		*broken = g_error_matches(reason, RO_ERROR, RO_ERROR_FAILED);
		g_propagate_error(error, g_steal_pointer(&reason));
		return FALSE;
	}
	return !b->end.silent ||
	       ro_fail(error, RO_ERROR_FAILED,
		       "/dev/kvm: the guest hung at its start (nothing in %d s)", KVM_PATIENCE);
}

/* Some hosts have a KVM that looks usable, but QEMU gives up on it, or every guest hangs. */
static gboolean run(tr_booted *b, GError **error)
{
	g_autoptr(GError) reason = NULL;
	gboolean broken;

	if (b->job->accel == TR_ACCEL_TCG)
		return run_on(b, "tcg", 0, error);
	if (run_on_kvm(b, &broken, &reason))
		return TRUE;
	if (broken && b->job->accel == TR_ACCEL_AUTO) {
		ro_warn("%s; emulating, which is slower (--accel tcg does so at once)",
			reason->message);
		return run_on(b, "tcg", 0, error);
	}
	g_propagate_error(error, g_steal_pointer(&reason));
	return FALSE;
}

/* --- after --- */

static guint64 lost_events(const tr_guest *guest)
{
	return guest->overflows + tr_frames_get_counts(guest->frames)->missing +
	       tr_events_get_counts(guest->events)->refused;
}

/* Of a machine of its own nothing is known of it. */
static void describe_machine(tr_trace *trace, const tr_booted *b)
{
	const tr_hardware *hardware = &b->job->hardware;

	trace->cmdline = g_strdup(b->cmdline);
	trace->accelerator = g_strdup(b->accelerator);
	trace->memory = b->memory;
	trace->machine = g_strdup(tr_chipset_name(hardware->chipset));
	trace->devices = tr_hardware_devices(hardware);
	trace->cpu_model = g_strdup(hardware->cpu_model);
	trace->firmware = g_strdup(hardware->uefi ? "uefi" : "bios");
	trace->end_reason = g_strdup(b->end.end_reason);
}

static tr_trace *new_trace(const tr_booted *b, GError **error)
{
	const tr_boot_job *job = b->job;
	g_autoptr(tr_trace) trace = tr_trace_new();

	trace->image_checksum = tr_booted_checksum(b, error);
	if (!trace->image_checksum)
		return NULL;
	trace->tool_version = g_strdup(REORDER_VERSION);
	trace->volume_id = g_strdup(job->iso->volume.volume_id);
	trace->volume_uuid = g_strdup(job->iso->volume.volume_uuid);
	tr_booted_name_layers(b, trace);
	trace->kernel_version = g_strdup(b->guest->release);
	trace->tracer = g_strdup("fanotify");
	if (b->accelerator)
		describe_machine(trace, b);
	trace->end_time = b->agentless ? b->end.over - b->end.kernel : b->guest->now;
	trace->root_time = MAX(b->guest->root_time, 0);
	trace->lost_events = lost_events(b->guest);
	g_ptr_array_unref(trace->events);
	trace->events = tr_events_steal(b->guest->events);
	return g_steal_pointer(&trace);
}

static gboolean check_events(const tr_booted *b, GError **error)
{
	const tr_guest *guest = b->guest;

	if (tr_events_count(guest->events) > 0)
		return TRUE;
	if (guest->marked == 0 && guest->unmarked > 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"the guest's kernel %s does not report what is read from its filesystems (%s); record the boot elsewhere and use --trace",
			guest->release, g_strerror((int)guest->mark_errno));
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s:%s: the boot read no file of it; its root came from elsewhere (copied to RAM, or another image)",
		b->job->iso->path, b->job->layers[0].name);
}

tr_trace *tr_booted_trace(const tr_booted *b, GError **error)
{
	return tr_booted_by_blocks(b) || check_events(b, error) ? new_trace(b, error) : NULL;
}

void tr_booted_warn_of_losses(const tr_booted *b, const tr_trace *trace)
{
	if (trace->lost_events > 0)
		ro_warn("%" G_GUINT64_FORMAT " events were lost (queue overflows %" G_GUINT64_FORMAT
			", frames %" G_GUINT64_FORMAT "): the trace is not complete",
			trace->lost_events, b->guest->overflows,
			tr_frames_get_counts(b->guest->frames)->missing);
}

static gboolean read_log(const tr_booted *b, tr_boot_result *result, GError **error)
{
	result->reads = tr_read_log_read(b->read_log, error);
	if (!result->reads)
		return FALSE;
	if (b->job->tracer == TR_TRACER_ATIME && !tr_booted_cut_sweep(b, result->reads, error))
		return FALSE;
	tr_read_log_totals(result->reads, 0, G_MAXUINT64, &result->medium);
	gboolean blocks = tr_booted_by_blocks(b);
	if (blocks && !tr_booted_take_blocks(b, result->trace, result->reads, error))
		return FALSE;
	tr_booted_look_at_layers(b, result);
	/* A trace that is made of the log cannot be checked against it. */
	result->trace->coverage = blocks ? -1 : result->coverage.coverage;
	return TRUE;
}

static void warn(const tr_booted *b, const tr_boot_result *result)
{
	const tr_guest *guest = b->guest;

	tr_booted_warn_of_foreign(b);
	if (g_str_equal(b->end.end_reason, "timeout"))
		ro_warn("the guest did not become idle: the trace ends with its time (--timeout) after %.0f guest seconds",
			result->trace->end_time);
	if (!b->end.whole && !b->agentless)
		ro_warn("the guest agent did not answer at the end: the trace may lack its last events");
	tr_booted_warn_of_losses(b, result->trace);
	double coverage = result->trace->coverage;
	if (coverage >= 0 && coverage < coverage_wanted)
		ro_warn("the trace explains only %.0f %% of what the boot read of the image: %s",
			100 * coverage,
			result->trace->lost_events > 0 ? "events were lost"
			: guest->unmarked > 0
				? "not every filesystem could be watched"
				: "files were read before they could be watched, or past the filesystem");
}

static void note(const tr_booted *b)
{
	const tr_events_counts *events = tr_events_get_counts(b->guest->events);
	const tr_frames_counts *frames = tr_frames_get_counts(b->guest->frames);

	if (b->agentless)
		return;
	ro_progress_note(b->job->progress,
		"events: %" G_GUINT64_FORMAT " from the kernel, %" G_GUINT64_FORMAT
		" sent, %" G_GUINT64_FORMAT " not of an image, %" G_GUINT64_FORMAT
		" of files made at run time; frames: %" G_GUINT64_FORMAT " good, %" G_GUINT64_FORMAT
		" bad; %" G_GUINT64_FORMAT " bytes",
		b->guest->events_raw, events->received, events->unplaced, events->unmatched,
		frames->good, frames->bad, frames->bytes);
}

static gboolean finish(const tr_booted *b, tr_boot_result *result, GError **error)
{
	result->trace = tr_booted_trace(b, error);
	if (!result->trace)
		return FALSE;
	if (b->job->tracer == TR_TRACER_ATIME)
		tr_booted_take_atimes(b, result->trace);
	if (!read_log(b, result, error))
		return FALSE;
	warn(b, result);
	note(b);
	return TRUE;
}

static void end_stage(const tr_booted *b, const tr_boot_result *result)
{
	g_autofree char *text = g_strdup_printf("%u files in %.1f guest seconds (%s)",
		result->trace->events->len, result->trace->end_time, b->accelerator);

	ro_progress_end(b->job->progress, text);
}

gboolean tr_booted_run(tr_booted *b, GError **error)
{
	return prepare(b, error) && run(b, error);
}

gboolean tr_boot_run(const tr_boot_job *job, tr_boot_result *result, GError **error)
{
	g_auto(tr_booted) b = {.job = job};

	*result = (tr_boot_result){0};
	ro_progress_begin(job->progress, "boot");
	if (!tr_booted_run(&b, error))
		return FALSE;
	if (!finish(&b, result, error)) {
		tr_boot_result_clear(result);
		return FALSE;
	}
	end_stage(&b, result);
	return TRUE;
}

gboolean tr_boot_from_log(
	const tr_boot_job *job, const char *log, tr_boot_result *result, GError **error)
{
	tr_boot_job by_blocks = *job;
	g_auto(tr_booted) b = {.job = &by_blocks, .read_log = g_strdup(log)};

	*result = (tr_boot_result){0};
	by_blocks.tracer = TR_TRACER_BLOCKS;
	b.guest = tr_guest_new(job->layers, job->layer_count);
	result->trace = new_trace(&b, error);
	if (result->trace && read_log(&b, result, error))
		return TRUE;
	tr_boot_result_clear(result);
	return FALSE;
}

void tr_boot_result_clear(tr_boot_result *result)
{
	tr_trace_free(result->trace);
	if (result->reads)
		g_array_unref(result->reads);
	*result = (tr_boot_result){0};
}
