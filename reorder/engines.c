/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/engines.h"

#include "reorder/image/ext4_tree.h"
#include "reorder/util/error.h"

/* In the order in which "auto" tries them. */
static const ro_engine *const engines[] = {
	&ro_engine_splice, &ro_engine_mksquashfs, &ro_engine_ext4};

/* Which engines there are for an image is a matter of what it is. */
static gboolean is_for(const ro_engine *engine, const img_tree *tree)
{
	return (engine == &ro_engine_ext4) == img_ext4_is_tree(tree);
}

const ro_engine *ro_engine_choose(const char *name, const ro_engine_job *job, GError **error)
{
	gboolean automatic = g_str_equal(name, "auto");
	g_autoptr(GError) reason = NULL;

	for (gsize i = 0; i < G_N_ELEMENTS(engines); i++) {
		if (!automatic && !g_str_equal(engines[i]->name, name))
			continue;
		if (!is_for(engines[i], job->tree)) {
			if (!automatic)
				ro_fail(&reason, RO_ERROR_USAGE,
					"--engine %s: it is not for an image of this kind; leave the choice to the program",
					name);
			continue;
		}
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
