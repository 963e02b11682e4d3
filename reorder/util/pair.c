/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/pair.h"

gboolean ro_pair_run(GThreadFunc work, ro_half first, ro_half second, GError **error)
{
	GThread *thread = g_thread_new("pair", work, first.data);

	work(second.data);
	g_thread_join(thread);
	if (!*first.error && !*second.error)
		return TRUE;
	if (*first.error)
		g_clear_error(second.error);
	g_propagate_error(error, *first.error ? *first.error : *second.error);
	return FALSE;
}
