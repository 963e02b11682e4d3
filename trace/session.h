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
	ro_progress *progress;
} tr_session_job;

typedef struct {
	const char *end_reason; /* "idle", "console", "time", "timeout"; NULL if silent; static */
	gboolean silent; /* the guest said nothing in time: it was stopped, and nothing was recorded
			  */
	gboolean whole;  /* the agent's last frame came */
} tr_session_end;

/*
 * Runs the machine; what the agent tells goes into guest. RO_ERROR_GUEST with the console's tail
 * for a boot that failed. The machine is gone when this returns.
 */
gboolean tr_session_run(
	const tr_session_job *job, tr_guest *guest, tr_session_end *end, GError **error);

#endif
