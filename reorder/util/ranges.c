/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/ranges.h"

GArray *ro_ranges_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(ro_range));
}

void ro_ranges_add(GArray *ranges, guint64 start, guint64 end)
{
	ro_range range = {start, end};

	if (end > start)
		g_array_append_val(ranges, range);
}

static gint by_start(gconstpointer a, gconstpointer b)
{
	const ro_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void ro_ranges_merge(GArray *ranges, guint64 gap)
{
	ro_range *r = (ro_range *)ranges->data;
	guint kept = 0;

	g_array_sort(ranges, by_start);
	for (guint i = 1; i < ranges->len; i++) {
		if (r[i].start <= r[kept].end || r[i].start - r[kept].end <= gap)
			r[kept].end = MAX(r[kept].end, r[i].end);
		else
			r[++kept] = r[i];
	}
	if (ranges->len > 0)
		g_array_set_size(ranges, kept + 1);
}

GArray *ro_ranges_intersect(const GArray *a, const GArray *b)
{
	GArray *both = ro_ranges_new();

	for (guint i = 0, j = 0; i < a->len && j < b->len;) {
		const ro_range *x = &g_array_index(a, ro_range, i);
		const ro_range *y = &g_array_index(b, ro_range, j);

		ro_ranges_add(both, MAX(x->start, y->start), MIN(x->end, y->end));
		if (x->end < y->end)
			i++;
		else
			j++;
	}
	return both;
}

GArray *ro_ranges_subtract(const GArray *a, const GArray *b)
{
	GArray *rest = ro_ranges_new();

	for (guint i = 0, j = 0; i < a->len; i++) {
		const ro_range *x = &g_array_index(a, ro_range, i);
		guint64 at = x->start;

		while (j < b->len && g_array_index(b, ro_range, j).end <= at)
			j++;
		for (guint k = j; k < b->len && g_array_index(b, ro_range, k).start < x->end; k++) {
			const ro_range *y = &g_array_index(b, ro_range, k);

			ro_ranges_add(rest, at, y->start);
			at = MAX(at, MIN(y->end, x->end));
		}
		ro_ranges_add(rest, at, x->end);
	}
	return rest;
}

guint64 ro_ranges_total(const GArray *ranges)
{
	guint64 total = 0;

	for (guint i = 0; i < ranges->len; i++) {
		const ro_range *r = &g_array_index(ranges, ro_range, i);

		total += r->end - r->start;
	}
	return total;
}

gboolean ro_ranges_has(const GArray *ranges, guint64 start, guint64 end)
{
	guint low = 0, high = ranges->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(ranges, ro_range, middle).start <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && g_array_index(ranges, ro_range, low - 1).end >= end;
}
