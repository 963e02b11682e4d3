/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work on many items that do not depend on each other, on all processors. */
#ifndef RO_SPLICE_WORKERS_H
#define RO_SPLICE_WORKERS_H

#include <glib.h>

typedef struct {
	/* What one thread needs for itself; NULL with error set on failure. */
	gpointer (*start)(gpointer shared, GError **error);
	gboolean (*work)(gpointer own, guint item, GError **error);
	void (*end)(gpointer own);
} ro_splice_task;

typedef struct ro_splice_workers ro_splice_workers;

/* Starts on the items 0 to count - 1, in about that order. task and shared have to stay. */
ro_splice_workers *ro_splice_workers_start(
	const ro_splice_task *task, gpointer shared, guint count);

/* Waits until all items are done, or one has failed; sets the first error. Frees. */
gboolean ro_splice_workers_join(ro_splice_workers *workers, GError **error);

/* Stops and frees. Accepts NULL. */
void ro_splice_workers_cancel(ro_splice_workers *workers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_splice_workers, ro_splice_workers_cancel)

#endif
