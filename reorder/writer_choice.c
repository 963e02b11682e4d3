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

static const char *wanted_writer(const ro_options *options)
{
	if (options->in_place)
		return li_writer_patch.name;
	return options->preload == RO_PRELOAD_DM ? li_writer_rebuild.name : options->writer;
}

gboolean ro_writer_choice_begin(
	ro_writer_choice *choice, const ro_options *options, const li_iso *iso, GError **error)
{
	const char *wanted = wanted_writer(options);
	gboolean only_patch = g_str_equal(wanted, "patch");
	gboolean only_rebuild = g_str_equal(wanted, "rebuild");

	*choice = (ro_writer_choice){.in_place = options->in_place};
	if (!only_rebuild && !li_writer_patch.check(iso, &choice->no_patch) && only_patch)
		return fail_with(error, choice->no_patch);
	if (!only_patch && !li_writer_rebuild.check(iso, &choice->no_rebuild) &&
		(only_rebuild || choice->no_patch || options->preload != RO_PRELOAD_NONE))
		return fail_with(error, choice->no_rebuild);
	if (only_patch || only_rebuild)
		choice->writer = only_patch ? &li_writer_patch : &li_writer_rebuild;
	return !ro_interrupted(error);
}

#define TOO_LARGE                                                                                  \
	"the new image is %" G_GUINT64_FORMAT " bytes too large for the place of the old one"

static gboolean fail_too_large(const ro_writer_choice *choice, const li_iso *iso,
	const li_file *file, guint64 excess, GError **error)
{
	if (choice->no_rebuild)
		return ro_fail(error, choice->no_rebuild->code,
			"%s:%s: " TOO_LARGE ", and the ISO can't be made anew: %s", iso->path,
			file->path, excess, choice->no_rebuild->message);
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s:%s: " TOO_LARGE "; %s", iso->path,
		file->path, excess,
		choice->in_place ? "write a new ISO instead" : "use --writer rebuild");
}

gboolean ro_writer_choice_end(ro_writer_choice *choice, const li_iso *iso,
	const li_replacement *replacements, guint count, GError **error)
{
	const li_file *file;
	guint64 excess;

	if (choice->writer == &li_writer_rebuild)
		return TRUE;
	if (choice->no_patch) {
		choice->writer = &li_writer_rebuild;
		choice->reason = g_strdup(choice->no_patch->message);
		return TRUE;
	}
	if (!li_patch_misfit(iso, replacements, count, &file, &excess, error))
		return FALSE;
	if (file && (choice->writer || choice->no_rebuild))
		return fail_too_large(choice, iso, file, excess, error);
	if (choice->writer)
		return TRUE;
	choice->writer = file ? &li_writer_rebuild : &li_writer_patch;
	choice->reason = file ? g_strdup_printf(TOO_LARGE, excess)
			      : g_strdup("the new image fits into the place of the old one");
	return TRUE;
}

void ro_writer_choice_rebuild(ro_writer_choice *choice, const char *reason)
{
	choice->writer = &li_writer_rebuild;
	g_free(choice->reason);
	choice->reason = g_strdup(reason);
}

void ro_writer_choice_clear(ro_writer_choice *choice)
{
	g_clear_error(&choice->no_patch);
	g_clear_error(&choice->no_rebuild);
	g_clear_pointer(&choice->reason, g_free);
}
