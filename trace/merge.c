/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/trace.h"

#include <string.h>

/* One trace's word on a file. */
typedef struct {
	guint file;   /* index into files, which is by first occurrence */
	double share; /* rank as a share of its trace's length */
	double time;
} sighting;

/* What goes into the result. */
typedef struct {
	tr_event *event; /* owned */
	guint file;
	guint last_trace; /* the last one that had it, from 0; event->traces counts them */
	double median;
} merged_file;

static gint by_file_and_share(gconstpointer a, gconstpointer b)
{
	const sighting *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->share < y->share ? -1 : x->share > y->share;
}

static gint by_traces_and_median(gconstpointer a, gconstpointer b)
{
	const merged_file *x = a, *y = b;

	if (x->event->traces != y->event->traces)
		return x->event->traces > y->event->traces ? -1 : 1;
	if (x->median != y->median)
		return x->median < y->median ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

static tr_event *copy_event(const tr_event *event)
{
	tr_event *copy = g_memdup2(event, sizeof(*event));

	copy->image = g_strdup(event->image);
	copy->path = g_strdup(event->path);
	copy->traces = 1;
	return copy;
}

/* Several traces' words on what was done with a file: the stronger one. */
static void join_events(tr_event *to, const tr_event *from)
{
	if (to->how <= TR_READ && from->how <= TR_READ)
		to->how = MAX(to->how, from->how);
	if (to->bytes == TR_BYTES_UNKNOWN)
		to->bytes = from->bytes;
	else if (from->bytes != TR_BYTES_UNKNOWN)
		to->bytes = MAX(to->bytes, from->bytes);
}

/* The file of an event; FALSE if this trace had it already. */
static gboolean note_file(
	GTree *known, GArray *files, const tr_event *event, guint trace, guint *index)
{
	gpointer value;

	if (!g_tree_lookup_extended(known, event, NULL, &value)) {
		merged_file file = {copy_event(event), files->len, trace, 0};
		g_array_append_val(files, file);
		g_tree_insert(known, file.event, GUINT_TO_POINTER(file.file));
		*index = file.file;
		return TRUE;
	}
	*index = GPOINTER_TO_UINT(value);
	merged_file *file = &g_array_index(files, merged_file, *index);
	if (file->last_trace == trace)
		return FALSE;
	file->last_trace = trace;
	file->event->traces++;
	join_events(file->event, event);
	return TRUE;
}

static void collect(tr_trace *const *traces, guint count, GArray *files, GArray *sightings)
{
	g_autoptr(GTree) known = g_tree_new(tr_event_compare);

	for (guint t = 0; t < count; t++) {
		const GPtrArray *events = traces[t]->events;
		for (guint i = 0; i < events->len; i++) {
			const tr_event *event = g_ptr_array_index(events, i);
			sighting s = {.share = (double)i / events->len, .time = event->time};
			if (note_file(known, files, event, t, &s.file))
				g_array_append_val(sightings, s);
		}
	}
}

/* Of the sorted sightings of one file. An even number has two middles: their mean; its time is that
 * of the lower one. */
static void set_median(merged_file *file, const sighting *s, guint count)
{
	const sighting *low = &s[(count - 1) / 2], *high = &s[count / 2];

	file->median = (low->share + high->share) / 2;
	file->event->time = low->time;
}

static void set_medians(GArray *files, GArray *sightings)
{
	const sighting *s = (const sighting *)sightings->data;

	g_array_sort(sightings, by_file_and_share);
	for (guint i = 0, next; i < sightings->len; i = next) {
		for (next = i + 1; next < sightings->len && s[next].file == s[i].file;)
			next++;
		set_median(&g_array_index(files, merged_file, s[i].file), s + i, next - i);
	}
}

/* Each event's time is at least that of the one before it, so that "by time" holds for a merged
 * trace too. */
static void take_events(tr_trace *trace, const GArray *files)
{
	double time = 0;

	for (guint i = 0; i < files->len; i++) {
		tr_event *event = g_array_index(files, merged_file, i).event;
		time = MAX(time, event->time);
		event->time = time;
		g_ptr_array_add(trace->events, event);
	}
}

static void keep_if_same(char **text, const char *other)
{
	if (g_strcmp0(*text, other) != 0)
		g_clear_pointer(text, g_free);
}

/* The first trace's header, less what the others contradict; the least that is known of coverage.
 */
static void join_header(tr_trace *to, const tr_trace *from)
{
	if (g_strcmp0(to->layers, from->layers) != 0)
		g_clear_pointer(&to->layers, g_free);
	to->merged++;
	keep_if_same(&to->image_checksum, from->image_checksum);
	keep_if_same(&to->machine, from->machine);
	keep_if_same(&to->devices, from->devices);
	keep_if_same(&to->cpu_model, from->cpu_model);
	keep_if_same(&to->firmware, from->firmware);
	if (from->lost_events > G_MAXUINT64 - 1 - to->lost_events)
		to->lost_events = G_MAXUINT64 - 1;
	else
		to->lost_events += from->lost_events;
	if (from->coverage >= 0 && (to->coverage < 0 || from->coverage < to->coverage))
		to->coverage = from->coverage;
}

tr_trace *tr_trace_merge(tr_trace *const *traces, guint count)
{
	g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(merged_file));
	g_autoptr(GArray) sightings = g_array_new(FALSE, FALSE, sizeof(sighting));
	tr_trace *merged = tr_trace_new_like(traces[0]);

	merged->merged = 1;
	for (guint t = 1; t < count; t++)
		join_header(merged, traces[t]);
	collect(traces, count, files, sightings);
	set_medians(files, sightings);
	g_array_sort(files, by_traces_and_median);
	take_events(merged, files);
	return merged;
}
