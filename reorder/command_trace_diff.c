/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace --diff */
#include "reorder/commands.h"

#include <stdio.h>

#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/json.h"
#include "trace/trace_diff.h"

/* Paths of each side that the text names; --verbose names all. */
enum { EXAMPLES = 10 };

typedef struct {
	const ro_options *options;
	tr_trace *a, *b;
	tr_diff diff;
} diff_run;

static void diff_run_clear(diff_run *run)
{
	tr_trace_free(run->a);
	tr_trace_free(run->b);
	tr_diff_clear(&run->diff);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(diff_run, diff_run_clear)

static gboolean differ(const char *a, const char *b)
{
	return a && b && !g_str_equal(a, b);
}

/* Another build of the same system is worth a look; two systems have nothing in common. */
static gboolean check_images(const diff_run *run, GError **error)
{
	const ro_options *o = run->options;
	const tr_trace *a = run->a, *b = run->b;

	if (run->diff.all.both == 0 && run->diff.all.a > 0 && run->diff.all.b > 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s and %s: no path is in both, they are of different images (%s of volume %s, %s of volume %s)",
			o->input, o->other, a->image ? a->image : "?",
			a->volume_id ? a->volume_id : "?", b->image ? b->image : "?",
			b->volume_id ? b->volume_id : "?");
	if (differ(a->image_checksum, b->image_checksum))
		ro_warn("%s and %s are of different builds of the image: what only one build has counts as read there only",
			o->input, o->other);
	return TRUE;
}

/* --- for people --- */

static void print_trace(char letter, const char *name, const tr_trace *trace)
{
	g_autofree char *shown = ro_escape_utf8(name);

	printf("%c  %s\n   %u paths by %s (%s, %" G_GUINT64_FORMAT
	       " MiB, kernel %s), root at %.1f s, ended by %s after %.1f s, %" G_GUINT64_FORMAT
	       " events lost",
		letter, shown, trace->events->len, trace->tracer ? trace->tracer : "?",
		trace->accelerator ? trace->accelerator : "?", trace->memory >> 20,
		trace->kernel_version ? trace->kernel_version : "?", trace->root_time,
		trace->end_reason ? trace->end_reason : "?", trace->end_time, trace->lost_events);
	if (trace->coverage >= 0)
		printf(", %.1f %% of the reads explained", 100 * trace->coverage);
	printf("\n");
}

static void print_cmdlines(const diff_run *run)
{
	if (!differ(run->a->cmdline, run->b->cmdline))
		return;
	g_autofree char *a = ro_escape_utf8(run->a->cmdline);
	g_autofree char *b = ro_escape_utf8(run->b->cmdline);
	printf("   the command lines differ:\n   A  %s\n   B  %s\n", a, b);
}

static void print_row(const char *name, const tr_diff_row *row)
{
	if (row->a + row->b == 0)
		return;
	printf("%-20s %8u %8u %8u %8u %8u", name, row->a, row->b, row->both, row->a - row->both,
		row->b - row->both);
	if (row->distance >= 0)
		printf(" %10.3f\n", row->distance);
	else
		printf(" %10s\n", "-");
}

static void print_table(const tr_diff *diff)
{
	printf("\n%-20s %8s %8s %8s %8s %8s %10s\n", "", "A", "B", "both", "only A", "only B",
		"distance");
	for (guint c = 0; c < TR_CLASS_COUNT; c++)
		print_row(tr_path_class_name(c), &diff->classes[c]);
	print_row("all", &diff->all);
	printf("\ndistance: of the orders of the paths in both, Kendall's tau, normalised:\n"
	       "0 is the same order, 1 the reverse, chance gives 0.5\n");
}

static void print_only(
	const diff_run *run, const GPtrArray *events, char here, char there, guint after)
{
	guint shown = run->options->verbose ? events->len : MIN(events->len, EXAMPLES);
	const tr_trace *other = there == 'A' ? run->a : run->b;

	if (events->len == 0)
		return;
	printf("\nonly in %c: %u", here, events->len);
	if (after > 0)
		printf(", %u of them after the %.1f s that %c took", after, other->end_time, there);
	printf("\n");
	for (guint i = 0; i < shown; i++) {
		const tr_event *event = g_ptr_array_index(events, i);
		g_autofree char *path = ro_escape_utf8(event->path[0] ? event->path : ".");
		printf("%10.3f  %-7s %-18s  %s\n", event->time, tr_how_name(event->how),
			tr_path_class_name(tr_path_class_of(event->kind, event->path)), path);
	}
	if (shown < events->len)
		printf("  … and %u more (--verbose shows them)\n", events->len - shown);
}

static void print(const diff_run *run)
{
	print_trace('A', run->options->input, run->a);
	print_trace('B', run->options->other, run->b);
	print_cmdlines(run);
	print_table(&run->diff);
	print_only(run, run->diff.only_a, 'A', 'B', run->diff.after_a);
	print_only(run, run->diff.only_b, 'B', 'A', run->diff.after_b);
}

/* --- for programs --- */

static void json_trace(JsonBuilder *b, const char *name, const char *file, const tr_trace *trace)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
	ro_json_bytes(b, "path", file);
	ro_json_int(b, "events", trace->events->len);
	ro_json_bytes(b, "tracer", trace->tracer);
	ro_json_bytes(b, "accelerator", trace->accelerator);
	ro_json_int(b, "memory", (gint64)trace->memory);
	ro_json_bytes(b, "kernel", trace->kernel_version);
	ro_json_bytes(b, "cmdline", trace->cmdline);
	ro_json_bytes(b, "volume_id", trace->volume_id);
	ro_json_bytes(b, "image", trace->image);
	ro_json_bytes(b, "image_checksum", trace->image_checksum);
	ro_json_bytes(b, "end_reason", trace->end_reason);
	ro_json_double(b, "end_time", trace->end_time);
	ro_json_double(b, "root_time", trace->root_time);
	json_builder_end_object(b);
}

static void json_row(JsonBuilder *b, const tr_diff_row *row)
{
	ro_json_int(b, "a", row->a);
	ro_json_int(b, "b", row->b);
	ro_json_int(b, "both", row->both);
	json_builder_set_member_name(b, "kendall_distance");
	if (row->distance >= 0)
		json_builder_add_double_value(b, row->distance);
	else
		json_builder_add_null_value(b);
}

static void json_only(JsonBuilder *b, const char *name, const GPtrArray *events)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_array(b);
	for (guint i = 0; i < events->len; i++) {
		const tr_event *event = g_ptr_array_index(events, i);
		tr_path_class path_class = tr_path_class_of(event->kind, event->path);
		json_builder_begin_object(b);
		ro_json_double(b, "time", event->time);
		ro_json_bytes(b, "how", tr_how_name(event->how));
		ro_json_bytes(b, "class", tr_path_class_name(path_class));
		ro_json_bytes(b, "image", event->image);
		ro_json_bytes(b, "path", event->path);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static gboolean write_json(const diff_run *run, GError **error)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	const tr_diff *diff = &run->diff;

	json_builder_begin_object(b);
	ro_json_bytes(b, "version", REORDER_VERSION);
	json_trace(b, "a", run->options->input, run->a);
	json_trace(b, "b", run->options->other, run->b);
	ro_json_bool(b, "same_image", !differ(run->a->image_checksum, run->b->image_checksum));
	json_builder_set_member_name(b, "all");
	json_builder_begin_object(b);
	json_row(b, &diff->all);
	json_builder_end_object(b);
	json_builder_set_member_name(b, "classes");
	json_builder_begin_array(b);
	for (guint c = 0; c < TR_CLASS_COUNT; c++) {
		json_builder_begin_object(b);
		ro_json_bytes(b, "class", tr_path_class_name(c));
		json_row(b, &diff->classes[c]);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	ro_json_int(b, "only_a_after_end_of_b", diff->after_a);
	ro_json_int(b, "only_b_after_end_of_a", diff->after_b);
	json_only(b, "only_a", diff->only_a);
	json_only(b, "only_b", diff->only_b);
	json_builder_end_object(b);
	return ro_json_write(b, run->options->json, error);
}

gboolean ro_command_trace_diff(const ro_options *options, GError **error)
{
	g_auto(diff_run) run = {.options = options};

	run.a = tr_trace_read(options->input, error);
	if (!run.a || !(run.b = tr_trace_read(options->other, error)))
		return FALSE;
	tr_diff_make(run.a, run.b, &run.diff);
	if (!check_images(&run, error))
		return FALSE;
	if (!options->quiet && g_strcmp0(options->json, "-") != 0)
		print(&run);
	return !options->json || write_json(&run, error);
}
