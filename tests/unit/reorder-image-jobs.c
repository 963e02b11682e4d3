/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of each image of a layered root. */
#include "layers-fixture.h"

#include "reorder/image_jobs.h"
#include "reorder/util/error.h"

typedef struct {
	stack st;
	li_iso iso;
	li_file files[LAYERS];
	li_image images[LAYERS];
	ro_input input;
	ro_options options;
	ro_image_jobs jobs;
	tr_trace *trace;
} job_fixture;

static void setup(job_fixture *f, gconstpointer data)
{
	(void)data;
	memset(f, 0, sizeof(*f));
	st_init(&f->st);
	f->iso.path = (char *)"test.iso";
	f->input.iso = &f->iso;
	f->input.roots = g_array_new(FALSE, FALSE, sizeof(ro_root));
	for (guint i = 0; i < LAYERS; i++) {
		f->files[i].path = (char *)layer_names[i];
		f->files[i].size = f->st.images[i].source.size;
		f->images[i] = (li_image){.file = &f->files[i], .kind = LI_IMAGE_SQUASHFS};
		ro_root root = {
			.image = &f->images[i], .tree = f->st.images[i].tree, .inside_fd = -1};
		g_array_append_val(f->input.roots, root);
	}
	f->options.engine = "auto";
	f->options.also = g_ptr_array_new();
	g_ptr_array_add(f->options.also, NULL);
	f->jobs = (ro_image_jobs){
		.options = &f->options, .input = &f->input, .workdir = f->st.images[TOP].dir};
	ro_image_jobs_start(&f->jobs);
	f->trace = tr_trace_new();
}

static void teardown(job_fixture *f, gconstpointer data)
{
	(void)data;
	ro_image_jobs_clear(&f->jobs);
	tr_trace_free(f->trace);
	g_ptr_array_unref(f->options.also);
	g_array_unref(f->input.roots);
	st_clear(&f->st);
}

static void say(job_fixture *f, guint layer, const char *path, tr_kind kind)
{
	fx_event(f->trace, path, kind, TR_BYTES_UNKNOWN);
	tr_event *event = g_ptr_array_index(f->trace->events, f->trace->events->len - 1);
	g_free(event->image);
	event->image = g_strdup(layer_names[layer]);
}

static void assert_plan(const job_fixture *f, guint layer, const char *wanted)
{
	const ro_image_job *job = RO_IMAGE_JOB(&f->jobs, layer);
	g_autoptr(GString) text = g_string_new(NULL);

	g_assert_nonnull(job->plan);
	for (guint i = 0; i < job->plan->files->len; i++) {
		guint32 inode = g_array_index(job->plan->files, ro_plan_item, i).inode;
		g_autofree char *path = img_tree_inode_path(job->root->tree, inode);
		g_string_append_printf(text, "%s%s", i ? " " : "", path);
	}
	g_assert_cmpstr(text->str, ==, wanted);
}

static void test_plans(job_fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	say(f, BASE, "merged/old", TR_FILE);
	say(f, MIDDLE, "merged", TR_DIR);
	say(f, BASE, "etc/base", TR_FILE);
	say(f, BASE, "etc/both", TR_FILE); /* the one below */
	ro_image_jobs_plan(&f->jobs, f->trace, &error);
	g_assert_no_error(error);
	g_assert_null(RO_IMAGE_JOB(&f->jobs, TOP)->plan);
	assert_plan(f, MIDDLE, "");
	assert_plan(f, BASE, "merged/old etc/base etc/both");
	g_assert_cmpuint(RO_IMAGE_JOB(&f->jobs, MIDDLE)->plan->dirs->len, ==, 2);
}

/* Room is needed for what is made anew, which only the plans tell. */
static void test_space(job_fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;
	ro_space least, most, planned, all;

	(void)data;
	g_assert_true(ro_image_jobs_choose_engines(&f->jobs, &error));
	ro_image_jobs_space(&f->jobs, &least, &most);
	g_assert_cmpuint(least.scratch, >=, least.images);
	g_assert_cmpuint(least.images, ==,
		MIN(f->files[TOP].size, MIN(f->files[MIDDLE].size, f->files[BASE].size)));
	g_assert_cmpuint(
		most.images, ==, f->files[TOP].size + f->files[MIDDLE].size + f->files[BASE].size);
	say(f, TOP, "usr/sbin/init", TR_FILE);
	say(f, MIDDLE, "opaque", TR_DIR);
	say(f, BASE, "merged/old", TR_FILE);
	g_assert_true(ro_image_jobs_plan(&f->jobs, f->trace, &error));
	ro_image_jobs_space(&f->jobs, &planned, &all);
	g_assert_cmpuint(planned.images, ==, f->files[TOP].size + f->files[BASE].size);
	g_assert_cmpuint(planned.scratch, >, least.scratch);
	g_assert_cmpuint(planned.scratch, <, most.scratch);
	g_assert_cmpmem(&planned, sizeof(planned), &all, sizeof(all));
}

/* Rebuilt for real: only what has files in its plan. */
static void test_rebuild(job_fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	say(f, TOP, "usr/sbin/init", TR_FILE);
	say(f, MIDDLE, "opaque", TR_DIR);
	say(f, BASE, "merged/old", TR_FILE);
	ro_image_jobs_plan(&f->jobs, f->trace, &error);
	g_assert_no_error(error);
	g_assert_true(ro_image_jobs_choose_engines(&f->jobs, &error));
	ro_image_jobs_rebuild(&f->jobs, &error);
	g_assert_no_error(error);
	ro_image_jobs_verify(&f->jobs, &error);
	g_assert_no_error(error);
	g_autoptr(GArray) replacements = ro_image_jobs_replacements(&f->jobs);
	g_assert_cmpuint(replacements->len, ==, 2);
	for (guint i = 0; i < 2; i++) {
		guint layer = i == 0 ? TOP : BASE;
		const ro_image_job *job = RO_IMAGE_JOB(&f->jobs, layer);
		const li_replacement *r = &g_array_index(replacements, li_replacement, i);

		g_assert_true(r->file == &f->files[layer]);
		g_assert_cmpstr(r->content, ==, job->new_image);
		g_assert_cmpuint(job->verified.in_place, ==, 1);
		g_assert_cmpuint(job->verified.inodes, ==, img_tree_inode_count(job->root->tree));
	}
	g_assert_cmpstr(RO_IMAGE_JOB(&f->jobs, TOP)->new_image, !=,
		RO_IMAGE_JOB(&f->jobs, BASE)->new_image);
}

/* What one of the images has is meant; what none has is told once. */
static void test_also(job_fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;
	guint warnings = ro_warning_count();

	(void)data;
	g_ptr_array_insert(f->options.also, 0, (char *)"usr/sbin/*");
	g_ptr_array_insert(f->options.also, 1, (char *)"no/such");
	say(f, TOP, "etc/back", TR_FILE);
	say(f, BASE, "merged/old", TR_FILE);
	ro_image_jobs_plan(&f->jobs, f->trace, &error);
	g_assert_no_error(error);
	assert_plan(f, TOP, "etc/back usr/sbin/init");
	assert_plan(f, BASE, "merged/old");
	g_assert_null(RO_IMAGE_JOB(&f->jobs, MIDDLE)->plan);
	g_assert_cmpuint(ro_warning_count(), ==, warnings + 1);
}

static void test_nothing_to_do(job_fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	say(f, MIDDLE, "opaque", TR_DIR);
	ro_image_jobs_plan(&f->jobs, f->trace, &error);
	g_assert_no_error(error);
	g_assert_false(ro_image_jobs_rebuild(&f->jobs, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_nonnull(strstr(error->message, "nothing to reorder"));
}

static void test_foreign_trace(job_fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	fx_event(f->trace, "etc/base", TR_FILE, TR_BYTES_UNKNOWN);
	g_assert_false(ro_image_jobs_plan(&f->jobs, f->trace, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_nonnull(strstr(error->message, "has no event of this image"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/image-jobs/plans", job_fixture, NULL, setup, test_plans, teardown);
	g_test_add("/image-jobs/space", job_fixture, NULL, setup, test_space, teardown);
	g_test_add("/image-jobs/rebuild", job_fixture, NULL, setup, test_rebuild, teardown);
	g_test_add("/image-jobs/also", job_fixture, NULL, setup, test_also, teardown);
	g_test_add("/image-jobs/nothing-to-do", job_fixture, NULL, setup, test_nothing_to_do,
		teardown);
	g_test_add("/image-jobs/foreign-trace", job_fixture, NULL, setup, test_foreign_trace,
		teardown);
	return g_test_run();
}
