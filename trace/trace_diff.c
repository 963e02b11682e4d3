/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/trace_diff.h"

/* Of the paths in both, by rank in A, their ranks in B. */
typedef struct {
	GArray *classes[TR_CLASS_COUNT], *all; /* of guint */
} common_ranks;

static GTree *ranks_of(const tr_trace *trace)
{
	GTree *ranks = g_tree_new(tr_event_compare);

	for (guint i = 0; i < trace->events->len; i++)
		g_tree_insert(ranks, g_ptr_array_index(trace->events, i), GUINT_TO_POINTER(i));
	return ranks;
}

/* Sorts values[0..count) and returns how many pairs were in the wrong order: a merge sort, so that
 * it takes n log n (W. Knight, JASA 61, 1966). spare has the same room. */
static guint64 sort_counting(guint *values, guint *spare, guint count)
{
	guint half = count / 2, i = 0, j = half, to = 0;

	if (count < 2)
		return 0;
	guint64 wrong = sort_counting(values, spare, half) +
			sort_counting(values + half, spare, count - half);
	while (i < half && j < count) {
		if (values[j] < values[i])
			wrong += half - i;
		spare[to++] = values[j] < values[i] ? values[j++] : values[i++];
	}
	while (i < half)
		spare[to++] = values[i++];
	for (guint k = 0; k < to; k++)
		values[k] = spare[k];
	return wrong;
}

static double distance(GArray *ranks)
{
	g_autofree guint *spare = g_new(guint, ranks->len);
	double pairs = (double)ranks->len * (ranks->len - 1.0) / 2;

	if (ranks->len < 2)
		return -1;
	return (double)sort_counting((guint *)ranks->data, spare, ranks->len) / pairs;
}

static tr_diff_row *row_of(tr_diff *diff, const tr_event *event)
{
	return &diff->classes[tr_path_class_of(event->kind, event->path)];
}

static void take_a(tr_diff *diff, const tr_trace *a, const tr_trace *b, common_ranks *common)
{
	g_autoptr(GTree) ranks = ranks_of(b);

	for (guint i = 0; i < a->events->len; i++) {
		tr_event *event = g_ptr_array_index(a->events, i);
		tr_diff_row *row = row_of(diff, event);
		gpointer value;

		row->a++;
		if (!g_tree_lookup_extended(ranks, event, NULL, &value)) {
			g_ptr_array_add(diff->only_a, event);
			diff->after_a += b->end_time > 0 && event->time > b->end_time;
			continue;
		}
		guint rank = GPOINTER_TO_UINT(value);
		row->both++;
		g_array_append_val(common->classes[row - diff->classes], rank);
		g_array_append_val(common->all, rank);
	}
}

/* What is in both counts in the class that it has in A: one may have seen a link, the other a file.
 */
static void take_b(tr_diff *diff, const tr_trace *a, const tr_trace *b)
{
	g_autoptr(GTree) ranks = ranks_of(a);

	for (guint c = 0; c < TR_CLASS_COUNT; c++)
		diff->classes[c].b = diff->classes[c].both;
	for (guint i = 0; i < b->events->len; i++) {
		tr_event *event = g_ptr_array_index(b->events, i);

		if (g_tree_lookup_extended(ranks, event, NULL, NULL))
			continue;
		row_of(diff, event)->b++;
		g_ptr_array_add(diff->only_b, event);
		diff->after_b += a->end_time > 0 && event->time > a->end_time;
	}
}

void tr_diff_make(const tr_trace *a, const tr_trace *b, tr_diff *diff)
{
	common_ranks common = {.all = g_array_new(FALSE, FALSE, sizeof(guint))};

	*diff = (tr_diff){.only_a = g_ptr_array_new(), .only_b = g_ptr_array_new()};
	for (guint c = 0; c < TR_CLASS_COUNT; c++)
		common.classes[c] = g_array_new(FALSE, FALSE, sizeof(guint));
	take_a(diff, a, b, &common);
	take_b(diff, a, b);
	for (guint c = 0; c < TR_CLASS_COUNT; c++) {
		diff->classes[c].distance = distance(common.classes[c]);
		g_array_unref(common.classes[c]);
	}
	diff->all = (tr_diff_row){
		a->events->len, b->events->len, common.all->len, distance(common.all)};
	g_array_unref(common.all);
}

void tr_diff_clear(tr_diff *diff)
{
	g_clear_pointer(&diff->only_a, g_ptr_array_unref);
	g_clear_pointer(&diff->only_b, g_ptr_array_unref);
}
