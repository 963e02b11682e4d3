/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/options.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reorder/also.h"
#include "reorder/util/error.h"
#include "trace/compare.h"

enum {
	REORDER = 1 << RO_VERB_REORDER,
	TRACE = 1 << RO_VERB_TRACE,
	PLAN = 1 << RO_VERB_PLAN,
	INSPECT = 1 << RO_VERB_INSPECT,
	COMPARE = 1 << RO_VERB_COMPARE,
	SIMULATE = 1 << RO_VERB_SIMULATE,
	RECOVER = 1 << RO_VERB_RECOVER,
	HOTMAP = 1 << RO_VERB_HOTMAP,
	DM = 1 << RO_VERB_DM,
	COMPARES = REORDER | COMPARE,
	BOOTS = REORDER | TRACE | COMPARE,
	PLANS = REORDER | PLAN,
	ALL = (1 << RO_VERB_COUNT) - 1,
};

enum { HELP_INDENT = 29, HELP_WIDTH = 79 };

typedef gboolean (*setter)(ro_options *options, const char *value, GError **error);

typedef struct {
	const char *name;
	char letter;       /* or 0 */
	const char *value; /* what stands for it in --help; NULL: a switch */
	int verbs;
	gboolean repeats;
	setter set;
	const char *help;
} option;

typedef struct {
	const char *word;
	int value;
} choice;

static gboolean bad_value(
	GError **error, const char *option_name, const char *value, const char *wanted)
{
	return ro_fail(error, RO_ERROR_USAGE, "--%s %s: not %s", option_name, value, wanted);
}

static gboolean choose(
	const choice *choices, const char *name, const char *value, int *result, GError **error)
{
	g_autoptr(GString) wanted = g_string_new("one of");

	for (const choice *c = choices; c->word; c++) {
		if (g_str_equal(c->word, value)) {
			*result = c->value;
			return TRUE;
		}
		g_string_append_printf(wanted, "%s %s", c == choices ? "" : ",", c->word);
	}
	return bad_value(error, name, value, wanted->str);
}

static gboolean number(const char *name, const char *value, guint64 min, guint64 max,
	guint64 *result, GError **error)
{
	if (g_ascii_string_to_unsigned(value, 10, min, max, result, NULL))
		return TRUE;
	g_autofree char *wanted = g_strdup_printf(
		"a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, min, max);
	return bad_value(error, name, value, wanted);
}

static gboolean set_trace(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	g_ptr_array_add(o->traces, (char *)value);
	return TRUE;
}

static gboolean set_save_trace(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->save_trace = value;
	return TRUE;
}

static gboolean set_segment(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->segment = value;
	return TRUE;
}

static gboolean set_frames(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->frames = value;
	return TRUE;
}

static gboolean set_output(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->output = value;
	return TRUE;
}

static gboolean set_order(ro_options *o, const char *value, GError **error)
{
	static const choice orders[] = {{"access", RO_ORDER_ACCESS}, {"size", RO_ORDER_SIZE},
		{"path", RO_ORDER_PATH}, {"random", RO_ORDER_RANDOM}, {NULL, 0}};
	int order;

	if (!choose(orders, "order", value, &order, error))
		return FALSE;
	o->order = (ro_order)order;
	return TRUE;
}

static gboolean set_seed(ro_options *o, const char *value, GError **error)
{
	return number("seed", value, 0, G_MAXUINT64, &o->seed, error);
}

static gboolean set_layout(ro_options *o, const char *value, GError **error)
{
	static const choice layouts[] = {
		{"end", RO_LAYOUT_END}, {"front", RO_LAYOUT_FRONT}, {NULL, 0}};
	int layout;

	if (!choose(layouts, "layout", value, &layout, error))
		return FALSE;
	o->layout = (ro_layout)layout;
	return TRUE;
}

static gboolean set_also(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	g_ptr_array_add(o->also, (char *)value);
	return TRUE;
}

static gboolean set_engine(ro_options *o, const char *value, GError **error)
{
	static const choice engines[] = {{"auto", 0}, {"splice", 0}, {"mksquashfs", 0}, {NULL, 0}};
	int ignored;

	o->engine = value;
	return choose(engines, "engine", value, &ignored, error);
}

static gboolean set_writer(ro_options *o, const char *value, GError **error)
{
	static const choice writers[] = {{"auto", 0}, {"patch", 0}, {"rebuild", 0}, {NULL, 0}};
	int ignored;

	o->writer = value;
	return choose(writers, "writer", value, &ignored, error);
}

static gboolean set_preload(ro_options *o, const char *value, GError **error)
{
	static const choice modes[] = {{"none", RO_PRELOAD_NONE}, {"dm", RO_PRELOAD_DM},
		{"auto", RO_PRELOAD_AUTO}, {NULL, 0}};
	int mode;

	if (!choose(modes, "preload", value, &mode, error))
		return FALSE;
	o->preload = (ro_preload_mode)mode;
	return TRUE;
}

static gboolean set_format(ro_options *o, const char *value, GError **error)
{
	static const choice formats[] = {{"plan", RO_FORMAT_PLAN},
		{"mksquashfs", RO_FORMAT_MKSQUASHFS}, {"gensquashfs", RO_FORMAT_GENSQUASHFS},
		{NULL, 0}};
	int format;

	if (!choose(formats, "format", value, &format, error))
		return FALSE;
	o->format = (ro_format)format;
	return TRUE;
}

static gboolean set_tracer(ro_options *o, const char *value, GError **error)
{
	static const choice tracers[] = {{"auto", TR_TRACER_AUTO}, {"fanotify", TR_TRACER_FANOTIFY},
		{"atime", TR_TRACER_ATIME}, {"blocks", TR_TRACER_BLOCKS}, {NULL, 0}};
	int tracer;

	if (!choose(tracers, "tracer", value, &tracer, error))
		return FALSE;
	o->tracer = (tr_tracer)tracer;
	return TRUE;
}

static gboolean set_read_log(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->read_log = value;
	return TRUE;
}

static gboolean set_accel(ro_options *o, const char *value, GError **error)
{
	static const choice accels[] = {
		{"auto", TR_ACCEL_AUTO}, {"kvm", TR_ACCEL_KVM}, {"tcg", TR_ACCEL_TCG}, {NULL, 0}};
	int accel;

	if (!choose(accels, "accel", value, &accel, error))
		return FALSE;
	o->accel = (tr_accel)accel;
	return TRUE;
}

/* Megabytes unless there is a unit, as QEMU's -m takes it. */
static gboolean set_memory(ro_options *o, const char *value, GError **error)
{
	g_autofree char *digits = g_strdup(value);
	gsize length = strlen(digits);
	guint64 unit = 1 << 20, amount;

	if (length > 1 && strchr("GgMm", digits[length - 1])) {
		if (g_ascii_tolower(digits[length - 1]) == 'g')
			unit = 1 << 30;
		digits[length - 1] = '\0';
	}
	if (!g_ascii_string_to_unsigned(digits, 10, 1, 1 << 20, &amount, NULL) ||
		amount * unit < 64 << 20)
		return bad_value(error, "memory", value, "a size of at least 64M, like 512M or 4G");
	o->memory = amount * unit;
	return TRUE;
}

static gboolean set_cpus(ro_options *o, const char *value, GError **error)
{
	guint64 cpus;

	if (!number("cpus", value, 1, 64, &cpus, error))
		return FALSE;
	o->cpus = (guint)cpus;
	return TRUE;
}

static gboolean set_timeout(ro_options *o, const char *value, GError **error)
{
	guint64 seconds;

	if (!number("timeout", value, 1, 86400, &seconds, error))
		return FALSE;
	o->timeout = (double)seconds;
	return TRUE;
}

static gboolean set_until(ro_options *o, const char *value, GError **error)
{
	tr_until until = {0};

	if (!tr_until_parse(value, &until, error))
		return FALSE;
	g_array_append_val(o->untils, until);
	return TRUE;
}

static gboolean set_drive(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->drive = value;
	return TRUE;
}

static gboolean set_runs(ro_options *o, const char *value, GError **error)
{
	guint64 runs;

	if (!number("runs", value, 1, TR_RUNS_MAX, &runs, error))
		return FALSE;
	o->runs = (guint)runs;
	return TRUE;
}

static gboolean set_firmware(ro_options *o, const char *value, GError **error)
{
	static const choice firmwares[] = {{"direct", TR_FIRMWARE_DIRECT},
		{"bios", TR_FIRMWARE_BIOS}, {"uefi", TR_FIRMWARE_UEFI}, {NULL, 0}};
	int firmware;

	if (!choose(firmwares, "firmware", value, &firmware, error))
		return FALSE;
	o->firmware = (tr_firmware)firmware;
	o->hardware.uefi = firmware == TR_FIRMWARE_UEFI;
	return TRUE;
}

static gboolean set_slow_motion(ro_options *o, const char *value, GError **error)
{
	char *end;

	o->slow_motion = g_ascii_strtod(value, &end);
	if (end != value && !*end && value[strspn(value, "0123456789.")] == '\0' &&
		o->slow_motion >= 0.1 && o->slow_motion <= 1000)
		return TRUE;
	return bad_value(error, "slow-motion", value, "a number from 0.1 to 1000");
}

static gboolean set_cpu(ro_options *o, const char *value, GError **error)
{
	o->processor = tr_processor_find(value);
	return o->processor || bad_value(error, "cpu", value, "one of laptop2008, laptop, desktop");
}

static gboolean set_report(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->report = value;
	return TRUE;
}

static gboolean set_dm_device(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->dm_device = value;
	return TRUE;
}

static gboolean set_machine(ro_options *o, const char *value, GError **error)
{
	static const choice chipsets[] = {
		{"q35", TR_CHIPSET_Q35}, {"pc", TR_CHIPSET_PC}, {NULL, 0}};
	int chipset;

	if (!choose(chipsets, "machine", value, &chipset, error))
		return FALSE;
	o->hardware.chipset = (tr_chipset)chipset;
	return TRUE;
}

static gboolean set_device(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	g_ptr_array_add(o->devices, (char *)value);
	return TRUE;
}

static gboolean set_cpu_model(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->hardware.cpu_model = value;
	return TRUE;
}

static gboolean set_action(ro_options *o, ro_dm_action action, GError **error)
{
	if (o->dm != RO_DM_NONE)
		return ro_fail(error, RO_ERROR_USAGE,
			"--table, --activate, --release and --status exclude each other");
	o->dm = action;
	return TRUE;
}

#define ACTION(name, action)                                                                       \
	static gboolean set_##name(ro_options *o, G_GNUC_UNUSED const char *value, GError **error) \
	{                                                                                          \
		return set_action(o, action, error);                                               \
	}
ACTION(table, RO_DM_TABLE)
ACTION(activate, RO_DM_ACTIVATE)
ACTION(release, RO_DM_RELEASE)
ACTION(status, RO_DM_STATUS)

static gboolean set_json(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->json = value;
	return TRUE;
}

static gboolean set_work_dir(ro_options *o, const char *value, G_GNUC_UNUSED GError **error)
{
	o->work_dir = value;
	return TRUE;
}

#define SWITCH(field)                                                                              \
	static gboolean set_##field(                                                               \
		ro_options *o, G_GNUC_UNUSED const char *value, G_GNUC_UNUSED GError **error)      \
	{                                                                                          \
		o->field = TRUE;                                                                   \
		return TRUE;                                                                       \
	}
SWITCH(compare)
SWITCH(in_place)
SWITCH(diff)
SWITCH(keep_work)
SWITCH(force)
SWITCH(quiet)
SWITCH(verbose)
SWITCH(help)
SWITCH(version)
SWITCH(list_options)

/* In the order of --help. An option without help text is not shown. A name may mean one thing for
 * some verbs and another for others. */
static const option options_table[] = {
	{"trace", 't', "FILE", PLANS, TRUE, set_trace,
		"use this trace; several are merged (without: boot)"},
	{"save-trace", 0, "FILE", REORDER, FALSE, set_save_trace, "keep the trace of the boot"},
	{"output", 'o', "FILE", TRACE | PLAN, FALSE, set_output,
		"write there (default: standard output)"},
	{"diff", 0, NULL, TRACE, FALSE, set_diff,
		"compare the traces A.trace and B.trace; nothing is booted"},
	{"make-boot-segment", 0, "FILE", TRACE, FALSE, set_segment,
		"write what makes a real machine record its boot, and say how; IN.iso may be left out"},
	{"from-frames", 0, "FILE", TRACE, FALSE, set_frames,
		"make the trace of what such a machine has recorded"},
	{"order", 0, "ORDER", PLANS, FALSE, set_order, "access (default), size, path, random"},
	{"seed", 0, "N", PLANS, FALSE, set_seed, "of --order random (default 1)"},
	{"layout", 0, "WHERE", PLANS, FALSE, set_layout,
		"boot files at the end (default) or front of the image"},
	{"also", 0, "GLOB|CLASS", PLANS, TRUE, set_also,
		"add files behind the traced ones; class: modules, or auto (what hardware decides)"},
	{"engine", 0, "NAME", REORDER, FALSE, set_engine, "auto (default), splice, mksquashfs"},
	{"writer", 0, "NAME", REORDER, FALSE, set_writer,
		"auto (default), patch (in the place of the old image), rebuild"},
	{"in-place", 0, NULL, REORDER, FALSE, set_in_place,
		"change IN.iso itself; there is no OUT.iso"},
	{"preload", 0, "HOW", REORDER, FALSE, set_preload,
		"none (default); dm: what the boot reads goes to RAM first; auto: if that is faster"},
	{"table", 0, NULL, DM, FALSE, set_table,
		"print the device-mapper table of the preload; needs no root"},
	{"activate", 0, NULL, DM, FALSE, set_activate,
		"read the hot region to RAM and make /dev/mapper/reorder-hot"},
	{"release", 0, NULL, DM, FALSE, set_release, "give the RAM back"},
	{"status", 0, NULL, DM, FALSE, set_status, "say what is in RAM"},
	{"device", 0, "DEVICE", DM, FALSE, set_dm_device, "where the medium is (default /dev/sr0)"},
	{"format", 'f', "FORMAT", PLAN, FALSE, set_format,
		"plan (default), mksquashfs, gensquashfs"},
	{"tracer", 0, "NAME", REORDER | TRACE, FALSE, set_tracer,
		"how reads are learnt of: auto (default), fanotify, atime, blocks"},
	{"read-log", 0, "FILE", TRACE, FALSE, set_read_log,
		"make the trace of this log of a boot's reads; nothing is booted"},
	{"until", 0, "RULE", BOOTS, TRUE, set_until,
		"end of the boot: idle:SECONDS, console:REGEX, time:SECONDS; first of several"},
	{"accel", 0, "NAME", BOOTS, FALSE, set_accel, "auto (default), kvm, tcg"},
	{"memory", 'm', "SIZE", BOOTS, FALSE, set_memory, "of the virtual machine, like 4G"},
	{"cpus", 0, "N", BOOTS, FALSE, set_cpus, "of the virtual machine"},
	{"machine", 0, "NAME", BOOTS, FALSE, set_machine, "its chipset: q35 (default), pc"},
	{"device", 0, "NAME", BOOTS, TRUE, set_device,
		"its network card, display, way to the medium, or one more device; see the manual"},
	{"cpu-model", 0, "NAME", BOOTS, FALSE, set_cpu_model,
		"its processor, as QEMU calls it (default: the host's, or all that can be emulated)"},
	{"firmware", 0, "NAME", BOOTS, FALSE, set_firmware,
		"direct (default), bios, uefi; the recorded boot is always started directly"},
	{"timeout", 0, "SECONDS", BOOTS, FALSE, set_timeout, "longest the boot may take here"},
	{"compare", 0, NULL, REORDER, FALSE, set_compare,
		"then compare the boot times of both ISOs"},
	{"drive", 'd', "NAME|FILE", COMPARES | SIMULATE, FALSE, set_drive,
		"cd (default), dvd, hdd, usb2, usb3, bmc, none, or a file; simulate: default all"},
	{"runs", 'n', "N", COMPARES, FALSE, set_runs, "boots of each ISO (default 3)"},
	{"cpu", 0, "NAME", COMPARES, FALSE, set_cpu,
		"modelled processor: laptop2008 (default), laptop, desktop"},
	{"slow-motion", 0, "K", COMPARES | SIMULATE, FALSE, set_slow_motion,
		"the factor instead of a calibration; simulate: of the log (default 1)"},
	{"report", 0, "FILE.html", COMPARES, FALSE, set_report, "write a report to look at"},
	{"work-dir", 0, "DIR", BOOTS, FALSE, set_work_dir,
		"for scratch files (default: TMPDIR or beside the output)"},
	{"keep-work", 0, NULL, BOOTS, FALSE, set_keep_work, "leave the scratch files"},
	{"force", 0, NULL, ALL & ~(RECOVER | DM), FALSE, set_force, "replace files that exist"},
	{"json", 0, "FILE", ALL & ~(RECOVER | DM), FALSE, set_json,
		"write the results there too (- is standard output)"},
	{"quiet", 'q', NULL, BOOTS, FALSE, set_quiet, "only warnings and errors"},
	{"verbose", 'v', NULL, BOOTS, FALSE, set_verbose, "say more"},
	{"help", 'h', NULL, ALL, TRUE, set_help, "this text"},
	{"version", 'V', NULL, ALL, TRUE, set_version, "the version"},
	{"list-options", 0, NULL, ALL, TRUE, set_list_options, NULL},
};

static const char *const verb_names[RO_VERB_COUNT] = {
	NULL, "trace", "plan", "inspect", "compare", "simulate", "recover", "hotmap", "dm"};
static const char *const synopses[RO_VERB_COUNT] = {"IN.iso OUT.iso [OPTION…]",
	"trace IN.iso|--diff A.trace B.trace [OPTION…]", "plan IN.iso --trace FILE [OPTION…]",
	"inspect IN.iso [OPTION…]", "compare A.iso B.iso [OPTION…]", "simulate READ-LOG [OPTION…]",
	"recover IN.iso", "hotmap OUT.iso [OPTION…]",
	"dm OUT.iso --table|--activate|--release|--status [--device DEVICE]"};

/* Of the arguments that are no options. */
static const char *const first_arguments[RO_VERB_COUNT] = {"IN.iso", "IN.iso", "IN.iso", "IN.iso",
	"A.iso", "READ-LOG", "IN.iso", "OUT.iso", "OUT.iso"};
static const char *const second_arguments[RO_VERB_COUNT] = {
	[RO_VERB_REORDER] = "OUT.iso", [RO_VERB_COMPARE] = "B.iso"};

static ro_verb find_verb(int *argc, char ***argv)
{
	if (*argc < 2)
		return RO_VERB_REORDER;
	for (guint i = 1; i < G_N_ELEMENTS(verb_names); i++) {
		if (!g_str_equal((*argv)[1], verb_names[i]))
			continue;
		(*argv)++;
		(*argc)--;
		return (ro_verb)i;
	}
	return RO_VERB_REORDER;
}

/* The row for the verb, or the first one of that name if there is none. */
static const option *row_of(const char *name, ro_verb verb)
{
	const option *first = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(options_table); i++) {
		const option *o = &options_table[i];
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
	guint n = G_N_ELEMENTS(options_table);
	struct option *table = g_new0(struct option, n + 1), *next = table;

	*letters++ = ':'; /* a missing value is told apart from an unknown option */
	for (guint i = 0; i < n; i++) {
		const option *o = &options_table[i];
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

static const option *option_of(int value)
{
	if (value > CHAR_MAX)
		return &options_table[value - CHAR_MAX - 1];
	for (guint i = 0; i < G_N_ELEMENTS(options_table); i++) {
		if (options_table[i].letter == value)
			return &options_table[i];
	}
	g_assert_not_reached(); /* getopt_long knows no other letters */
}

static gboolean take_option(ro_options *options, const option *o, guint64 *seen, GError **error)
{
	guint64 bit = 1ull << (o - options_table);

	if (!(o->verbs & 1 << options->verb)) {
		const char *verb = verb_names[options->verb];
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
	char letters[2 * G_N_ELEMENTS(options_table) + 2];
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
			given == 0 ? first : second, synopses[options->verb]);
	if (given > wanted)
		return ro_fail(error, RO_ERROR_USAGE,
			"%s: one argument too many; usage: reorder-livecd %s",
			argv[optind + wanted], synopses[options->verb]);
	options->input = argv[optind];
	if (options->verb == RO_VERB_REORDER && !options->in_place)
		options->output = argv[optind + 1];
	else if (second)
		options->other = argv[optind + 1];
	return TRUE;
}

/* The first of the options that need --compare; NULL: none was given. */
static const char *needs_compare(const ro_options *options, guint64 given)
{
	gboolean compares = options->preload == RO_PRELOAD_AUTO;

	if (options->verb != RO_VERB_REORDER || options->compare)
		return NULL;
	for (guint i = 0; i < G_N_ELEMENTS(options_table); i++) {
		const option *o = &options_table[i];

		/* --preload auto compares too, but reports nothing. */
		if (given & 1ull << i && (o->verbs & ~SIMULATE) == COMPARES &&
			(!compares || o->set == set_report))
			return o->name;
	}
	return NULL;
}

/* The first of the given options that is not of the list, which ends with NULL; else NULL. */
static const char *not_of(guint64 given, const setter *list)
{
	for (guint i = 0; i < G_N_ELEMENTS(options_table); i++) {
		const setter *s = list;

		while (*s && *s != options_table[i].set)
			s++;
		if (given & 1ull << i && !*s)
			return options_table[i].name;
	}
	return NULL;
}

/* What is no boot takes few options. */
static gboolean check_bootless(const ro_options *options, guint64 given, GError **error)
{
	static const setter diff[] = {set_diff, set_json, set_force, set_quiet, set_verbose, NULL};
	static const setter log[] = {set_read_log, set_output, set_json, set_force, set_quiet,
		set_verbose, set_tracer, NULL};
	const char *what = options->diff ? "diff" : "read-log";
	const char *bad = options->diff       ? not_of(given, diff)
			  : options->read_log ? not_of(given, log)
					      : NULL;

	if (bad)
		return ro_fail(error, RO_ERROR_USAGE,
			"--%s does not go with --%s: nothing is booted", bad, what);
	return !options->read_log || options->tracer == TR_TRACER_AUTO ||
	       options->tracer == TR_TRACER_BLOCKS ||
	       ro_fail(error, RO_ERROR_USAGE,
		       "--read-log goes with --tracer blocks only: nothing else can be learnt from reads");
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

static gboolean check_together(const ro_options *options, guint64 given, GError **error)
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
	if (options->verb == RO_VERB_PLAN && g_strcmp0(options->json, "-") == 0 &&
		(!options->output || g_str_equal(options->output, "-")))
		return ro_fail(error, RO_ERROR_USAGE,
			"--json - and the plan would both go to standard output; use --output");
	if (options->in_place && g_str_equal(options->writer, "rebuild"))
		return ro_fail(error, RO_ERROR_USAGE,
			"--in-place and --writer rebuild exclude each other: a rebuilt ISO is a new file");
	if (options->in_place && options->compare)
		return ro_fail(error, RO_ERROR_USAGE,
			"--in-place and --compare exclude each other: the old ISO is gone");
	if (options->quiet && options->verbose)
		return ro_fail(error, RO_ERROR_USAGE, "--quiet and --verbose exclude each other");
	if (!check_bootless(options, given, error))
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
	if (!take_arguments(options, argc, argv, error) || !check_together(options, given, error))
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

/* Words from HELP_INDENT to HELP_WIDTH, then a newline. */
static void print_wrapped(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	gsize column = HELP_INDENT;

	for (char **word = words; *word; word++) {
		gsize length = strlen(*word);
		if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
			printf("\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		}
		column += (gsize)printf("%s%s", column > HELP_INDENT ? " " : "", *word);
	}
	printf("\n");
}

static void print_option(const option *o)
{
	g_autofree char *letter = o->letter ? g_strdup_printf("-%c,", o->letter) : g_strdup("");
	g_autofree char *text = g_strdup_printf(
		"%-3s --%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");

	printf("  %-*s", HELP_INDENT - 2, text);
	if (strlen(text) > HELP_INDENT - 4)
		printf("\n%*s", HELP_INDENT, "");
	print_wrapped(o->help);
}

void ro_options_print_help(const ro_options *options)
{
	int verb = 1 << options->verb;

	if (options->verb == RO_VERB_REORDER) {
		printf("usage: reorder-livecd %s\n", synopses[RO_VERB_REORDER]);
		for (guint i = 1; i < G_N_ELEMENTS(verb_names); i++)
			printf("       reorder-livecd %s\n", synopses[i]);
		printf("\nMakes a live ISO that boots faster from slow media: boots IN.iso once in a\n"
		       "virtual machine, records which files the boot reads, and writes OUT.iso with\n"
		       "these files together, the same in all else.\n\n");
	} else {
		printf("usage: reorder-livecd %s\n\n", synopses[options->verb]);
	}
	for (guint i = 0; i < G_N_ELEMENTS(options_table); i++) {
		if (options_table[i].verbs & verb && options_table[i].help)
			print_option(&options_table[i]);
	}
	if (options->verb == RO_VERB_REORDER)
		printf("\nExit status: 0 done, 1 failed, 2 usage, 3 the ISO cannot be reordered,\n"
		       "4 the guest did not boot.\n"
		       "Every verb has a --help of its own. Manual: man reorder-livecd\n");
}

void ro_options_print_list(const ro_options *options)
{
	for (guint i = 0; i < G_N_ELEMENTS(options_table); i++) {
		if (options_table[i].verbs & 1 << options->verb && options_table[i].help)
			printf("--%s\n", options_table[i].name);
	}
}
