/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"
#include "trace/agent/protocol.h"
#include "trace/read_tail.h"
#include "trace/serial.h"

enum {
	POLL_MS = 100,
	STOP_GRACE_MS = 1000,
};

#define AGENT_LIMIT (G_GUINT64_CONSTANT(1) << 30) /* bytes */

/* A guest whose processors never rest is idle after so many times the seconds, or times what it
 * took to its root: on a loaded machine it may compute for minutes between two files. */
static const double busy_factor = 6, slow_factor = 4;
static const double finish_grace =
	20; /* host seconds of silence from the word to end on until the agent's last frame */
static const double settle_factor = 8;   /* the longest that settling takes */
static const double silence_limit = 120; /* host seconds without a word of the agent, which ticks */
static const double busy_limit = 0.5; /* processors of this machine; an idle guest takes a little */
static const double failure_grace = 1; /* host seconds in which the console may tell more */

typedef struct {
	const tr_session_job *job;
	tr_guest *guest;
	tr_session_end *end;
	tr_serial serial;
	tr_machine machine;
	ro_child *qemu;
	int agent_fd;    /* our end of the socket pair */
	double started;  /* host seconds, as the next three */
	double ending;   /* when the agent was told to end; 0: not yet */
	double failed;   /* when a failure was first seen; 0: not yet */
	double reported; /* progress */
	double heard;    /* when the agent last said something */
	guint calibrations;
	double calibration; /* when the last round was done */
	double read;        /* when the read log was last seen to grow */
	tr_read_tail *log;
	gboolean mounted;        /* agentless: the image was read */
	double quiet;            /* agentless: since when the machine has had little to compute */
	double looked, computed; /* when that was last looked at, and what it had computed then */
} session;

static double host_now(void)
{
	return (double)g_get_monotonic_time() / 1e6;
}

static gboolean switched(const session *s)
{
	return s->guest->root_time >= 0 || s->mounted;
}

/* Seconds of the guest. */
static double guest_now(const session *s)
{
	return s->job->agentless ? host_now() - s->started : s->guest->now;
}

static gboolean fail_guest(const session *s, GError **error, const char *what, const char *hint)
{
	return tr_serial_fail(&s->serial, host_now() - s->started, what, hint, error);
}

/* --- setting up and taking down --- */

static gboolean start_qemu(session *s, GError **error)
{
	s->machine.console = s->serial.pipes.base;
	s->started = s->quiet = host_now();
	s->qemu = tr_qemu_start(&s->machine, error);
	return s->qemu != NULL;
}

static gboolean start_machine(session *s, GError **error)
{
	int pair[2];

	s->machine = *s->job->machine;
	s->machine.agent_fd = -1;
	if (s->job->agentless)
		return start_qemu(s, error);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return ro_fail_errno(error, errno, "socketpair");
	s->agent_fd = pair[0];
	fcntl(s->agent_fd, F_SETFL, O_NONBLOCK);
	s->machine.agent_fd = pair[1];
	gboolean ok = start_qemu(s, error);
	close(pair[1]);
	return ok;
}

static void tear_down(session *s)
{
	ro_child_stop(s->qemu, STOP_GRACE_MS);
	if (s->agent_fd >= 0)
		close(s->agent_fd);
	tr_serial_close(&s->serial);
	tr_read_tail_free(s->log);
}

/* --- what comes from the guest --- */

static void read_agent(session *s)
{
	char bytes[65536];
	ssize_t n;

	for (int i = 0; i < 4 && (n = read(s->agent_fd, bytes, sizeof bytes)) > 0; i++) {
		tr_guest_push(s->guest, bytes, (gsize)n);
		s->heard = host_now();
	}
}

/* When it was learnt, on the host's clock: the guest's may be off by some percent. */
static void note_times(session *s, double first_before, double root_before)
{
	const tr_guest *guest = s->guest;
	double now = host_now();

	if (s->end->init <= 0 && guest->now > 0) {
		s->end->init = now;
		s->end->kernel = now - guest->now;
	}
	if (guest->root_time > root_before)
		s->end->root = now;
	if (guest->last_first > first_before)
		s->end->first = now;
	if (s->end->over <= 0 && tr_console_matched(s->serial.console))
		s->end->over = now;
}

/* A guest that waits for a slow medium opens nothing and computes nothing, but is not idle. */
static void look_at_read_log(session *s)
{
	const tr_session_job *job = s->job;
	tr_read read;

	if (!job->wait_for_reads && !job->agentless &&
		!(job->reads_will_do && s->guest->fanotify_errno))
		return;
	while (tr_read_tail_next(s->log, &read)) {
		s->read = host_now();
		s->mounted |= job->agentless && tr_boot_mounts_image(job->boot, &read);
	}
}

/* Without an agent only the machine's own use of processors tells whether its guest computes. */
static void look_at_processors(session *s)
{
	double now = host_now();

	if (!s->job->agentless || now - s->looked < 1)
		return;
	double computed = ro_child_processor_seconds(s->qemu);
	if (computed - s->computed >= busy_limit * (now - s->looked))
		s->quiet = now;
	s->looked = now;
	s->computed = computed;
}

static void add_round(tr_session_end *end, double seconds)
{
	if (end->round_count < TR_ROUNDS_MAX)
		end->rounds[end->round_count++] = seconds;
}

/* The host's clock again: a guest that has chosen a bad one would make all times wrong. */
static void time_calibration(session *s)
{
	guint rounds = s->guest->calibrations - s->calibrations;
	double now = host_now();

	if (rounds == 0)
		return;
	if (rounds == 1 && s->calibration > 0)
		add_round(s->end, now - s->calibration);
	s->calibrations = s->guest->calibrations;
	s->calibration = now;
}

static void wait_for_guest(session *s)
{
	struct pollfd wait[] = {
		{.fd = s->agent_fd, .events = POLLIN},
		{.fd = s->serial.pipes.out, .events = POLLIN},
		{.fd = ro_interrupt_fd(), .events = POLLIN},
	};

	/* Without a writer a pipe always polls "hung up". */
	if (poll(wait, G_N_ELEMENTS(wait), POLL_MS) > 0 &&
		!((wait[0].revents | wait[1].revents) & POLLIN))
		g_usleep(POLL_MS * 1000 / 5);
	double first = s->guest->last_first, root = s->guest->root_time;
	read_agent(s);
	tr_serial_read(&s->serial);
	note_times(s, first, root);
	look_at_read_log(s);
	look_at_processors(s);
	time_calibration(s);
}

/* --- the rules --- */

static gboolean is_idle(const session *s, double seconds)
{
	double since = MAX(s->guest->root_time, s->guest->last_first);
	double unread = host_now() - s->read;

	if (!switched(s) || unread < seconds)
		return FALSE;
	if (s->job->agentless)
		return host_now() - s->quiet >= seconds || unread >= busy_factor * seconds;
	return s->guest->quiet >= seconds ||
	       s->guest->now - since >=
		       MAX(busy_factor * seconds, slow_factor * s->guest->root_time);
}

static const char *rule_that_holds(const session *s)
{
	for (guint i = 0; i < s->job->until_count; i++) {
		const tr_until *until = &s->job->untils[i];
		if (until->kind == TR_UNTIL_IDLE && is_idle(s, until->seconds))
			return "idle";
		if (until->kind == TR_UNTIL_TIME && guest_now(s) >= until->seconds)
			return "time";
		if (until->kind == TR_UNTIL_CONSOLE && tr_console_matched(s->serial.console))
			return "console";
	}
	if (host_now() - s->started >= s->job->timeout)
		return "timeout";
	return NULL;
}

/* A boot that ends with a text or at a time is still busy then. */
static gboolean settled(const session *s, const char *reason)
{
	double last = MAX(s->read, s->end->first);

	if (s->job->settle <= 0 || g_str_equal(reason, "idle") || g_str_equal(reason, "timeout"))
		return TRUE;
	return host_now() - last >= s->job->settle ||
	       host_now() - s->end->over >= settle_factor * s->job->settle;
}

/* The agent sends what it has, and switches the machine off. */
static void ask_for_end(session *s, const char *reason)
{
	s->end->end_reason = reason;
	s->ending = host_now();
	(void)!write(s->agent_fd, TR_HOST_END, strlen(TR_HOST_END));
}

static gboolean never_switched(const session *s, const char *reason, GError **error)
{
	g_autofree char *hint = NULL;

	if (!s->guest->heard && tr_console_bytes(s->serial.console) == 0)
		return fail_guest(s, error,
			"the guest said nothing, neither its kernel nor the agent,",
			"its kernel may not run on this virtual machine");
	if (g_str_equal(reason, "timeout"))
		hint = g_strdup("where it only needs longer, give it more with --timeout");
	else
		hint = g_strdup("a longer --until time: may help");
	return fail_guest(s, error, "the guest did not get to its root filesystem", hint);
}

/* What a console that looks like a failure means; the console may still tell why. */
static gboolean check_failure(session *s, GError **error)
{
	const tr_console_failure *failure = tr_console_get_failure(s->serial.console);

	if (!failure)
		return TRUE;
	if (s->failed == 0)
		s->failed = host_now();
	if (host_now() - s->failed < failure_grace && ro_child_running(s->qemu, NULL))
		return TRUE;
	g_autofree char *what = g_strdup_printf("%s (\"%s\")", failure->what, failure->line);
	return fail_guest(s, error, what, failure->hint);
}

static gboolean fail_start(const session *s, GError **error)
{
	g_autofree char *text = NULL;

	if (!g_file_get_contents(s->machine.log, &text, NULL, NULL) || !*g_strstrip(text))
		return ro_fail(error, RO_ERROR_FAILED, "QEMU: ended without a word");
	const char *last = strrchr(text, '\n');
	return ro_fail(error, RO_ERROR_FAILED, "QEMU: %s", last ? last + 1 : text);
}

/* The machine is off without having been told to. */
static gboolean check_running(session *s, GError **error)
{
	int status;

	if (ro_child_running(s->qemu, &status))
		return TRUE;
	read_agent(s);
	tr_serial_read(&s->serial);
	if (s->guest->ended)
		return TRUE;
	if (status != 0)
		return fail_start(s, error);
	if (!check_failure(s, error))
		return FALSE;
	return fail_guest(s, error, "the guest restarted or switched itself off",
		tr_console_bytes(s->serial.console) == 0 && !s->guest->heard
			? "its kernel did not even start: give it more memory with --memory"
			: "this ISO may install or shut down by itself: boot another entry");
}

static gboolean check_agent(const session *s, GError **error)
{
	if (s->guest->heard && s->guest->fanotify_errno && !s->job->reads_will_do)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"the guest's kernel %s has no fanotify (%s), so this boot cannot be recorded; use --tracer blocks, or record one of the same image elsewhere and use --trace",
			s->guest->release, g_strerror((int)s->guest->fanotify_errno));
	if (tr_frames_get_counts(s->guest->frames)->bytes > AGENT_LIMIT)
		return ro_fail(error, RO_ERROR_GUEST,
			"the guest sent more than 1 GiB on the line of its agent");
	if (tr_frames_get_counts(s->guest->frames)->forged > 0)
		return ro_fail(error, RO_ERROR_GUEST,
			"the guest sent what its agent does not on the line of its agent; another program in it writes there");
	if (s->guest->heard && host_now() - s->heard > silence_limit)
		return fail_guest(s, error, "the guest, or the agent in it, hangs",
			"nothing came from it for two minutes");
	return TRUE;
}

static void report(session *s)
{
	g_autofree char *text = NULL;

	if (host_now() - s->reported < 0.5)
		return;
	s->reported = host_now();
	text = g_strdup_printf("%.0f s in the guest, %s, %u files", guest_now(s),
		switched(s)       ? "booting its root"
		: s->guest->heard ? "initramfs"
				  : "starting",
		tr_events_count(s->guest->events));
	ro_progress_update(s->job->progress, 0, 0, text);
}

/* Sets *over at the end. FALSE if the boot has failed. */
static gboolean step(session *s, gboolean *over, GError **error)
{
	wait_for_guest(s);
	report(s);
	if (ro_interrupted(error) || !check_agent(s, error))
		return FALSE;
	if (switched(s))
		tr_console_arm(s->serial.console);
	*over = s->guest->ended ||
		(s->ending > 0 && (s->job->agentless ||
					  host_now() - MAX(s->ending, s->heard) > finish_grace));
	if (*over)
		return TRUE;
	if (!check_failure(s, error) || !check_running(s, error))
		return FALSE;
	if (s->ending > 0)
		return TRUE;
	double waited = host_now() - s->started;
	if (s->job->speak_within > 0 && waited > s->job->speak_within && !s->guest->heard &&
		tr_console_bytes(s->serial.console) == 0)
		s->end->silent = *over = TRUE;
	const char *reason = rule_that_holds(s);
	if (!reason || *over)
		return TRUE;
	if (!switched(s))
		return never_switched(s, reason, error);
	if (s->end->over <= 0)
		s->end->over = host_now();
	if (settled(s, reason))
		ask_for_end(s, reason);
	return TRUE;
}

gboolean tr_session_run(
	const tr_session_job *job, tr_guest *guest, tr_session_end *end, GError **error)
{
	session s = {.job = job, .guest = guest, .end = end, .agent_fd = -1};
	gboolean over = FALSE;

	*end = (tr_session_end){0};
	s.log = tr_read_tail_new(job->read_log);
	gboolean ok =
		tr_serial_open(&s.serial, job->workdir, job->untils, job->until_count, error) &&
		start_machine(&s, error);
	if (job->agentless)
		end->kernel = s.started;
	while (ok && !over)
		ok = step(&s, &over, error);
	end->whole = guest->ended;
	end->console = tr_console_tail(s.serial.console);
	tear_down(&s);
	return ok;
}
