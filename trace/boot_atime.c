/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots that are recorded by access times. */
#include "trace/boot-internal.h"

#include "reorder/util/error.h"

/* Why the access times tell nothing; NULL: they do. */
static char *obstacle(const tr_guest *guest)
{
	if (guest->strict_time < 0 && guest->strict_errno)
		return g_strdup_printf(
			"they cannot be kept (%s)", g_strerror((int)guest->strict_errno));
	if (guest->strict_time < 0)
		return g_strdup(
			"the guest has no filesystem of the image mounted writable (squashfs has none, and an overlayfs does not pass them on)");
	if (tr_atimes_count(guest->atimes) == 0)
		return g_strdup("nothing was found by them");
	return NULL;
}

void tr_booted_take_atimes(const tr_booted *b, tr_trace *trace)
{
	const tr_guest *guest = b->guest;
	g_autofree char *reason = obstacle(guest);
	guint early = 0;

	if (reason) {
		ro_warn("--tracer atime: no use of access times: %s; the trace is fanotify's",
			reason);
		return;
	}
	trace->events = tr_atimes_join(guest->atimes, trace->events, guest->strict_time);
	for (guint i = 0; i < trace->events->len; i++)
		early += ((tr_event *)g_ptr_array_index(trace->events, i))->how != TR_ATIME;
	g_free(trace->tracer);
	trace->tracer = g_strdup("atime");
	ro_progress_note(b->job->progress,
		"access times are kept from %.1f s on: %u paths by them, %u before by fanotify",
		guest->strict_time, trace->events->len - early, early);
}

/* The sweep itself reads the medium, too. */
gboolean tr_booted_cut_sweep(const tr_booted *b, GArray *reads, GError **error)
{
	double start;
	guint count = 0;

	if (!tr_read_log_number(b->read_log, "start", &start, error))
		return FALSE;
	while (count < reads->len &&
		g_array_index(reads, tr_read, count).time <= b->end.over - start)
		count++;
	g_array_set_size(reads, count);
	return TRUE;
}
