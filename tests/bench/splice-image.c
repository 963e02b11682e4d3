/* SPDX-License-Identifier: GPL-3.0-or-later */
/* splice-image IMAGE PATHS OUT: reorders a bare squashfs image; PATHS has the hot paths, one a
 * line. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "reorder/engine.h"

static void add_path(const img_tree *tree, ro_plan *plan, GHashTable *seen, const char *path)
{
	guint32 index = img_tree_resolve(tree, path, FALSE);
	const img_inode *inode = index == IMG_NONE ? NULL : img_tree_inode(tree, index);
	ro_plan_item item = {.inode = index, .group = RO_GROUP_HOT, .reason = "open"};

	if (!inode || !g_hash_table_add(seen, GUINT_TO_POINTER(index + 1)))
		return;
	if (inode->type == IMG_DIR)
		g_array_append_val(plan->dirs, item);
	else if (inode->type == IMG_SYMLINK)
		g_array_append_val(plan->symlinks, item);
	else if (inode->type == IMG_FILE && inode->size > 0)
		g_array_append_val(plan->files, item);
}

static void read_paths(const img_tree *tree, ro_plan *plan, const char *file)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	g_file_get_contents(file, &text, NULL, NULL);
	lines = g_strsplit(text ? text : "", "\n", -1);
	for (gsize i = 0; lines[i]; i++)
		add_path(tree, plan, seen, lines[i]);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void report(gint64 start)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%.2f %.2f %.0f\n", (double)(g_get_monotonic_time() - start) / 1e6,
		seconds(usage.ru_utime) + seconds(usage.ru_stime), (double)usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(img_tree) tree = NULL;
	img_source source = {.label = argc > 1 ? argv[1] : ""};
	ro_plan plan = {.layout = RO_LAYOUT_END};
	ro_engine_job job = {.plan = &plan, .workdir = g_get_tmp_dir()};
	gint64 start = g_get_monotonic_time();
	struct stat st;

	if (argc != 4)
		return 2;
	source.fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (source.fd < 0 || fstat(source.fd, &st) < 0)
		return 1;
	source.size = (guint64)st.st_size;
	if (g_getenv("LAYOUT") && strcmp(g_getenv("LAYOUT"), "front") == 0)
		plan.layout = RO_LAYOUT_FRONT;
	plan.files = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	plan.dirs = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	plan.symlinks = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	tree = img_tree_open(&source, &error);
	if (tree) {
		read_paths(tree, &plan, argv[2]);
		job.iso_path = argv[1];
		job.tree = tree;
		job.out_path = argv[3];
		g_remove(argv[3]);
		ro_engine_splice.check(&job, &error) && ro_engine_splice.rebuild(&job, &error);
	}
	report(start);
	if (error)
		fprintf(stderr, "%s\n", error->message);
	return error ? error->code : 0;
}
