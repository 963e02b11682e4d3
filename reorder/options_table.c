/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each option is called, goes with, and does. */
#include "reorder/options-internal.h"

#include <math.h>
#include <string.h>

#include "reorder/util/error.h"
#include "trace/compare.h"

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
const ro_option ro_option_table[] = {
	{"trace", 't', "FILE", RO_PLANS, TRUE, set_trace,
		"use this trace; several are merged (without: boot)"},
	{"save-trace", 0, "FILE", RO_REORDER, FALSE, set_save_trace, "keep the trace of the boot"},
	{"output", 'o', "FILE", RO_TRACE | RO_PLAN, FALSE, set_output,
		"write there (default: standard output)"},
	{"diff", 0, NULL, RO_TRACE, FALSE, set_diff,
		"compare the traces A.trace and B.trace; nothing is booted"},
	{"make-boot-segment", 0, "FILE", RO_TRACE, FALSE, set_segment,
		"write what makes a real machine record its boot, and say how; IN.iso may be left out"},
	{"from-frames", 0, "FILE", RO_TRACE, FALSE, set_frames,
		"make the trace of what such a machine has recorded"},
	{"order", 0, "ORDER", RO_PLANS, FALSE, set_order, "access (default), size, path, random"},
	{"seed", 0, "N", RO_PLANS, FALSE, set_seed, "of --order random (default 1)"},
	{"layout", 0, "WHERE", RO_PLANS, FALSE, set_layout,
		"boot files at the end (default) or front of the image"},
	{"also", 0, "GLOB|CLASS", RO_PLANS, TRUE, set_also,
		"add files behind the traced ones; class: modules, or auto (what hardware decides)"},
	{"engine", 0, "NAME", RO_REORDER, FALSE, set_engine, "auto (default), splice, mksquashfs"},
	{"writer", 0, "NAME", RO_REORDER, FALSE, set_writer,
		"auto (default), patch (in the place of the old image), rebuild"},
	{"in-place", 0, NULL, RO_REORDER, FALSE, set_in_place,
		"change IN.iso itself; there is no OUT.iso"},
	{"preload", 0, "HOW", RO_REORDER, FALSE, set_preload,
		"none (default); dm: what the boot reads goes to RAM first; auto: if that is faster"},
	{"table", 0, NULL, RO_DM, FALSE, set_table,
		"print the device-mapper table of the preload; needs no root"},
	{"activate", 0, NULL, RO_DM, FALSE, set_activate,
		"read the hot region to RAM and make /dev/mapper/reorder-hot"},
	{"release", 0, NULL, RO_DM, FALSE, set_release, "give the RAM back"},
	{"status", 0, NULL, RO_DM, FALSE, set_status, "say what is in RAM"},
	{"device", 0, "DEVICE", RO_DM, FALSE, set_dm_device,
		"where the medium is (default /dev/sr0)"},
	{"format", 'f', "FORMAT", RO_PLAN, FALSE, set_format,
		"plan (default), mksquashfs, gensquashfs"},
	{"tracer", 0, "NAME", RO_REORDER | RO_TRACE, FALSE, set_tracer,
		"how reads are learnt of: auto (default), fanotify, atime, blocks"},
	{"read-log", 0, "FILE", RO_TRACE, FALSE, set_read_log,
		"make the trace of this log of a boot's reads; nothing is booted"},
	{"until", 0, "RULE", RO_BOOTS, TRUE, set_until,
		"end of the boot: idle:SECONDS, console:REGEX, time:SECONDS; first of several"},
	{"accel", 0, "NAME", RO_BOOTS, FALSE, set_accel, "auto (default), kvm, tcg"},
	{"memory", 'm', "SIZE", RO_BOOTS, FALSE, set_memory, "of the virtual machine, like 4G"},
	{"cpus", 0, "N", RO_BOOTS, FALSE, set_cpus, "of the virtual machine"},
	{"machine", 0, "NAME", RO_BOOTS, FALSE, set_machine, "its chipset: q35 (default), pc"},
	{"device", 0, "NAME", RO_BOOTS, TRUE, set_device,
		"its network card, display, way to the medium, or one more device; see the manual"},
	{"cpu-model", 0, "NAME", RO_BOOTS, FALSE, set_cpu_model,
		"its processor, as QEMU calls it (default: the host's, or all that can be emulated)"},
	{"firmware", 0, "NAME", RO_BOOTS, FALSE, set_firmware,
		"direct (default), bios, uefi; the recorded boot is always started directly"},
	{"timeout", 0, "SECONDS", RO_BOOTS, FALSE, set_timeout, "longest the boot may take here"},
	{"compare", 0, NULL, RO_REORDER, FALSE, set_compare,
		"then compare the boot times of both ISOs"},
	{"drive", 'd', "NAME|FILE", RO_COMPARES | RO_SIMULATE, FALSE, set_drive,
		"cd (default), dvd, hdd, usb2, usb3, bmc, none, or a file; simulate: default all"},
	{"runs", 'n', "N", RO_COMPARES, FALSE, set_runs, "boots of each ISO (default 3)"},
	{"cpu", 0, "NAME", RO_COMPARES, FALSE, set_cpu,
		"modelled processor: laptop2008 (default), laptop, desktop"},
	{"slow-motion", 0, "K", RO_COMPARES | RO_SIMULATE, FALSE, set_slow_motion,
		"the factor instead of a calibration; simulate: of the log (default 1)"},
	{"report", 0, "FILE.html", RO_COMPARES, FALSE, set_report, "write a report to look at"},
	{"work-dir", 0, "DIR", RO_BOOTS, FALSE, set_work_dir,
		"for scratch files (default: TMPDIR or beside the output)"},
	{"keep-work", 0, NULL, RO_BOOTS, FALSE, set_keep_work, "leave the scratch files"},
	{"force", 0, NULL, RO_ALL & ~(RO_RECOVER | RO_DM), FALSE, set_force,
		"replace files that exist"},
	{"json", 0, "FILE", RO_ALL & ~(RO_RECOVER | RO_DM), FALSE, set_json,
		"write the results there too (- is standard output)"},
	{"quiet", 'q', NULL, RO_BOOTS, FALSE, set_quiet, "only warnings and errors"},
	{"verbose", 'v', NULL, RO_BOOTS, FALSE, set_verbose, "say more"},
	{"help", 'h', NULL, RO_ALL, TRUE, set_help, "this text"},
	{"version", 'V', NULL, RO_ALL, TRUE, set_version, "the version"},
	{"list-options", 0, NULL, RO_ALL, TRUE, set_list_options, NULL},
};

const guint ro_option_count = G_N_ELEMENTS(ro_option_table);
G_STATIC_ASSERT(G_N_ELEMENTS(ro_option_table) <= 64); /* bits of what was given */

const char *const ro_verb_names[RO_VERB_COUNT] = {
	NULL, "trace", "plan", "inspect", "compare", "simulate", "recover", "hotmap", "dm"};
const char *const ro_verb_synopses[RO_VERB_COUNT] = {"IN.iso OUT.iso [OPTION…]",
	"trace IN.iso|--diff A.trace B.trace [OPTION…]", "plan IN.iso --trace FILE [OPTION…]",
	"inspect IN.iso [OPTION…]", "compare A.iso B.iso [OPTION…]", "simulate READ-LOG [OPTION…]",
	"recover IN.iso", "hotmap OUT.iso [OPTION…]",
	"dm OUT.iso --table|--activate|--release|--status [--device DEVICE]"};
