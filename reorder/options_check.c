/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that do not go together, or need another. */
#include "reorder/options-internal.h"

#include <string.h>

#include "reorder/util/error.h"

/* The first of the options that need --compare; NULL: none was given. */
static const char *needs_compare(const ro_options *options, guint64 given)
{
	gboolean compares = options->preload == RO_PRELOAD_AUTO;

	if (options->verb != RO_VERB_REORDER || options->compare)
		return NULL;
	for (guint i = 0; i < ro_option_count; i++) {
		const ro_option *o = &ro_option_table[i];

		/* --preload auto compares too, but reports nothing. */
		if (given & 1ull << i && (o->verbs & ~RO_SIMULATE) == RO_COMPARES &&
			(!compares || g_str_equal(o->name, "report")))
			return o->name;
	}
	return NULL;
}

/* The first of the given options that is not of the list, which ends with NULL; else NULL. */
static const char *not_of(guint64 given, const char *const *list)
{
	for (guint i = 0; i < ro_option_count; i++) {
		const char *const *s = list;

		while (*s && !g_str_equal(*s, ro_option_table[i].name))
			s++;
		if (given & 1ull << i && !*s)
			return ro_option_table[i].name;
	}
	return NULL;
}

/* What is no boot takes few options. */
static gboolean check_bootless(const ro_options *options, guint64 given, GError **error)
{
	static const char *const diff[] = {"diff", "json", "force", "quiet", "verbose", NULL};
	static const char *const segment[] = {
		"make-boot-segment", "until", "force", "quiet", "verbose", NULL};
	static const char *const frames[] = {
		"from-frames", "output", "json", "force", "quiet", "verbose", NULL};
	static const char *const log[] = {
		"read-log", "output", "json", "force", "quiet", "verbose", "tracer", NULL};
	const char *const *goes = options->diff       ? diff
				  : options->segment  ? segment
				  : options->frames   ? frames
				  : options->read_log ? log
						      : NULL;
	const char *bad = goes ? not_of(given, goes) : NULL;

	if (bad)
		return ro_fail(error, RO_ERROR_USAGE,
			"--%s does not go with --%s: nothing is booted", bad, goes[0]);
	return !options->read_log || options->tracer == TR_TRACER_AUTO ||
	       options->tracer == TR_TRACER_BLOCKS ||
	       ro_fail(error, RO_ERROR_USAGE,
		       "--read-log goes with --tracer blocks only: nothing else can be learnt from reads");
}

/* Two things on one standard output. */
static gboolean check_standard_output(const ro_options *options, GError **error)
{
	gboolean plan = options->verb == RO_VERB_PLAN;
	gboolean trace = options->verb == RO_VERB_TRACE && !options->diff;

	if (g_strcmp0(options->segment, "-") == 0)
		return ro_fail(error, RO_ERROR_USAGE,
			"--make-boot-segment needs the name of a file: what to do with it goes to standard output");
	if ((plan || trace) && g_strcmp0(options->json, "-") == 0 &&
		(!options->output || g_str_equal(options->output, "-")))
		return ro_fail(error, RO_ERROR_USAGE,
			"--json - and the %s would both go to standard output; use --output",
			plan ? "plan" : "trace");
	return TRUE;
}

static gboolean asks_for_auto(const ro_options *options)
{
	for (guint i = 0; i < options->also->len; i++)
		if (g_str_equal(g_ptr_array_index(options->also, i), "auto"))
			return TRUE;
	return FALSE;
}

/* Where the trace comes from. */
static gboolean check_traces(const ro_options *options, GError **error)
{
	if (options->traces->len < 2 && asks_for_auto(options))
		return ro_fail(error, RO_ERROR_USAGE,
			"--also auto needs two or more --trace, of unlike machines: in what they differ is what hardware decides");
	if (options->save_trace && options->traces->len > 0)
		return ro_fail(error, RO_ERROR_USAGE,
			"--save-trace and --trace exclude each other: nothing is recorded");
	if (options->segment && options->frames)
		return ro_fail(error, RO_ERROR_USAGE,
			"--make-boot-segment and --from-frames exclude each other: one comes before that boot, one after it");
	if (options->segment && options->output)
		return ro_fail(error, RO_ERROR_USAGE,
			"--make-boot-segment and --output exclude each other: there is no trace yet");
	return tr_hardware_check(&options->hardware, error);
}

gboolean ro_options_check(const ro_options *options, guint64 given, GError **error)
{
	const char *alone = needs_compare(options, given);

	if (!check_traces(options, error))
		return FALSE;
	if (options->verb == RO_VERB_PLAN && options->traces->len == 0 && options->also->len == 0)
		return ro_fail(error, RO_ERROR_USAGE,
			"plan needs a --trace; make one with reorder-livecd trace");
	if (options->verb == RO_VERB_DM && options->dm == RO_DM_NONE)
		return ro_fail(error, RO_ERROR_USAGE,
			"dm needs one of --table, --activate, --release, --status");
	if (options->in_place && g_str_equal(options->writer, "rebuild"))
		return ro_fail(error, RO_ERROR_USAGE,
			"--in-place and --writer rebuild exclude each other: a rebuilt ISO is a new file");
	if (options->in_place && options->compare)
		return ro_fail(error, RO_ERROR_USAGE,
			"--in-place and --compare exclude each other: the old ISO is gone");
	if (options->quiet && options->verbose)
		return ro_fail(error, RO_ERROR_USAGE, "--quiet and --verbose exclude each other");
	if (!check_bootless(options, given, error) || !check_standard_output(options, error))
		return FALSE;
	if (alone)
		return ro_fail(error, RO_ERROR_USAGE, "--%s needs --compare", alone);
	if (options->preload != RO_PRELOAD_NONE &&
		(options->in_place || g_strcmp0(options->writer, "patch") == 0))
		return ro_fail(error, RO_ERROR_USAGE,
			"--preload makes initrds grow, for which a new ISO has to be written: not with %s",
			options->in_place ? "--in-place" : "--writer patch");
	return TRUE;
}
