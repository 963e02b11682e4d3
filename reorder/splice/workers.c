/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/workers.h"

#include "reorder/util/interrupt.h"

/* xz with blocks of 1 MiB takes 15 MB a thread. */
enum { MAX_THREADS = 8 };

struct ro_splice_workers {
	const ro_splice_task *task;
	gpointer shared;
	guint count;
	gint next; /* item; atomic */
	gint stop; /* atomic */
	GMutex lock;
	GError *error; /* the first; under the lock */
	guint thread_count;
	GThread *threads[MAX_THREADS];
};

static void note_error(ro_splice_workers *workers, GError *error)
{
	g_atomic_int_set(&workers->stop, 1);
	g_mutex_lock(&workers->lock);
	if (!workers->error)
		workers->error = g_steal_pointer(&error);
	g_mutex_unlock(&workers->lock);
	g_clear_error(&error);
}

static gboolean next_item(ro_splice_workers *workers, guint *item, GError **error)
{
	if (g_atomic_int_get(&workers->stop) || ro_interrupted(error))
		return FALSE;
	*item = (guint)g_atomic_int_add(&workers->next, 1);
	return *item < workers->count;
}

static gpointer run_thread(gpointer data)
{
	ro_splice_workers *workers = data;
	GError *error = NULL;
	gpointer own = workers->task->start(workers->shared, &error);
	guint item;

	while (own && next_item(workers, &item, &error))
		if (!workers->task->work(own, item, &error))
			break;
	if (own)
		workers->task->end(own);
	if (error)
		note_error(workers, error);
	return NULL;
}

ro_splice_workers *ro_splice_workers_start(const ro_splice_task *task, gpointer shared, guint count)
{
	ro_splice_workers *workers = g_new0(ro_splice_workers, 1);
	guint wanted = MIN(MIN(g_get_num_processors(), MAX_THREADS), count);

	workers->task = task;
	workers->shared = shared;
	workers->count = count;
	g_mutex_init(&workers->lock);
	while (workers->thread_count < wanted)
		workers->threads[workers->thread_count++] =
			g_thread_new("splice", run_thread, workers);
	return workers;
}

gboolean ro_splice_workers_join(ro_splice_workers *workers, GError **error)
{
	GError *failure;

	for (guint i = 0; i < workers->thread_count; i++)
		g_thread_join(workers->threads[i]);
	failure = workers->error;
	g_mutex_clear(&workers->lock);
	g_free(workers);
	if (!failure)
		return TRUE;
	g_propagate_error(error, failure);
	return FALSE;
}

void ro_splice_workers_cancel(ro_splice_workers *workers)
{
	if (!workers)
		return;
	g_atomic_int_set(&workers->stop, 1);
	ro_splice_workers_join(workers, NULL);
}
