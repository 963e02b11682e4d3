/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/spans.h"

static int compare(gconstpointer a, gconstpointer b)
{
	const ro_span *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->end < right->end ? -1 : left->end > right->end;
}

void ro_spans_merge(GArray *spans)
{
	guint count = 0;

	g_array_sort(spans, compare);
	for (guint i = 0; i < spans->len; i++) {
		ro_span next = g_array_index(spans, ro_span, i);
		ro_span *last = count > 0 ? &g_array_index(spans, ro_span, count - 1) : NULL;

		if (last && next.start < last->end)
			last->end = MAX(last->end, next.end);
		else
			g_array_index(spans, ro_span, count++) = next;
	}
	g_array_set_size(spans, count);
}
