/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/options-internal.h"

#include <getopt.h>
#include <limits.h>

#include "reorder/plan/also.h"
#include "reorder/util/error.h"

/* Of the arguments that are no options. */
static const char *const first_arguments[RO_VERB_COUNT] = {"IN.iso", "IN.iso", "IN.iso", "IN.iso",
	"A.iso", "READ-LOG", "IN.iso", "OUT.iso", "OUT.iso"};
static const char *const second_arguments[RO_VERB_COUNT] = {
	[RO_VERB_REORDER] = "OUT.iso", [RO_VERB_COMPARE] = "B.iso"};

static ro_verb find_verb(int *argc, char ***argv)
{
	if (*argc < 2)
		return RO_VERB_REORDER;
	for (guint i = 1; i < RO_VERB_COUNT; i++) {
		if (!g_str_equal((*argv)[1], ro_verb_names[i]))
			continue;
		(*argv)++;
		(*argc)--;
		return (ro_verb)i;
	}
	return RO_VERB_REORDER;
}

/* The row for the verb, or the first one of that name if there is none. */
static const ro_option *row_of(const char *name, ro_verb verb)
{
	const ro_option *first = NULL;

	for (guint i = 0; i < ro_option_count; i++) {
		const ro_option *o = &ro_option_table[i];
		if (!g_str_equal(o->name, name))
			continue;
		if (o->verbs & 1 << verb)
			return o;
		first = first ? first : o;
	}
	return first;
}

/* getopt_long's tables, made from ours; val is the index plus 1 over the range of characters. */
static struct option *long_options(ro_verb verb, char *letters)
{
	guint n = ro_option_count;
	struct option *table = g_new0(struct option, n + 1), *next = table;

	*letters++ = ':'; /* a missing value is told apart from an unknown option */
	for (guint i = 0; i < n; i++) {
		const ro_option *o = &ro_option_table[i];
		if (o != row_of(o->name, verb))
			continue;
		*next++ = (struct option){o->name, o->value ? required_argument : no_argument, NULL,
			CHAR_MAX + 1 + (int)i};
		if (!o->letter)
			continue;
		*letters++ = o->letter;
		if (o->value)
			*letters++ = ':';
	}
	*letters = '\0';
	return table;
}

static const ro_option *option_of(int value)
{
	if (value > CHAR_MAX)
		return &ro_option_table[value - CHAR_MAX - 1];
	for (guint i = 0; i < ro_option_count; i++) {
		if (ro_option_table[i].letter == value)
			return &ro_option_table[i];
	}
	g_assert_not_reached(); /* getopt_long knows no other letters */
}

static gboolean take_option(ro_options *options, const ro_option *o, guint64 *seen, GError **error)
{
	guint64 bit = 1ull << (o - ro_option_table);

	if (!(o->verbs & 1 << options->verb)) {
		const char *verb = ro_verb_names[options->verb];
		return ro_fail(error, RO_ERROR_USAGE, "--%s does not go with %s", o->name,
			verb ? verb : "reordering");
	}
	if (*seen & bit && !o->repeats)
		return ro_fail(error, RO_ERROR_USAGE, "--%s is given twice", o->name);
	*seen |= bit;
	return o->set(options, optarg, error);
}

/* given: a bit for each option of the table that was there. */
static gboolean parse_options(
	ro_options *options, int argc, char **argv, guint64 *given, GError **error)
{
	g_autofree char *letters = g_malloc(2 * ro_option_count + 2);
	g_autofree struct option *table = long_options(options->verb, letters);
	int value;

	*given = 0;
	opterr = 0;
	optind = 0; /* start anew, also for a second call */
	while ((value = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		const char *text = argv[optind - 1];
		if (value == ':')
			return ro_fail(error, RO_ERROR_USAGE, "%s: needs a value", text);
		if (value == '?' && optopt > CHAR_MAX)
			return ro_fail(error, RO_ERROR_USAGE, "%s: takes no value", text);
		if (value == '?')
			return ro_fail(
				error, RO_ERROR_USAGE, "%s: unknown option; see --help", text);
		if (!take_option(options, option_of(value), given, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean take_arguments(ro_options *options, int argc, char **argv, GError **error)
{
	const char *first = options->diff ? "A.trace" : first_arguments[options->verb];
	const char *second = options->in_place ? NULL
			     : options->diff   ? "B.trace"
					       : second_arguments[options->verb];
	int given = argc - optind, wanted = second ? 2 : 1;

	if (given == 0 && options->segment)
		return TRUE;
	if (given < wanted)
		return ro_fail(error, RO_ERROR_USAGE, "%s is missing; usage: reorder-livecd %s",
			given == 0 ? first : second, ro_verb_synopses[options->verb]);
	if (given > wanted)
		return ro_fail(error, RO_ERROR_USAGE,
			"%s: one argument too many; usage: reorder-livecd %s",
			argv[optind + wanted], ro_verb_synopses[options->verb]);
	options->input = argv[optind];
	if (options->verb == RO_VERB_REORDER && !options->in_place)
		options->output = argv[optind + 1];
	else if (second)
		options->other = argv[optind + 1];
	return TRUE;
}

static void clear_until(gpointer data)
{
	tr_until *until = data;
	g_clear_pointer(&until->regex, g_regex_unref);
}

gboolean ro_options_parse(ro_options *options, int argc, char **argv, GError **error)
{
	guint64 given;

	*options = (ro_options){.engine = "auto",
		.writer = "auto",
		.tracer = TR_TRACER_AUTO,
		.seed = 1,
		.runs = 3,
		.processor = &tr_processors[0],
		.traces = g_ptr_array_new(),
		.also = g_ptr_array_new(),
		.devices = g_ptr_array_new()};
	options->untils = g_array_new(FALSE, FALSE, sizeof(tr_until));
	g_array_set_clear_func(options->untils, clear_until);
	options->verb = find_verb(&argc, &argv);
	if (!parse_options(options, argc, argv, &given, error))
		return FALSE;
	if (options->help || options->version || options->list_options)
		return TRUE;
	g_ptr_array_add(options->devices, NULL);
	options->hardware.devices = (const char *const *)options->devices->pdata;
	if (!take_arguments(options, argc, argv, error) || !ro_options_check(options, given, error))
		return FALSE;
	g_ptr_array_add(options->also, NULL);
	return ro_also_check((const char *const *)options->also->pdata, error);
}

void ro_options_clear(ro_options *options)
{
	g_ptr_array_unref(options->traces);
	g_ptr_array_unref(options->also);
	g_ptr_array_unref(options->devices);
	g_array_unref(options->untils);
}
