/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/escape.h"

/* The map is made of a squashfs that lies on the ISO as it is. */
static gboolean check_image(const ro_input *input, GError **error)
{
	const ro_root *root = RO_INPUT_ROOT(input, 0);

	if (input->roots->len > 1)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: its root may be made of %u images, for which there is no preload yet; leave --preload away",
			input->iso->path, input->roots->len);
	if (root->image->kind == LI_IMAGE_SQUASHFS &&
		img_tree_source(root->tree)->fd == input->iso->fd)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s:%s: its root is an ext4, for which there is no preload yet; leave --preload away",
		input->iso->path, root->image->file->path);
}

gboolean ro_preload_open(ro_preload *p, const ro_options *options, const ro_input *input,
	const char *workdir, GError **error)
{
	*p = (ro_preload){.image_fd = -1, .kept = TRUE};
	if (options->preload == RO_PRELOAD_NONE)
		return TRUE;
	if (!check_image(input, error))
		return FALSE;
	p->preload = dmx_preload_new(input->iso, RO_INPUT_ROOT(input, 0)->tree, workdir, error);
	return p->preload && (options->preload != RO_PRELOAD_AUTO ||
				     ro_compare_check(options, input, NULL, error));
}

void ro_preload_clear(ro_preload *p)
{
	g_clear_pointer(&p->preload, dmx_preload_free);
	g_clear_pointer(&p->new_tree, img_tree_free);
	g_clear_pointer(&p->hot_files, g_array_unref);
	g_clear_pointer(&p->replacements, g_array_unref);
	g_clear_pointer(&p->drive, g_free);
	if (p->image_fd > 0)
		close(p->image_fd);
	p->image_fd = -1;
}

GArray *ro_preload_hot_files(const ro_plan *plan)
{
	GArray *files = g_array_new(FALSE, FALSE, sizeof(dmx_hot_file));

	for (guint i = 0; i < plan->files->len; i++) {
		const ro_plan_item *item = &g_array_index(plan->files, ro_plan_item, i);
		dmx_hot_file file = {item->inode, item->partly};

		if (item->group == RO_GROUP_HOT)
			g_array_append_val(files, file);
	}
	return files;
}

/* With the ISO that the map is of. */
static dmx_hot_map_job map_job(const ro_preload *p, const li_iso *new_iso)
{
	const ro_preload_job *job = &p->job;

	return (dmx_hot_map_job){
		.old_iso = job->input->iso,
		.new_iso = new_iso,
		.image = job->image->root->image->file->path,
		.old_tree = job->image->root->tree,
		.new_tree = p->new_tree,
		.files = p->hot_files,
		.trace = job->recording->boot.trace,
		.reads = job->recording->booted ? job->recording->boot.reads : NULL,
	};
}

/* Every file has its place. */
static gboolean placed(gpointer user, GError **error)
{
	ro_preload *p = user;
	g_autoptr(li_iso) iso = li_iso_open(p->out_path, error);

	if (!iso)
		return FALSE;
	dmx_hot_map_job job = map_job(p, iso);
	return dmx_preload_place(p->preload, &job, error);
}

static gboolean open_image(ro_preload *p, GError **error)
{
	const ro_image_job *image = p->job.image;

	p->image_fd = open(image->new_image, O_RDONLY | O_CLOEXEC);
	if (p->image_fd < 0)
		return ro_fail_errno(error, errno, "%s", image->new_image);
	img_source source = {p->image_fd, 0, image->new_size, "the new image"};
	p->new_tree = img_tree_open(&source, error);
	return p->new_tree != NULL;
}

gboolean ro_preload_begin(
	ro_preload *p, const ro_preload_job *job, li_write_job *write, GError **error)
{
	if (!p->preload)
		return TRUE;
	p->job = *job;
	p->out_path = write->out_path;
	p->hot_files = ro_preload_hot_files(job->image->plan);
	p->replacements = g_array_new(FALSE, FALSE, sizeof(li_replacement));
	g_array_append_vals(p->replacements, write->replacements, write->replacement_count);
	if (!open_image(p, error))
		return FALSE;
	dmx_hot_map_job estimate = map_job(p, job->input->iso);
	if (!dmx_preload_prepare(p->preload, &estimate, p->replacements, error))
		return FALSE;
	write->replacements = (const li_replacement *)p->replacements->data;
	write->replacement_count = p->replacements->len;
	write->placed = placed;
	write->user = p;
	return TRUE;
}

static double median_of(const tr_compared *side)
{
	g_autofree double *values = tr_compared_values(side, TR_ROW_TOTAL, TR_METRIC_SECONDS);
	tr_statistics statistics;

	tr_statistics_of(values, side->runs->len, &statistics);
	return statistics.median;
}

static void take_comparison(ro_preload *p, const tr_comparison *comparison)
{
	tr_comparison_ratio(comparison, TR_ROW_TOTAL, TR_METRIC_SECONDS, &p->ratio);
	for (guint i = 0; i < 2; i++)
		p->seconds[i] = median_of(&comparison->sides[i]);
	p->drive = g_strdup(comparison->drive.name);
	p->compared = TRUE;
	p->kept = p->ratio.verdict == TR_RATIO_BETTER;
}

static gboolean run_comparison(ro_preload *p, const ro_options *options, const ro_input *plain,
	const ro_input *preload, const char *workdir, ro_progress *progress, GError **error)
{
	ro_options quiet = *options; /* the report is of the comparison that --compare makes */
	ro_compare_run run;
	gboolean ok;

	quiet.report = NULL;
	ok = ro_compare_make(&run, &quiet, plain, preload, workdir, progress, error);
	if (ok)
		take_comparison(p, &run.comparison);
	ro_compare_clear(&run);
	return ok;
}

gboolean ro_preload_compare(ro_preload *p, const ro_options *options, const char *plain,
	const char *preload, const char *workdir, ro_progress *progress, GError **error)
{
	ro_input a = {0}, b = {0};
	gboolean ok = ro_input_open(&a, plain, error) && ro_input_open(&b, preload, error) &&
		      run_comparison(p, options, &a, &b, workdir, progress, error);

	ro_input_clear(&a);
	ro_input_clear(&b);
	return ok;
}

/* --- what came of it --- */

static double share(const dmx_hot_map *map)
{
	return map->reads > 0 ? (double)map->covered / (double)map->reads : -1;
}

static void print_map(const dmx_preload_result *result, FILE *out)
{
	const dmx_hot_map *map = &result->map;

	fprintf(out, "  preload    %.1f MB in %u extents", (double)map->bytes / 1e6,
		map->extents->len);
	if (share(map) >= 0)
		fprintf(out, ", with %.1f %% of what the boot read", 100 * share(map));
	fprintf(out, "; %u boot entries, initrd +%.1f MB\n", result->entries,
		(double)result->grown / 1e6);
}

void ro_preload_print(const ro_preload *p, FILE *out)
{
	const dmx_preload_result *result;

	if (!p->preload)
		return;
	result = dmx_preload_get_result(p->preload);
	if (p->kept && result->map.extents)
		print_map(result, out);
	if (p->compared)
		fprintf(out,
			"  preload    %s: boot on %s %.1f s without, %.1f s with it (ratio %.2f, 95 %% interval %.2f to %.2f)\n",
			p->kept ? "kept" : "left out, not faster outside the noise", p->drive,
			p->seconds[0], p->seconds[1], p->ratio.value, p->ratio.low, p->ratio.high);
	for (guint i = 0; p->kept && i < result->left->len; i++) {
		g_autofree char *text = ro_escape_utf8(g_ptr_array_index(result->left, i));
		fprintf(out, "  without    %s\n", text);
	}
}

static void json_comparison(const ro_preload *p, JsonBuilder *b)
{
	ro_json_bytes(b, "drive", p->drive);
	ro_json_double(b, "seconds_without", p->seconds[0]);
	ro_json_double(b, "seconds_with", p->seconds[1]);
	ro_json_double(b, "ratio", p->ratio.value);
	ro_json_double(b, "ratio_low", p->ratio.low);
	ro_json_double(b, "ratio_high", p->ratio.high);
}

static void json_map(const dmx_hot_map *map, JsonBuilder *b)
{
	ro_json_int(b, "hot_bytes", (gint64)map->bytes);
	ro_json_int(b, "extents", map->extents->len);
	if (share(map) < 0)
		return;
	ro_json_int(b, "read_bytes", (gint64)map->reads);
	ro_json_int(b, "covered_bytes", (gint64)map->covered);
	ro_json_double(b, "covered", share(map));
}

void ro_preload_json(const ro_preload *p, JsonBuilder *b)
{
	const dmx_preload_result *result;

	if (!p->preload)
		return;
	result = dmx_preload_get_result(p->preload);
	json_builder_set_member_name(b, "preload");
	json_builder_begin_object(b);
	ro_json_bool(b, "kept", p->kept);
	ro_json_int(b, "entries", result->entries);
	ro_json_int(b, "initrds", result->initrds);
	ro_json_int(b, "initrd_bytes", (gint64)result->grown);
	ro_json_int(b, "module_copies", result->copies);
	json_builder_set_member_name(b, "left");
	json_builder_begin_array(b);
	for (guint i = 0; i < result->left->len; i++) {
		g_autofree char *text = ro_escape_utf8(g_ptr_array_index(result->left, i));
		json_builder_add_string_value(b, text);
	}
	json_builder_end_array(b);
	if (result->map.extents)
		json_map(&result->map, b);
	if (p->compared)
		json_comparison(p, b);
	json_builder_end_object(b);
}
