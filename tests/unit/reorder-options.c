/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <string.h>

#include "reorder/options.h"
#include "reorder/util/error.h"

/* Splits at blanks; parses; the words are leaked on purpose of brevity into a static array. */
static gboolean parse(ro_options *options, const char *line, GError **error)
{
	static char **words;

	g_strfreev(words);
	words = g_strsplit(line, " ", -1);
	return ro_options_parse(options, (int)g_strv_length(words), words, error);
}

static void test_whole_job(void)
{
	ro_options o;

	g_assert_true(parse(&o,
		"r -q in.iso --order random --seed 7 --layout front out.iso --json - -m 4G "
		"--also modules --also etc/** --until idle:5 --until time:90 --accel tcg --timeout 60",
		NULL));
	g_assert_cmpint(o.verb, ==, RO_VERB_REORDER);
	g_assert_cmpstr(o.input, ==, "in.iso");
	g_assert_cmpstr(o.output, ==, "out.iso");
	g_assert_cmpint(o.order, ==, RO_ORDER_RANDOM);
	g_assert_cmpuint(o.seed, ==, 7);
	g_assert_cmpint(o.layout, ==, RO_LAYOUT_FRONT);
	g_assert_cmpstr(o.json, ==, "-");
	g_assert_cmpuint(o.memory, ==, 4ull << 30);
	g_assert_cmpuint(o.also->len, ==, 3);
	g_assert_null(g_ptr_array_index(o.also, 2));
	g_assert_cmpuint(o.untils->len, ==, 2);
	g_assert_cmpint(o.accel, ==, TR_ACCEL_TCG);
	g_assert_cmpfloat(o.timeout, ==, 60);
	g_assert_true(o.quiet);
	ro_options_clear(&o);
}

static void test_defaults(void)
{
	ro_options o;

	g_assert_true(parse(&o, "r in.iso out.iso", NULL));
	g_assert_cmpint(o.order, ==, RO_ORDER_ACCESS);
	g_assert_cmpint(o.layout, ==, RO_LAYOUT_END);
	g_assert_cmpint(o.accel, ==, TR_ACCEL_AUTO);
	g_assert_cmpint(o.tracer, ==, TR_TRACER_AUTO);
	g_assert_cmpstr(o.engine, ==, "auto");
	g_assert_cmpuint(o.memory, ==, 0);
	g_assert_false(o.force);
	ro_options_clear(&o);
}

static void test_verbs(void)
{
	ro_options o;

	g_assert_true(parse(&o, "r trace in.iso -o t", NULL));
	g_assert_cmpint(o.verb, ==, RO_VERB_TRACE);
	ro_options_clear(&o);
	g_assert_true(parse(&o, "r trace --diff a.trace b.trace --json - -v", NULL));
	g_assert_true(o.diff);
	g_assert_cmpstr(o.input, ==, "a.trace");
	g_assert_cmpstr(o.other, ==, "b.trace");
	g_assert_null(o.output);
	ro_options_clear(&o);
	g_assert_true(parse(&o, "r trace in.iso --tracer blocks --read-log log -o t", NULL));
	g_assert_cmpint(o.tracer, ==, TR_TRACER_BLOCKS);
	g_assert_cmpstr(o.read_log, ==, "log");
	ro_options_clear(&o);
	g_assert_true(parse(&o, "r plan in.iso -t a -t b -f gensquashfs", NULL));
	g_assert_cmpint(o.verb, ==, RO_VERB_PLAN);
	g_assert_cmpuint(o.traces->len, ==, 2);
	g_assert_cmpint(o.format, ==, RO_FORMAT_GENSQUASHFS);
	ro_options_clear(&o);
	/* only the exact word, and only as the first argument, is a verb */
	g_assert_true(parse(&o, "r ./trace plan", NULL));
	g_assert_cmpint(o.verb, ==, RO_VERB_REORDER);
	g_assert_cmpstr(o.input, ==, "./trace");
	g_assert_cmpstr(o.output, ==, "plan");
	ro_options_clear(&o);
	g_assert_true(parse(&o, "r -- -in.iso -out.iso", NULL));
	g_assert_cmpstr(o.input, ==, "-in.iso");
	ro_options_clear(&o);
}

static void test_machine(void)
{
	ro_options o;

	g_assert_true(parse(&o,
		"r trace in.iso --device ide --machine pc --device rtl8139 --cpu-model Nehalem "
		"--firmware uefi",
		NULL));
	g_assert_cmpint(o.hardware.chipset, ==, TR_CHIPSET_PC);
	g_assert_cmpstr(o.hardware.devices[0], ==, "ide");
	g_assert_cmpstr(o.hardware.devices[1], ==, "rtl8139");
	g_assert_null(o.hardware.devices[2]);
	g_assert_cmpstr(o.hardware.cpu_model, ==, "Nehalem");
	g_assert_true(o.hardware.uefi);
	g_assert_null(o.dm_device);
	ro_options_clear(&o);
	/* without an ISO */
	g_assert_true(parse(&o, "r trace --make-boot-segment out.cpio --until idle:5", NULL));
	g_assert_cmpstr(o.segment, ==, "out.cpio");
	g_assert_null(o.input);
	ro_options_clear(&o);
	/* its other meaning */
	g_assert_true(parse(&o, "r dm x.iso --table --device /dev/sr0", NULL));
	g_assert_cmpstr(o.dm_device, ==, "/dev/sr0");
	g_assert_null(o.hardware.devices[0]);
	ro_options_clear(&o);
	g_assert_true(parse(&o, "r a b --firmware bios", NULL));
	g_assert_false(o.hardware.uefi);
	ro_options_clear(&o);
}

static void test_errors_echo_the_text(void)
{
	const struct {
		const char *line, *part;
	} bad[] = {
		{"r", "IN.iso is missing"},
		{"r in.iso", "OUT.iso is missing"},
		{"r a b c", "c: one argument too many"},
		{"r a b --ordre size", "--ordre: unknown option"},
		{"r a b --order speed", "--order speed: not one of access, size, path, random"},
		{"r a b --order", "--order: needs a value"},
		{"r a b --force=yes", "--force=yes: takes no value"},
		{"r a b --order size --order path", "--order is given twice"},
		{"r a b --seed 12x", "--seed 12x"},
		{"r a b --seed -1", "--seed -1"},
		{"r a b -m 10", "--memory 10"},
		{"r a b -m 4T", "--memory 4T"},
		{"r a b --timeout 0", "--timeout 0"},
		{"r a b --until soon", "soon"},
		{"r a b --accel hvf", "--accel hvf"},
		{"r a b -q -v", "exclude each other"},
		{"r a b -t x --save-trace y", "exclude each other"},
		{"r trace a --machine i8", "--machine i8: not one of q35, pc"},
		{"r trace a --device nic", "--device nic: with --machine q35 not one of e1000e"},
		{"r trace a --device ide", "--device ide: with --machine q35 not one of"},
		{"r a b --device cirrus --device std", "a second display, beside cirrus"},
		{"r trace a --cpu-model a/b", "--cpu-model a/b: not a model"},
		{"r trace a --cpu laptop", "--cpu does not go with trace"},
		{"r plan a -t b --machine pc", "--machine does not go with plan"},
		{"r plan a -t b --device pc", "--device does not go with plan"},
		{"r dm a --status --device x --device y", "--device is given twice"},
		{"r trace --make-boot-segment a --from-frames b", "exclude each other"},
		{"r trace --make-boot-segment a --output b", "exclude each other"},
		{"r trace --from-frames b", "IN.iso is missing"},
		{"r trace --make-boot-segment a --json b",
			"--json does not go with --make-boot-segment"},
		{"r trace --make-boot-segment a --memory 1G",
			"--memory does not go with --make-boot"},
		{"r trace --make-boot-segment -", "needs the name of a file"},
		{"r trace a --from-frames b --tracer blocks",
			"--tracer does not go with --from-frames"},
		{"r trace a --from-frames b --read-log c",
			"--read-log does not go with --from-frames"},
		{"r trace a --json -", "both go to standard output"},
		{"r trace a --json - -o -", "both go to standard output"},
		{"r a b --from-frames c", "--from-frames does not go with reordering"},
		{"r plan a", "plan needs a --trace"},
		{"r plan a -t b --also auto", "--also auto needs two or more --trace"},
		{"r a b --also auto", "--also auto needs two or more --trace"},
		{"r inspect a --order size", "--order does not go with inspect"},
		{"r a b -o c", "--output does not go with reordering"},
		{"r a b -x", "-x: unknown option"},
		{"r trace --diff a", "B.trace is missing"},
		{"r trace --diff", "A.trace is missing"},
		{"r trace --diff a b c", "c: one argument too many"},
		{"r trace --diff a b --until idle:3", "--until does not go with --diff"},
		{"r trace a --read-log l --until idle:3", "--until does not go with --read-log"},
		{"r trace a --read-log l --tracer fanotify",
			"--read-log goes with --tracer blocks only"},
		{"r trace a --diff --read-log l b", "--read-log does not go with --diff"},
		{"r a b --tracer strace",
			"--tracer strace: not one of auto, fanotify, atime, blocks"},
		{"r compare a b --tracer blocks", "--tracer does not go with compare"},
		{"r a b --diff", "--diff does not go with reordering"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		ro_options o;
		g_assert_false(parse(&o, bad[i].line, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
		if (!strstr(error->message, bad[i].part))
			g_error("\"%s\" gives \"%s\", wanted \"%s\"", bad[i].line, error->message,
				bad[i].part);
		ro_options_clear(&o);
	}
}

static void test_comparing(void)
{
	ro_options o;

	g_assert_true(parse(&o,
		"r compare a.iso b.iso -d usb2 -n 5 --firmware uefi --cpu desktop "
		"--slow-motion 12.5 --report r.html --until idle:5",
		NULL));
	g_assert_cmpint(o.verb, ==, RO_VERB_COMPARE);
	g_assert_cmpstr(o.input, ==, "a.iso");
	g_assert_cmpstr(o.other, ==, "b.iso");
	g_assert_cmpstr(o.drive, ==, "usb2");
	g_assert_cmpuint(o.runs, ==, 5);
	g_assert_cmpint(o.firmware, ==, TR_FIRMWARE_UEFI);
	g_assert_cmpstr(o.processor->name, ==, "desktop");
	g_assert_cmpfloat(o.slow_motion, ==, 12.5);
	g_assert_cmpstr(o.report, ==, "r.html");
	ro_options_clear(&o);

	g_assert_true(parse(&o, "r in.iso out.iso --compare", NULL));
	g_assert_true(o.compare);
	g_assert_null(o.drive);
	g_assert_cmpuint(o.runs, ==, 3);
	g_assert_cmpint(o.firmware, ==, TR_FIRMWARE_DIRECT);
	g_assert_cmpstr(o.processor->name, ==, "laptop2008");
	ro_options_clear(&o);

	g_assert_true(parse(&o, "r in.iso out.iso --preload auto --drive usb2", NULL));
	g_assert_cmpint(o.preload, ==, RO_PRELOAD_AUTO);
	ro_options_clear(&o);

	g_assert_true(parse(&o, "r simulate reads.log", NULL));
	g_assert_cmpint(o.verb, ==, RO_VERB_SIMULATE);
	g_assert_cmpstr(o.input, ==, "reads.log");
	ro_options_clear(&o);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/options/machine", test_machine);
	g_test_add_func("/options/whole-job", test_whole_job);
	g_test_add_func("/options/defaults", test_defaults);
	g_test_add_func("/options/verbs", test_verbs);
	g_test_add_func("/options/comparing", test_comparing);
	g_test_add_func("/options/errors-echo-the-text", test_errors_echo_the_text);
	return g_test_run();
}
