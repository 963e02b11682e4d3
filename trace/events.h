/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of a boot as they come in: each object of the image once, at its first access, with
 * the strongest that was done to it. */
#ifndef TR_EVENTS_H
#define TR_EVENTS_H

#include "reorder/image/layer.h"
#include "trace/trace.h"

enum { TR_EVENTS_MAX = 4000000 };

typedef struct tr_events tr_events;

/* The images that events can be of, in any order; borrowed. */
tr_events *tr_events_new(const img_layer *layers, guint count);
void tr_events_free(tr_events *events);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_events, tr_events_free)

/*
 * An access to what lies at one of the places (of tr_place, topmost layer first): the first that
 * exists counts, as far as no layer above hides it. hows: TR_HOW_* of the agent's protocol. number
 * is what tr_events_more() will call it by. TRUE if it is the first access to an object of the
 * image.
 */
gboolean tr_events_add(
	tr_events *events, guint32 number, double time, guint hows, const GArray *places);
void tr_events_more(tr_events *events, guint32 number, guint hows);

typedef struct {
	guint64 received;  /* events */
	guint64 unplaced;  /* of these: through a mount that shows no image (written files, the ISO
			      itself) */
	guint64 unmatched; /* of these: of an image, but there is no such path in it (made at run
			      time) */
	guint64 refused;   /* beyond the limit */
} tr_events_counts;

const tr_events_counts *tr_events_get_counts(const tr_events *events);
guint tr_events_count(const tr_events *events);

/* The events (of tr_event, by time), owned by the caller. Nothing may be added afterwards. */
GPtrArray *tr_events_steal(tr_events *events);

#endif
