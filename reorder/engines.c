/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/engines.h"

#include "reorder/util/error.h"

/* In the order in which "auto" tries them. */
static const ro_engine *const engines[] = {&ro_engine_splice, &ro_engine_mksquashfs};

const ro_engine *ro_engine_choose(const char *name, const ro_engine_job *job, GError **error)
{
	gboolean automatic = g_str_equal(name, "auto");
	g_autoptr(GError) reason = NULL;

	for (gsize i = 0; i < G_N_ELEMENTS(engines); i++) {
		if (!automatic && !g_str_equal(engines[i]->name, name))
			continue;
		g_clear_error(&reason);
		if (engines[i]->check(job, &reason))
			return engines[i];
	}
	if (reason)
		g_propagate_error(error, g_steal_pointer(&reason));
	else
		ro_fail(error, RO_ERROR_USAGE, "--engine %s: this program was built without it",
			name);
	return NULL;
}
