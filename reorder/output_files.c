/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/output_files.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "reorder/util/error.h"
#include "reorder/util/output.h"

/* Says which file a path means: by what is there, else by directory and name. Owned by the caller.
 */
static char *identity(const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path), *name = g_path_get_basename(path);
	struct stat st;

	if (stat(path, &st) == 0)
		return g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
			(guint64)st.st_dev, (guint64)st.st_ino);
	char *real = realpath(dir, NULL);
	char *result = g_build_filename(real ? real : dir, name, NULL);
	free(real);
	return result;
}

static void remember(GHashTable *seen, const char *path, const char *what)
{
	if (path)
		g_hash_table_insert(seen, identity(path), (gpointer)what);
}

static gboolean check_one(GHashTable *seen, const char *path, gboolean force, GError **error)
{
	if (!path || g_str_equal(path, "-"))
		return TRUE;
	if (!*path)
		return ro_fail(error, RO_ERROR_USAGE, "the name of an output is empty");
	g_autofree char *id = identity(path);
	const char *what = g_hash_table_lookup(seen, id);
	if (what)
		return ro_fail(
			error, RO_ERROR_USAGE, "%s: this is %s; name another output", path, what);
	g_autoptr(ro_output) probe = ro_output_new(path, force, -1, error);
	remember(seen, path, "another output of this run");
	return probe != NULL;
}

static gboolean take_input(GHashTable *seen, const char *path, const char *what, GError **error)
{
	if (path && !*path)
		return ro_fail(error, RO_ERROR_USAGE, "the name of the input is empty");
	remember(seen, path, what);
	return TRUE;
}

static gboolean take_inputs(GHashTable *seen, const ro_options *options, GError **error)
{
	for (guint i = 0; i < options->traces->len; i++)
		if (!take_input(seen, g_ptr_array_index(options->traces, i), "a trace that is read",
			    error))
			return FALSE;
	return take_input(seen, options->input, "the input itself", error) &&
	       take_input(seen, options->other, "an input", error) &&
	       take_input(seen, options->read_log, "the log that is read", error) &&
	       take_input(seen, options->frames, "the recording that is read", error);
}

gboolean ro_output_files_check(const ro_options *options, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const char *written[] = {options->output, options->save_trace, options->json,
		options->report, options->segment};

	if (!take_inputs(seen, options, error))
		return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(written); i++)
		if (!check_one(seen, written[i], options->force, error))
			return FALSE;
	return TRUE;
}
