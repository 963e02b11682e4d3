/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of positions as lists of ranges. The unit is the caller's: bytes, pages. A list is
 * normalised if it is sorted and its ranges neither overlap nor touch.
 */
#ifndef RO_UTIL_RANGES_H
#define RO_UTIL_RANGES_H

#include <glib.h>

/* [start, end) */
typedef struct {
	guint64 start, end;
} ro_range;

/* An empty list (of ro_range). */
GArray *ro_ranges_new(void);

/* Adds [start, end), unless it is empty; the list is not normalised any more. */
void ro_ranges_add(GArray *ranges, guint64 start, guint64 end);

/* Sorts, and makes one of those that overlap, touch or have a gap of at most that many units. */
void ro_ranges_merge(GArray *ranges, guint64 gap);
static inline void ro_ranges_normalise(GArray *ranges)
{
	ro_ranges_merge(ranges, 0);
}

/* Of normalised lists; the result is a new one, normalised too. */
GArray *ro_ranges_intersect(const GArray *a, const GArray *b);
GArray *ro_ranges_subtract(const GArray *a, const GArray *b);

/* Units in a normalised list. */
guint64 ro_ranges_total(const GArray *ranges);

/* Whether a normalised list has all of [start, end), which is not empty. */
gboolean ro_ranges_has(const GArray *ranges, guint64 start, guint64 end);

#endif
