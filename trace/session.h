/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of the virtual machine: from its start until an end rule holds, it fails, or its time is
 * up. */
#ifndef TR_SESSION_H
#define TR_SESSION_H

#include "trace/boot.h"
#include "trace/console.h"
#include "trace/guest.h"
#include "trace/qemu.h"

typedef struct {
	const tr_machine *machine; /* its console and agent_fd are set by the session */
	const char *workdir;       /* console.log and qemu.log come here */
	const tr_until *untils;
	guint until_count;
	double timeout;      /* host seconds */
	double speak_within; /* host seconds in which the guest has to say something; 0: no such
				limit */
	double settle; /* host seconds: go on behind the end until that long nothing new was read,
			  so that what the boot started is known; 0: no */
	const char *read_log;
	gboolean wait_for_reads; /* as long as the log grows the guest is not idle */
	gboolean agentless;      /* the log and the console are all there is */
	const tr_boot_job *boot; /* whose images these are: agentless, when one of them is read, the
				    root is there */
	gboolean reads_will_do;  /* go on if the agent has no fanotify, and wait for reads then */
	ro_progress *progress;
} tr_session_job;

enum { TR_ROUNDS_MAX = 16 };

typedef struct {
	const char *end_reason; /* "idle", "console", "time", "timeout"; NULL if silent; static */
	gboolean silent; /* the guest said nothing in time: it was stopped, and nothing was recorded
			  */
	gboolean whole;  /* the agent's last frame came */
	/* Host seconds (CLOCK_MONOTONIC) at which this machine learnt of it; 0: never. */
	double kernel; /* the kernel's clock began; by the first time that the agent told */
	double init;   /* /init was about to start */
	double root;   /* the root was switched, for the last time */
	double first;  /* the last first access to an object of the image */
	double over;   /* the rule held; console: the text came */
	double rounds[TR_ROUNDS_MAX]; /* of the fixed work: host seconds from one's end to the
					 next's */
	guint round_count;
	char *console; /* its tail, printable; owned by the caller */
} tr_session_end;

/*
 * Runs the machine; what the agent tells goes into guest. RO_ERROR_GUEST with the console's tail
 * for a boot that failed. The machine is gone when this returns.
 */
gboolean tr_session_run(
	const tr_session_job *job, tr_guest *guest, tr_session_end *end, GError **error);

#endif
