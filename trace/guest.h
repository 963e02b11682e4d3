/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the agent has told of its guest so far. Times are guest seconds. */
#ifndef TR_GUEST_H
#define TR_GUEST_H

#include "trace/atimes.h"
#include "trace/events.h"
#include "trace/frames.h"
#include "trace/guest_mounts.h"

typedef struct {
	gboolean heard; /* the agent has said hello */
	guint32 fanotify_errno;
	char *release; /* of its kernel */
	double now;
	double root_time;  /* the last change of the root; negative: none yet */
	double last_first; /* the last first access to an object of the image, or 0 */
	/* Seconds since then, and since the root was switched, in which the processors had little
	 * to do. */
	double quiet;
	double last_tick, last_idle;
	double unpack_begin, unpack_end; /* of the initramfs, as the kernel says; 0: it does not */
	guint calibrations;              /* how often the fixed work was done */
	guint64 overflows;               /* of the event queue */
	guint64 events_sent;             /* as the agent counts them, with the last frame */
	guint64 events_raw;              /* that it read from the kernel, with the last frame */
	gboolean ended;                  /* the last frame has come */
	guint marked, unmarked; /* filesystems whose events are reported, and that could not be */
	guint32 mark_errno;     /* of the last of the latter */
	double strict_time;     /* access times of the image are kept since then; negative: they are
				   not */
	guint32 strict_errno;   /* why they could not be */
	tr_atimes *atimes;
	guint64 malformed; /* frames with a right checksum whose payload is not what it should be */
	tr_frames *frames;
	tr_guest_mounts *mounts;
	tr_events *events;
} tr_guest;

/* layers as for tr_events_new(). */
tr_guest *tr_guest_new(const img_layer *layers, guint count);
void tr_guest_free(tr_guest *guest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_guest, tr_guest_free)

/* Bytes from the agent's line. */
void tr_guest_push(tr_guest *guest, const void *bytes, gsize length);

#endif
