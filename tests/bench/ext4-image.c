/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ext4-image IMAGE PATHS OUT: relocates in an ext2/3/4 image; PATHS has the hot paths, one a line.
 * Prints wall and processor seconds and the peak memory in MB, without and with verification. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "reorder/ext4/ext4_tree.h"
#include "reorder/ext4/ext4_verify.h"
#include "reorder/ext4/relocate.h"

static GArray *read_paths(const img_tree *tree, const char *file)
{
	GArray *wanted = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	g_file_get_contents(file, &text, NULL, NULL);
	lines = g_strsplit(text ? text : "", "\n", -1);
	for (gsize i = 0; lines[i]; i++) {
		guint32 index = img_tree_resolve(tree, lines[i], FALSE);

		if (index != IMG_NONE)
			g_array_append_val(wanted, img_tree_inode(tree, index)->number);
	}
	return wanted;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void report(const char *what, gint64 start)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%s %.2f %.2f %.0f\n", what, (double)(g_get_monotonic_time() - start) / 1e6,
		seconds(usage.ru_utime) + seconds(usage.ru_stime), (double)usage.ru_maxrss / 1024);
}

static gboolean open_image(const char *path, img_source *source)
{
	struct stat st;

	source->label = path;
	source->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 || fstat(source->fd, &st) < 0)
		return FALSE;
	source->size = (guint64)st.st_size;
	return TRUE;
}

static gboolean verify(const ro_ext4_job *job, GError **error)
{
	ro_verify_result result;
	img_source out = {0};

	if (!open_image(job->out_path, &out) ||
		!ro_ext4_verify(job->source, &out, job->wanted, job->count, NULL, &result, error))
		return FALSE;
	printf("%u inodes, %.1f MB; %u of %u in place, hot %" G_GUINT64_FORMAT
	       " to %" G_GUINT64_FORMAT ", foreign %" G_GUINT64_FORMAT "\n",
		result.inodes, (double)result.bytes / 1e6, result.in_place, result.planned,
		result.hot_start, result.hot_end, result.hot_foreign);
	return TRUE;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(img_tree) tree = NULL;
	g_autoptr(GArray) wanted = NULL;
	gint64 start = g_get_monotonic_time();
	img_source source = {0};
	ro_ext4_job job = {.source = &source, .layout = RO_LAYOUT_END};

	if (argc != 4 || !open_image(argv[1], &source))
		return 2;
	if (g_strcmp0(g_getenv("LAYOUT"), "front") == 0)
		job.layout = RO_LAYOUT_FRONT;
	tree = ro_ext4_tree_open(&source, &error);
	if (tree) {
		report("tree", start);
		wanted = read_paths(tree, argv[2]);
		job.wanted = (const guint32 *)(void *)wanted->data;
		job.count = wanted->len;
		job.out_path = argv[3];
		g_remove(argv[3]);
		if (ro_ext4_relocate(&job, &error)) {
			report("relocated", start);
			if (verify(&job, &error))
				report("verified", start);
		}
	}
	if (error)
		fprintf(stderr, "%s\n", error->message);
	return error ? error->code : 0;
}
