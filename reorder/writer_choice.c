/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/writer_choice.h"

#include "iso/writer_patch.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

/* A copy: the reason is told later, or never. */
static gboolean fail_with(GError **error, const GError *reason)
{
	if (error)
		*error = g_error_copy(reason);
	return FALSE;
}

gboolean ro_writer_choice_begin(
	ro_writer_choice *choice, const char *wanted, const li_iso *iso, GError **error)
{
	gboolean only_patch = g_str_equal(wanted, "patch");
	gboolean only_rebuild = g_str_equal(wanted, "rebuild");

	*choice = (ro_writer_choice){.wanted = wanted};
	if (!only_rebuild && !li_writer_patch.check(iso, &choice->no_patch) && only_patch)
		return fail_with(error, choice->no_patch);
	if (!only_patch && !li_writer_rebuild.check(iso, &choice->no_rebuild) &&
		(only_rebuild || choice->no_patch))
		return fail_with(error, choice->no_rebuild);
	if (only_patch || only_rebuild)
		choice->writer = only_patch ? &li_writer_patch : &li_writer_rebuild;
	return !ro_interrupted(error);
}

static gboolean too_large(const ro_writer_choice *choice, const li_iso *iso, const li_file *file,
	guint64 excess, GError **error)
{
	return ro_fail(error, choice->no_rebuild->code,
		"%s:%s: the new image is %" G_GUINT64_FORMAT
		" bytes too large for the place of the old one, and the ISO can't be made anew: %s",
		iso->path, file->path, excess, choice->no_rebuild->message);
}

gboolean ro_writer_choice_end(ro_writer_choice *choice, const li_iso *iso, const li_file *file,
	guint64 new_size, GError **error)
{
	guint64 excess = 0;

	if (choice->writer)
		return TRUE;
	if (choice->no_patch) {
		choice->writer = &li_writer_rebuild;
		choice->reason = g_strdup(choice->no_patch->message);
		return TRUE;
	}
	if (!li_patch_excess(iso, file, new_size, &excess, error))
		return FALSE;
	if (excess && choice->no_rebuild)
		return too_large(choice, iso, file, excess, error);
	choice->writer = excess ? &li_writer_rebuild : &li_writer_patch;
	choice->reason = excess ? g_strdup_printf("the new image is %" G_GUINT64_FORMAT
						  " bytes too large for the place of the old one",
					  excess)
				: g_strdup("the new image fits into the place of the old one");
	return TRUE;
}

void ro_writer_choice_clear(ro_writer_choice *choice)
{
	g_clear_error(&choice->no_patch);
	g_clear_error(&choice->no_rebuild);
	g_clear_pointer(&choice->reason, g_free);
}
