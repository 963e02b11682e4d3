/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/summary.h"

#include "reorder/compare_summary.h"
#include "reorder/util/escape.h"

#define MB(bytes) ((double)(bytes) / 1e6)

/* Digits in groups of three: 1,234,567. In one of four buffers, so that a line can hold several. */
static const char *grouped(guint64 n)
{
	static char buffers[4][32];
	static guint next;
	char *end = buffers[next++ % 4] + sizeof buffers[0] - 1;
	int digits = 0;

	*end = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			*--end = ',';
		*--end = (char)('0' + n % 10);
		digits++;
	} while (n /= 10);
	return end;
}

static void print_reads(const tr_boot_result *boot, FILE *out)
{
	fprintf(out,
		"  medium     %.1f MB in %s requests, %s jumps; modelled CD: %s long seeks, %.1f s\n",
		MB(boot->medium.bytes), grouped(boot->medium.requests), grouped(boot->medium.jumps),
		grouped(boot->medium.long_seeks), boot->medium.drive_seconds);
	fprintf(out, "  image      %.1f MB in %s requests; ", MB(boot->image.bytes),
		grouped(boot->image.requests));
	if (g_strcmp0(boot->trace->tracer, "blocks") == 0) {
		fprintf(out, "%s files and directories, by the reads alone\n",
			grouped(boot->trace->events->len));
		return;
	}
	if (boot->trace->coverage >= 0)
		fprintf(out, "the trace explains %.1f %%, ", boot->trace->coverage * 100);
	fprintf(out, "%s events lost\n", grouped(boot->trace->lost_events));
}

static void print_boot(const ro_summary *s, FILE *out)
{
	const tr_trace *trace = s->recording->boot.trace;

	if (s->recording->booted && trace->root_time > 0)
		fprintf(out, "  boot       %.1f s in the guest (%s), root at %.1f s, ended by %s\n",
			trace->end_time, trace->accelerator, trace->root_time, trace->end_reason);
	else if (s->recording->booted)
		fprintf(out, "  boot       %.1f s in the guest (%s), ended by %s\n",
			trace->end_time, trace->accelerator, trace->end_reason);
	else if (!s->recording->from_log)
		fprintf(out, "  trace      %s files from a kept trace\n",
			grouped(trace->events->len));
	if (s->recording->booted || s->recording->from_log)
		print_reads(&s->recording->boot, out);
}

/* Topmost first; NULL if the root was one image. */
static char **layers_of(const tr_trace *trace)
{
	char **layers = trace->layers ? g_strsplit(trace->layers, " ", -1) : NULL;

	for (char **layer = layers; layer && *layer; layer++) {
		g_autofree char *escaped = *layer, *path = ro_unescape(escaped);

		*layer = ro_escape_utf8(path ? path : escaped);
	}
	return layers;
}

static void print_layers(const tr_trace *trace, FILE *out)
{
	g_auto(GStrv) layers = layers_of(trace);
	g_autofree char *text = layers ? g_strjoinv(" over ", layers) : NULL;

	if (text)
		fprintf(out, "  root       %s\n", text);
}

static void print_plan(const ro_plan *plan, FILE *out)
{
	fprintf(out, "  hot files  %s with %.1f MB (%.1f MB as stored)", grouped(plan->hot_files),
		MB(plan->hot_bytes), MB(plan->hot_stored));
	if (plan->files->len > plan->hot_files)
		fprintf(out, ", and %s by --also", grouped(plan->files->len - plan->hot_files));
	fputc('\n', out);
	if (plan->differences.traces > 1)
		fprintf(out,
			"  merged     %u traces: %s in all of them, %s in some; hardware decides about %u groups\n",
			plan->differences.traces, grouped(plan->differences.in_all),
			grouped(ro_differences_in_some(&plan->differences)),
			plan->differences.groups->len);
	if (plan->unmatched == 0)
		return;
	g_autofree char *example =
		ro_escape_utf8(plan->first_unmatched ? plan->first_unmatched : "");
	fprintf(out, "  not there  traced, but not in the image: %s (%s, …)\n",
		grouped(plan->unmatched), example);
}

static void print_image(const ro_image_job *job, FILE *out)
{
	const ro_verify_result *v = &job->verified;
	guint64 before = job->root->image->file->size;

	print_plan(job->plan, out);
	fprintf(out, "  rebuilt    %.1f MB -> %.1f MB (%+.2f %%), engine %s\n", MB(before),
		MB(job->new_size), 100.0 * ((double)job->new_size / (double)before - 1),
		job->engine->name);
	fprintf(out, "  verified   %s inodes and %.1f MB equal\n", grouped(v->inodes),
		MB(v->bytes));
	fprintf(out, "  order      %s of %s boot files in place, within %.1f MB of the image\n",
		grouped(v->in_place), grouped(v->planned), MB(v->hot_end - v->hot_start));
}

static void print_images(const ro_image_jobs *images, FILE *out)
{
	for (guint i = 0; i < images->list->len; i++) {
		const ro_image_job *job = RO_IMAGE_JOB(images, i);
		g_autofree char *path = ro_escape_utf8(job->root->image->file->path);

		if (images->list->len > 1)
			fprintf(out, "  layer      %s%s\n", path,
				job->new_image ? ""
					       : ": left as it is, the boot read no file of it");
		if (job->new_image)
			print_image(job, out);
	}
}

static void print_output(const ro_summary *s, FILE *out)
{
	fprintf(out, "  writer     %s%s%s\n", s->writer, s->writer_reason ? ": " : "",
		s->writer_reason ? s->writer_reason : "");
	fprintf(out, "  checksums  lines renewed: %u", s->written->lines_updated);
	if (s->written->lines_left_wrong > 0)
		fprintf(out, ", wrong before and left so: %u", s->written->lines_left_wrong);
	fprintf(out, "%s\n", s->written->isomd5_renewed ? "; implanted MD5 renewed" : "");
}

static void print_times(const ro_summary *s, FILE *out)
{
	const GArray *stages = ro_progress_stages(s->progress);
	double total = 0;

	fprintf(out, "  time      ");
	for (guint i = 0; i < stages->len; i++) {
		const ro_stage *stage = &g_array_index(stages, ro_stage, i);
		fprintf(out, " %s %.1f s,", stage->name, stage->seconds);
		total += stage->seconds;
	}
	fprintf(out, " all %.1f s\n", total);
}

void ro_summary_print(const ro_summary *s, FILE *out)
{
	g_autofree char *input = ro_escape_utf8(s->input->iso->path);
	fprintf(out, "\n%s as it boots:\n", input);
	print_boot(s, out);
	print_layers(s->recording->boot.trace, out);
	if (s->output) {
		g_autofree char *name = ro_escape_utf8(s->output);
		fprintf(out, "\n%s: %.1f MB (before: %.1f MB)\n", name, MB(s->output_size),
			MB(s->input->iso->file_size));
	}
	if (s->images) {
		print_images(s->images, out);
		print_output(s, out);
	}
	if (s->preload)
		ro_preload_print(s->preload, out);
	print_times(s, out);
}

static void json_totals(JsonBuilder *b, const char *name, const tr_read_totals *totals)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
	ro_json_int(b, "requests", (gint64)totals->requests);
	ro_json_int(b, "bytes", (gint64)totals->bytes);
	ro_json_int(b, "jumps", (gint64)totals->jumps);
	ro_json_int(b, "cd_long_seeks", (gint64)totals->long_seeks);
	ro_json_double(b, "cd_seconds", totals->drive_seconds);
	json_builder_end_object(b);
}

static void json_coverage(JsonBuilder *b, double coverage)
{
	if (coverage >= 0) {
		ro_json_double(b, "coverage", coverage);
		return;
	}
	json_builder_set_member_name(b, "coverage");
	json_builder_add_null_value(b);
}

static void json_layers(JsonBuilder *b, const tr_trace *trace)
{
	g_auto(GStrv) layers = layers_of(trace);

	if (!layers)
		return;
	json_builder_set_member_name(b, "layers");
	json_builder_begin_array(b);
	for (char **layer = layers; *layer; layer++)
		json_builder_add_string_value(b, *layer);
	json_builder_end_array(b);
}

static void json_boot(JsonBuilder *b, const ro_recording *recording)
{
	const tr_trace *trace = recording->boot.trace;

	json_builder_set_member_name(b, "trace");
	json_builder_begin_object(b);
	ro_json_bool(b, "booted", recording->booted);
	ro_json_int(b, "events", trace->events->len);
	ro_json_bytes(b, "tracer", trace->tracer);
	ro_json_bytes(b, "accelerator", trace->accelerator);
	ro_json_bytes(b, "machine", trace->machine);
	ro_json_bytes(b, "devices", trace->devices);
	ro_json_bytes(b, "cpu_model", trace->cpu_model);
	ro_json_bytes(b, "firmware", trace->firmware);
	ro_json_bytes(b, "end_reason", trace->end_reason);
	ro_json_double(b, "end_time", trace->end_time);
	ro_json_double(b, "root_time", trace->root_time);
	ro_json_int(b, "lost_events", (gint64)trace->lost_events);
	json_coverage(b, trace->coverage);
	json_layers(b, trace);
	if (recording->booted || recording->from_log) {
		json_totals(b, "medium", &recording->boot.medium);
		json_totals(b, "image", &recording->boot.image);
	}
	json_builder_end_object(b);
}

static void json_plan(JsonBuilder *b, const ro_plan *plan)
{
	json_builder_set_member_name(b, "plan");
	json_builder_begin_object(b);
	ro_json_int(b, "files", plan->files->len);
	ro_json_int(b, "hot_files", plan->hot_files);
	ro_json_int(b, "hot_bytes", (gint64)plan->hot_bytes);
	ro_json_int(b, "hot_stored_bytes", (gint64)plan->hot_stored);
	ro_json_int(b, "directories", plan->dirs->len);
	ro_json_int(b, "symlinks", plan->symlinks->len);
	ro_json_int(b, "unmatched", plan->unmatched);
	ro_differences_json(&plan->differences, b);
	json_builder_end_object(b);
}

static void json_image(JsonBuilder *b, const ro_image_job *job)
{
	const ro_verify_result *v = &job->verified;

	ro_json_bytes(b, "path", job->root->image->file->path);
	ro_json_int(b, "size_before", (gint64)job->root->image->file->size);
	if (!job->new_image)
		return;
	ro_json_bytes(b, "engine", job->engine->name);
	ro_json_int(b, "size_after", (gint64)job->new_size);
	ro_json_int(b, "inodes_equal", v->inodes);
	ro_json_int(b, "bytes_equal", (gint64)v->bytes);
	ro_json_int(b, "planned", v->planned);
	ro_json_int(b, "in_place", v->in_place);
	ro_json_int(b, "hot_start", (gint64)v->hot_start);
	ro_json_int(b, "hot_end", (gint64)v->hot_end);
	ro_json_int(b, "hot_foreign_bytes", (gint64)v->hot_foreign);
}

/* The one, where there is one, in the members that there were before there could be several. */
static void json_only_image(JsonBuilder *b, const ro_image_job *job)
{
	json_plan(b, job->plan);
	json_builder_set_member_name(b, "image");
	json_builder_begin_object(b);
	json_image(b, job);
	json_builder_end_object(b);
}

static void json_images(JsonBuilder *b, const ro_image_jobs *images)
{
	if (images->list->len == 1)
		json_only_image(b, RO_IMAGE_JOB(images, 0));
	json_builder_set_member_name(b, "images");
	json_builder_begin_array(b);
	for (guint i = 0; i < images->list->len; i++) {
		const ro_image_job *job = RO_IMAGE_JOB(images, i);

		json_builder_begin_object(b);
		ro_json_bool(b, "reordered", job->new_image != NULL);
		json_image(b, job);
		if (job->plan)
			json_plan(b, job->plan);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void json_output(JsonBuilder *b, const ro_summary *s)
{
	json_builder_set_member_name(b, "output");
	json_builder_begin_object(b);
	ro_json_bytes(b, "path", s->output);
	ro_json_bytes(b, "writer", s->writer);
	ro_json_bytes(b, "writer_reason", s->writer_reason);
	ro_json_int(b, "size", (gint64)s->output_size);
	ro_json_int(b, "checksum_lists", s->written->lists);
	ro_json_int(b, "checksum_lines_renewed", s->written->lines_updated);
	ro_json_int(b, "checksum_lines_left_wrong", s->written->lines_left_wrong);
	ro_json_bool(b, "isomd5_renewed", s->written->isomd5_renewed);
	json_builder_end_object(b);
}

static void json_stages(JsonBuilder *b, const ro_progress *progress)
{
	const GArray *stages = ro_progress_stages(progress);

	json_builder_set_member_name(b, "seconds");
	json_builder_begin_object(b);
	for (guint i = 0; i < stages->len; i++) {
		const ro_stage *stage = &g_array_index(stages, ro_stage, i);
		ro_json_double(b, stage->name, stage->seconds);
	}
	json_builder_end_object(b);
}

void ro_summary_json(const ro_summary *s, JsonBuilder *b)
{
	json_builder_begin_object(b);
	ro_json_bytes(b, "version", REORDER_VERSION);
	json_builder_set_member_name(b, "input");
	json_builder_begin_object(b);
	ro_json_bytes(b, "path", s->input->iso->path);
	ro_json_int(b, "size", (gint64)s->input->iso->file_size);
	ro_json_bytes(b, "volume_id", s->input->iso->volume.volume_id);
	ro_json_bytes(b, "volume_uuid", s->input->iso->volume.volume_uuid);
	json_builder_end_object(b);
	json_boot(b, s->recording);
	if (s->images) {
		json_images(b, s->images);
		json_output(b, s);
	}
	if (s->preload)
		ro_preload_json(s->preload, b);
	json_stages(b, s->progress);
	if (s->comparison) {
		json_builder_set_member_name(b, "compare");
		ro_compare_summary_json(s->comparison, b);
	}
	json_builder_end_object(b);
}
