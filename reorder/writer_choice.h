/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ISO writer is taken, and why. */
#ifndef RO_WRITER_CHOICE_H
#define RO_WRITER_CHOICE_H

#include "iso/writer.h"
#include "reorder/options.h"

typedef struct {
	gboolean in_place;
	GError *no_patch; /* why that writer can't be taken; NULL if it can */
	GError *no_rebuild;
	const li_writer *writer; /* NULL until it is known */
	char *reason;            /* of auto; NULL else */
} ro_writer_choice;

/* Before the long work: which of them could do it. Fails if none. The new images' sizes decide. */
gboolean ro_writer_choice_begin(
	ro_writer_choice *choice, const ro_options *options, const li_iso *iso, GError **error);

/* Sets writer. RO_ERROR_UNSUITABLE if a new image does not fit and it is too late for the other
 * one. */
gboolean ro_writer_choice_end(ro_writer_choice *choice, const li_iso *iso,
	const li_replacement *replacements, guint count, GError **error);

/* Another ISO is taken, which that writer has made. */
void ro_writer_choice_rebuild(ro_writer_choice *choice, const char *reason);

void ro_writer_choice_clear(ro_writer_choice *choice);

#endif
