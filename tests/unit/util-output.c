/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/output.h"

typedef struct {
	char *dir;
} fixture;

static void set_up(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	f->dir = g_dir_make_tmp("output-XXXXXX", NULL);
}

static void tear_down(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_assert_true(ro_remove_tree(f->dir, NULL));
	g_assert_false(g_file_test(f->dir, G_FILE_TEST_EXISTS));
	g_free(f->dir);
}

static char *in_dir(const fixture *f, const char *name)
{
	return g_build_filename(f->dir, name, NULL);
}

static guint files_in(const fixture *f)
{
	g_autoptr(GDir) dir = g_dir_open(f->dir, 0, NULL);
	guint n = 0;

	while (g_dir_read_name(dir))
		n++;
	return n;
}

static void test_appears_whole(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_autofree char *path = in_dir(f, "-odd, 'name\".iso");
	g_autofree char *text = NULL;
	ro_output *output = ro_output_new(path, FALSE, -1, NULL);

	g_assert_nonnull(output);
	g_assert_true(ro_output_put(output, "whole", 5, NULL));
	g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
	g_assert_true(ro_output_commit(output, NULL));
	ro_output_free(output);
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "whole");
	g_assert_cmpuint(files_in(f), ==, 1);
}

static void test_discarded(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_autofree char *path = in_dir(f, "out");
	ro_output *output = ro_output_new(path, FALSE, -1, NULL);

	g_assert_true(ro_output_put(output, "half", 4, NULL));
	ro_output_free(output);
	g_assert_cmpuint(files_in(f), ==, 0);
}

/* The input in every spelling: the same path, ./, a symlink, a hard link; --force does not help. */
static void test_input_refused(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_autofree char *input = in_dir(f, "in.iso"), *dotted = in_dir(f, "./in.iso"),
			*symbolic = in_dir(f, "symlink"), *hard = in_dir(f, "hardlink");
	const char *spellings[] = {input, dotted, symbolic, hard};

	g_assert_true(g_file_set_contents(input, "iso", 3, NULL));
	g_assert_cmpint(symlink("in.iso", symbolic), ==, 0);
	g_assert_cmpint(link(input, hard), ==, 0);
	int fd = g_open(input, O_RDONLY, 0);
	for (gsize i = 0; i < G_N_ELEMENTS(spellings); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(ro_output_new(spellings[i], TRUE, fd, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
		g_assert_nonnull(strstr(error->message, "the input itself"));
	}
	close(fd);
}

static void refused(const char *path, gboolean force, const char *reason)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(ro_output_new(path, force, -1, &error));
	g_assert_nonnull(error);
	g_assert_nonnull(strstr(error->message, reason));
}

static void test_targets_refused(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_autofree char *exists = in_dir(f, "exists"), *dangling = in_dir(f, "dangling"),
			*nowhere = in_dir(f, "no/such/dir");

	g_assert_true(g_file_set_contents(exists, "", 0, NULL));
	g_assert_cmpint(symlink("missing", dangling), ==, 0);
	refused(exists, FALSE, "--force");
	refused(f->dir, TRUE, "not a regular file");
	refused("/dev/null", TRUE, "not a regular file");
	refused(dangling, TRUE, "leads nowhere");
	refused(nowhere, TRUE, "cannot be created");
}

static void test_force_replaces_what_a_symlink_names(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_autofree char *target = in_dir(f, "target"), *symbolic = in_dir(f, "symlink"),
			*text = NULL;

	g_assert_true(g_file_set_contents(target, "old", 3, NULL));
	g_assert_cmpint(symlink("target", symbolic), ==, 0);
	g_assert_true(ro_output_write(symbolic, TRUE, "new", -1, NULL));
	g_assert_true(g_file_test(symbolic, G_FILE_TEST_IS_SYMLINK));
	g_assert_true(g_file_get_contents(target, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "new");
}

/* What unsquashfs may leave: directories without permissions, symlinks out of the tree. */
static void test_workdir_removed_with_care(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_autofree char *precious = in_dir(f, "precious");
	g_autoptr(ro_workdir) workdir = ro_workdir_new(f->dir, NULL);
	g_autofree char *tree = ro_workdir_file(workdir, "a"),
			*deep = ro_workdir_file(workdir, "a/b/c"),
			*locked = ro_workdir_file(workdir, "a/b"),
			*out = ro_workdir_file(workdir, "out");
	struct stat st;

	g_assert_true(g_file_set_contents(precious, "x", 1, NULL));
	g_assert_cmpint(stat(ro_workdir_path(workdir), &st), ==, 0);
	g_assert_cmpuint(st.st_mode & 07777, ==, 0700);
	g_assert_cmpint(g_mkdir_with_parents(deep, 0755), ==, 0);
	g_assert_cmpint(symlink("..", out), ==, 0);
	g_assert_cmpint(chmod(locked, 0), ==, 0);
	g_assert_true(g_file_test(tree, G_FILE_TEST_IS_DIR));
	ro_workdir_free(g_steal_pointer(&workdir));
	g_assert_cmpuint(files_in(f), ==, 1);
	g_assert_true(g_file_test(precious, G_FILE_TEST_EXISTS));
}

static void test_space(fixture *f, G_GNUC_UNUSED gconstpointer data)
{
	g_autoptr(GError) error = NULL;

	g_assert_true(ro_need_space(f->dir, 1, "a test", NULL));
	g_assert_false(ro_need_space(f->dir, G_MAXINT64, "a test", &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_assert_nonnull(strstr(error->message, "needed for a test"));
}

#define ADD(name, function) g_test_add("/output/" name, fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("appears-whole", test_appears_whole);
	ADD("discarded-leaves-nothing", test_discarded);
	ADD("input-is-refused-in-every-spelling", test_input_refused);
	ADD("unfit-targets-are-refused", test_targets_refused);
	ADD("force-replaces-what-a-symlink-names", test_force_replaces_what_a_symlink_names);
	ADD("workdir-is-removed-with-care", test_workdir_removed_with_care);
	ADD("space-is-checked", test_space);
	return g_test_run();
}
