/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which engine does the work. */
#ifndef RO_ENGINES_H
#define RO_ENGINES_H

#include "reorder/engine.h"

/*
 * The engine of that name, or for "auto" the first one that can do this image here. Checked; job's
 * plan and paths may be NULL. NULL with the reason of the one asked for, or of the last one tried.
 */
const ro_engine *ro_engine_choose(const char *name, const ro_engine_job *job, GError **error);

#endif
