/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer "atime": what the access times of the guest's root tell at the end of a boot. */
#ifndef TR_ATIMES_H
#define TR_ATIMES_H

#include "trace/events.h"

typedef struct tr_atimes tr_atimes;

/* layers as for tr_events_new(). */
tr_atimes *tr_atimes_new(const img_layer *layers, guint count);
void tr_atimes_free(tr_atimes *atimes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_atimes, tr_atimes_free)

/* The last access to what lies at one of the places (of tr_place), in guest seconds; in any order,
 * each object once. */
void tr_atimes_add(tr_atimes *atimes, double time, const GArray *places);
guint tr_atimes_count(const tr_atimes *atimes);

/*
 * The events of a boot (of tr_event, by time; owned by the caller): those of the given ones, which
 * are taken over, that came before since, when the access times began to be kept; then, by time of
 * the last access, all others that were accessed. Nothing may be added afterwards.
 */
GPtrArray *tr_atimes_join(tr_atimes *atimes, GPtrArray *before, double since);

#endif
