/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/atimes.h"

#include "trace/agent/protocol.h"

struct tr_atimes {
	tr_events *events; /* find the objects; their times are in the next */
	GArray *times;     /* of double, as many */
	guint32 count;
};

tr_atimes *tr_atimes_new(const img_layer *layers, guint count)
{
	tr_atimes *atimes = g_new0(tr_atimes, 1);

	atimes->events = tr_events_new(layers, count);
	atimes->times = g_array_new(FALSE, FALSE, sizeof(double));
	return atimes;
}

void tr_atimes_free(tr_atimes *atimes)
{
	if (!atimes)
		return;
	tr_events_free(atimes->events);
	g_array_unref(atimes->times);
	g_free(atimes);
}

void tr_atimes_add(tr_atimes *atimes, double time, const GArray *places)
{
	if (tr_events_add(atimes->events, atimes->count++, 0, TR_HOW_READ, places))
		g_array_append_val(atimes->times, time);
}

guint tr_atimes_count(const tr_atimes *atimes)
{
	return atimes->times->len;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	const tr_event *x = *(tr_event *const *)a, *y = *(tr_event *const *)b;

	return (x->time > y->time) - (x->time < y->time);
}

static void free_event(gpointer event)
{
	tr_event_free(event);
}

/* Moves an event to the result, unless that has its object. */
static void take(GPtrArray *events, guint i, GPtrArray *joined, GTree *known)
{
	tr_event *event = g_ptr_array_index(events, i);

	if (g_tree_lookup(known, event))
		return;
	g_tree_insert(known, event, event);
	g_ptr_array_add(joined, event);
	events->pdata[i] = NULL;
}

GPtrArray *tr_atimes_join(tr_atimes *atimes, GPtrArray *before, double since)
{
	g_autoptr(GPtrArray) swept = tr_events_steal(atimes->events);
	g_autoptr(GPtrArray) early = before;
	g_autoptr(GTree) known = g_tree_new(tr_event_compare);
	GPtrArray *joined = g_ptr_array_new_with_free_func(free_event);

	for (guint i = 0; i < early->len; i++)
		if (((tr_event *)g_ptr_array_index(early, i))->time < since)
			take(early, i, joined, known);
	for (guint i = 0; i < swept->len; i++) {
		tr_event *event = g_ptr_array_index(swept, i);
		/* What was noted on the way to the first strict moment is no earlier than it. */
		event->time = MAX(g_array_index(atimes->times, double, i), since);
		event->how = TR_ATIME;
	}
	g_ptr_array_sort(swept, by_time);
	for (guint i = 0; i < swept->len; i++)
		take(swept, i, joined, known);
	return joined;
}
