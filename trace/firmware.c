/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/firmware.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"
#include "trace/drive_file.h"
#include "trace/firmware_watch.h"
#include "trace/medium_server.h"
#include "trace/monitor.h"
#include "trace/ovmf.h"
#include "trace/qemu.h"
#include "trace/serial.h"

enum {
	POLL_MS = 25,
	STOP_GRACE_MS = 1000,
	CPUS_DEFAULT = 2,
	TIMEOUT_KVM = 300,
	TIMEOUT_TCG = 1800,
};

static const double menu_quiet = 1;      /* host seconds without a read: the menu waits */
static const double ask_interval = 0.05; /* host seconds */
static const double failure_grace = 1;   /* host seconds in which the console may tell more */

typedef struct {
	const tr_measure_job *job;
	tr_medium_server *medium;
	tr_monitor *monitor;
	tr_serial serial;
	ro_child *qemu;
	char *uefi_vars; /* our copy */
	tr_firmware_watch watch;
	double log_start; /* host seconds of the log's 0 */
	double started;   /* host seconds, as the following */
	double asked;     /* when the monitor was last asked */
	double pressed;   /* when the key was last pressed */
	double failed;    /* when a failure was first seen; 0: not yet */
	double reported;
	const char *end_reason;
	double over; /* when the rule held */
} session;

static double host_now(void)
{
	return (double)g_get_monotonic_time() / 1e6;
}

static gboolean is_uefi(const tr_measure_job *job)
{
	return job->firmware == TR_FIRMWARE_UEFI;
}

/* --- before --- */

gboolean tr_firmware_check(const tr_measure_job *job, GError **error)
{
	const li_iso *iso = job->boot.iso;

	if (!tr_qemu_check(error) || !tr_medium_server_check(error))
		return FALSE;
	if (!tr_memory_check(tr_boot_memory(&job->boot), error))
		return FALSE;
	if (is_uefi(job) && !tr_ovmf_find(error))
		return FALSE;
	if (tr_firmware_boot_image(iso, job->firmware))
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: has no El Torito boot image for %s",
		iso->path, is_uefi(job) ? "UEFI" : "a BIOS");
}

/* --- setting up and taking down --- */

static gboolean start_medium(session *s, GError **error)
{
	g_auto(GStrv) parameters = tr_drive_plugin_parameters(s->job->drive, s->job->k);
	tr_medium_job medium = {.iso_path = s->job->boot.iso->path,
		.workdir = s->job->boot.workdir,
		.log_name = "reads.log",
		.parameters = (const char *const *)parameters};

	s->medium = tr_medium_server_start(&medium, error);
	if (!s->medium)
		return FALSE;
	tr_firmware_watch_init(&s->watch, s->job, tr_medium_server_log(s->medium));
	return tr_read_log_number(tr_medium_server_log(s->medium), "start", &s->log_start, error);
}

static gboolean start_machine(session *s, GError **error)
{
	const tr_boot_job *boot = &s->job->boot;
	const tr_ovmf *uefi = is_uefi(s->job) ? tr_ovmf_find(error) : NULL;
	g_autofree char *log = g_build_filename(boot->workdir, "qemu.log", NULL);

	if (is_uefi(s->job) &&
		(!uefi || !(s->uefi_vars = tr_ovmf_copy_vars(uefi, boot->workdir, error))))
		return FALSE;
	tr_machine machine = {
		.accelerator = boot->accel == TR_ACCEL_KVM ? "kvm" : "tcg",
		.memory = tr_boot_memory(boot),
		.cpus = boot->cpus ? boot->cpus : CPUS_DEFAULT,
		.hardware = &boot->hardware,
		.uefi_code = uefi ? uefi->code : NULL,
		.uefi_vars = s->uefi_vars,
		.monitor = tr_monitor_pipes(s->monitor),
		.medium_socket = tr_medium_server_socket(s->medium),
		.console = s->serial.pipes.base,
		.agent_fd = -1,
		.log = log,
	};
	s->started = host_now();
	s->qemu = tr_qemu_start(&machine, error);
	return s->qemu != NULL;
}

static gboolean set_up(session *s, GError **error)
{
	const tr_boot_job *boot = &s->job->boot;

	if (!tr_serial_open(&s->serial, boot->workdir, boot->untils, boot->until_count, error))
		return FALSE;
	s->monitor = tr_monitor_new(boot->workdir, error);
	return s->monitor && start_medium(s, error) && start_machine(s, error);
}

static void tear_down(session *s)
{
	ro_child_stop(s->qemu, STOP_GRACE_MS);
	tr_medium_server_stop(s->medium);
	tr_monitor_free(s->monitor);
	tr_serial_close(&s->serial);
	tr_firmware_watch_clear(&s->watch);
	if (s->uefi_vars)
		unlink(s->uefi_vars);
	g_free(s->uefi_vars);
}

/* --- while it boots --- */

static void wait_a_moment(const session *s)
{
	struct pollfd wait[] = {
		{.fd = s->serial.pipes.out, .events = POLLIN},
		{.fd = ro_interrupt_fd(), .events = POLLIN},
	};

	/* Also where the console talks all the time: the rest is looked at by the clock. */
	if (poll(wait, G_N_ELEMENTS(wait), POLL_MS) > 0)
		g_usleep(POLL_MS * 1000 / 5);
}

/* Host seconds: when the drive was done with all that it was asked for; it may be to come. */
static double drive_done(const session *s)
{
	return s->log_start + s->watch.done * s->job->k;
}

static void press_key(session *s)
{
	double now = host_now();
	double quiet_since = MAX(drive_done(s), s->pressed);

	if (!s->watch.handed_over || s->watch.kernel_begun || now - quiet_since < menu_quiet)
		return;
	tr_monitor_press_enter(s->monitor);
	s->pressed = now;
}

/* On the log's clock. */
static double log_now(const session *s)
{
	return (host_now() - s->log_start) / s->job->k;
}

static void look_at_processors(session *s)
{
	tr_mode mode;

	if (!s->watch.kernel_begun || s->watch.init > 0)
		return;
	if (tr_monitor_get_mode(s->monitor, &mode))
		tr_firmware_watch_mode(&s->watch, mode, log_now(s));
	if (host_now() - s->asked < ask_interval)
		return;
	tr_monitor_ask_mode(s->monitor);
	s->asked = host_now();
}

static double timeout_of(const session *s)
{
	const tr_boot_job *boot = &s->job->boot;

	if (boot->timeout > 0)
		return boot->timeout;
	return boot->accel == TR_ACCEL_KVM ? TIMEOUT_KVM : TIMEOUT_TCG;
}

static gboolean holds(const session *s, const tr_until *until)
{
	switch (until->kind) {
	case TR_UNTIL_IDLE:
		return host_now() - drive_done(s) >= until->seconds;
	case TR_UNTIL_TIME:
		return (log_now(s) - s->watch.kernel) * s->job->k >= until->seconds;
	case TR_UNTIL_CONSOLE:
		return tr_console_matched(s->serial.console);
	}
	return FALSE;
}

static const char *rule_that_holds(const session *s)
{
	static const char *const names[] = {
		[TR_UNTIL_IDLE] = "idle", [TR_UNTIL_CONSOLE] = "console", [TR_UNTIL_TIME] = "time"};
	const tr_boot_job *boot = &s->job->boot;

	for (guint i = 0; s->watch.mounted > 0 && i < boot->until_count; i++)
		if (holds(s, &boot->untils[i]))
			return names[boot->untils[i].kind];
	return NULL;
}

static const char *where_it_is(const session *s)
{
	if (s->watch.mounted > 0)
		return "booting its root";
	if (s->watch.init > 0)
		return "initramfs";
	if (s->watch.kernel > 0)
		return "kernel";
	return s->watch.handed_over ? "boot loader" : "firmware";
}

static gboolean fail(const session *s, const char *what, const char *hint, GError **error)
{
	g_autofree char *text = g_strdup_printf("%s (%s)", what, where_it_is(s));

	return tr_serial_fail(&s->serial, host_now() - s->started, text, hint, error);
}

static gboolean check_failure(session *s, GError **error)
{
	const tr_console_failure *failure = tr_console_get_failure(s->serial.console);

	if (!failure)
		return TRUE;
	if (s->failed <= 0)
		s->failed = host_now();
	if (host_now() - s->failed < failure_grace)
		return TRUE;
	g_autofree char *what = g_strdup_printf("%s (\"%s\")", failure->what, failure->line);
	return fail(s, what, failure->hint, error);
}

static gboolean check_running(session *s, GError **error)
{
	if (!ro_child_running(s->qemu, NULL))
		return fail(s, "the machine restarted, switched itself off or could not run",
			"see qemu.log of the work directory (--keep-work)", error);
	if (host_now() - s->started < timeout_of(s))
		return TRUE;
	return fail(s, "the boot did not end in time",
		"give it more with --timeout; a text to wait for (--until console:) has to come on the serial line",
		error);
}

static void report(session *s)
{
	g_autofree char *text = NULL;

	if (host_now() - s->reported < 0.5)
		return;
	s->reported = host_now();
	text = g_strdup_printf("%s, %.0f s, %u reads", where_it_is(s), log_now(s), s->watch.count);
	ro_progress_update(s->job->boot.progress, 0, 0, text);
}

/* Sets end_reason at the end. FALSE if the boot has failed. */
static gboolean step(session *s, GError **error)
{
	wait_a_moment(s);
	tr_serial_read(&s->serial);
	tr_firmware_watch_reads(&s->watch);
	press_key(s);
	look_at_processors(s);
	report(s);
	if (s->watch.mounted > 0)
		tr_console_arm(s->serial.console);
	if (ro_interrupted(error) || !check_failure(s, error) || !check_running(s, error))
		return FALSE;
	s->end_reason = rule_that_holds(s);
	s->over = host_now();
	return TRUE;
}

/* --- after --- */

static gboolean take_result(const session *s, tr_measured *measured, GError **error)
{
	const char *log = tr_medium_server_log(s->medium);
	g_autoptr(GArray) reads = tr_read_log_read(log, error);

	if (!reads)
		return FALSE;
	tr_firmware_watch_marks(&s->watch, reads, &measured->marks);
	if (!g_str_equal(s->end_reason, "idle"))
		measured->marks.at[TR_PHASE_COUNT] =
			MAX((s->over - s->log_start) / s->job->k, s->watch.mounted);
	tr_phases_of(reads, s->job->drive, &measured->marks, &measured->phases);
	measured->reads = tr_phases_cut(reads, &measured->marks);
	measured->end_reason = s->end_reason;
	measured->cmdline = g_strdup(s->job->boot.entry->cmdline);
	measured->console = tr_console_tail(s->serial.console);
	return TRUE;
}

gboolean tr_firmware_run(const tr_measure_job *job, tr_measured *measured, GError **error)
{
	session s = {.job = job, .serial = {.log = -1}};
	gboolean ok = set_up(&s, error);

	while (ok && !s.end_reason)
		ok = step(&s, error);
	ok = ok && take_result(&s, measured, error);
	tear_down(&s);
	return ok;
}
