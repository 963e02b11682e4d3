/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory tree made for a test, a squashfs image made of it by the real programs, and the tree
 * that is read back from that. For the unit tests of the planner.
 */
#ifndef TESTS_IMAGE_FIXTURE_H
#define TESTS_IMAGE_FIXTURE_H

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/image/image_tree.h"
#include "reorder/plan/order.h"
#include "reorder/util/output.h"
#include "trace/trace.h"

typedef struct {
	char *dir;   /* of all */
	char *root;  /* the tree */
	char *image; /* made of it */
	img_tree *tree;
	img_source source;
} fixture;

G_GNUC_UNUSED static void fx_init(fixture *fx)
{
	memset(fx, 0, sizeof(*fx));
	fx->source.fd = -1;
	fx->dir = g_dir_make_tmp("reorder-test-XXXXXX", NULL);
	g_assert_nonnull(fx->dir);
	fx->root = g_build_filename(fx->dir, "root", NULL);
	fx->image = g_build_filename(fx->dir, "a.squashfs", NULL);
	g_assert_cmpint(g_mkdir(fx->root, 0755), ==, 0);
}

G_GNUC_UNUSED static void fx_clear(fixture *fx)
{
	g_clear_pointer(&fx->tree, img_tree_free);
	if (fx->source.fd >= 0)
		close(fx->source.fd);
	g_assert_true(ro_remove_tree(fx->dir, NULL));
	g_free(fx->dir);
	g_free(fx->root);
	g_free(fx->image);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(fixture, fx_clear)

/* The directory of a path in the tree, made where it is missing; *name is the path's last
 * component. */
G_GNUC_UNUSED static int fx_parent(const fixture *fx, const char *path, const char **name)
{
	int fd = open(fx->root, O_RDONLY | O_DIRECTORY);
	const char *slash;

	for (*name = path; (slash = strchr(*name, '/')); *name = slash + 1) {
		g_autofree char *component = g_strndup(*name, (gsize)(slash - *name));
		int below;

		mkdirat(fd, component, 0755);
		below = openat(fd, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
		g_assert_cmpint(below, >=, 0);
		close(fd);
		fd = below;
	}
	return fd;
}

G_GNUC_UNUSED static void fx_write(
	const fixture *fx, const char *path, const void *data, gsize size)
{
	const char *name;
	int dir = fx_parent(fx, path, &name);
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0644);

	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, data, size), ==, (gssize)size);
	close(fd);
	close(dir);
}

/* Bytes that no compressor makes smaller, different for each path. */
G_GNUC_UNUSED static void fx_file(const fixture *fx, const char *path, gsize size)
{
	guint64 state = g_str_hash(path);
	g_autofree guint64 *data = g_new(guint64, size / 8 + 1);

	for (gsize i = 0; i <= size / 8; i++)
		data[i] = ro_random_next(&state);
	fx_write(fx, path, data, size);
}

G_GNUC_UNUSED static void fx_dir(const fixture *fx, const char *path)
{
	const char *name;
	int dir = fx_parent(fx, path, &name);

	g_assert_cmpint(mkdirat(dir, name, 0755), ==, 0);
	close(dir);
}

G_GNUC_UNUSED static void fx_symlink(const fixture *fx, const char *path, const char *target)
{
	const char *name;
	int dir = fx_parent(fx, path, &name);

	g_assert_cmpint(symlinkat(target, dir, name), ==, 0);
	close(dir);
}

G_GNUC_UNUSED static void fx_link(const fixture *fx, const char *old, const char *new)
{
	const char *old_name, *new_name;
	int old_dir = fx_parent(fx, old, &old_name), new_dir = fx_parent(fx, new, &new_name);

	g_assert_cmpint(linkat(old_dir, old_name, new_dir, new_name, 0), ==, 0);
	close(old_dir);
	close(new_dir);
}

/* Runs a program in the tree's directory; its standard error is returned. */
G_GNUC_UNUSED static char *fx_run(const fixture *fx, const char *const *argv)
{
	g_autoptr(GError) error = NULL;
	char *err = NULL;
	int status;

	g_spawn_sync(fx->root, (char **)argv, NULL,
		G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &err, &status,
		&error);
	g_assert_no_error(error);
	if (!g_spawn_check_wait_status(status, NULL))
		g_error("%s failed: %s", argv[0], err);
	return err;
}

/* Reads the image. */
G_GNUC_UNUSED static const img_tree *fx_open(fixture *fx)
{
	g_autoptr(GError) error = NULL;
	struct stat st;

	g_clear_pointer(&fx->tree, img_tree_free);
	if (fx->source.fd >= 0)
		close(fx->source.fd);
	fx->source.fd = open(fx->image, O_RDONLY);
	g_assert_cmpint(fstat(fx->source.fd, &st), ==, 0);
	fx->source.size = (guint64)st.st_size;
	fx->source.label = "test.iso:/live/filesystem.squashfs";
	fx->tree = img_tree_open(&fx->source, &error);
	g_assert_no_error(error);
	return fx->tree;
}

/* mksquashfs with a few more words, separated by blanks; sort may be NULL. Returns its standard
 * error. */
G_GNUC_UNUSED static char *fx_mksquashfs(fixture *fx, const char *more, const GString *sort)
{
	g_autofree char *sort_path = g_build_filename(fx->dir, "sort", NULL);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_auto(GStrv) words = g_strsplit(more, " ", -1);
	static const char *const common[] = {"-noappend", "-no-progress", "-comp", "gzip",
		"-Xcompression-level", "1", "-processors", "2"};

	g_ptr_array_add(argv, (char *)"mksquashfs");
	g_ptr_array_add(argv, (char *)".");
	g_ptr_array_add(argv, fx->image);
	for (guint i = 0; i < G_N_ELEMENTS(common); i++)
		g_ptr_array_add(argv, (char *)common[i]);
	for (char **word = words; *word; word++)
		g_ptr_array_add(argv, *word);
	if (sort) {
		g_assert_true(g_file_set_contents(sort_path, sort->str, (gssize)sort->len, NULL));
		g_ptr_array_add(argv, (char *)"-sort");
		g_ptr_array_add(argv, sort_path);
	}
	g_ptr_array_add(argv, NULL);
	return fx_run(fx, (const char *const *)argv->pdata);
}

/* An image of the tree as it is. */
G_GNUC_UNUSED static const img_tree *fx_image(fixture *fx, const char *more)
{
	g_autofree char *err = fx_mksquashfs(fx, more, NULL);

	return fx_open(fx);
}

G_GNUC_UNUSED static guint32 fx_inode(const img_tree *tree, const char *path)
{
	guint32 inode = img_tree_resolve(tree, path, FALSE);

	g_assert_cmpuint(inode, !=, IMG_NONE);
	return inode;
}

/* Where a file's first byte lies in the image: (block, bytes into the block). */
G_GNUC_UNUSED static guint64 fx_position(const img_tree *tree, guint32 index)
{
	const img_inode *inode = img_tree_inode(tree, index);

	if (inode->data_stored)
		return inode->data_start << 20;
	return (img_tree_fragment(tree, inode->fragment)->start << 20) + inode->fragment_offset;
}

G_GNUC_UNUSED static void fx_event(tr_trace *trace, const char *path, tr_kind kind, guint64 bytes)
{
	tr_event *event = g_new0(tr_event, 1);

	event->time = trace->events->len;
	event->kind = kind;
	event->how = TR_OPEN;
	event->bytes = bytes;
	event->image = g_strdup("/live/filesystem.squashfs");
	event->path = g_strdup(path);
	g_ptr_array_add(trace->events, event);
}

/* A trace that opens these files. */
G_GNUC_UNUSED static tr_trace *fx_trace(const char *const *paths, guint count)
{
	tr_trace *trace = tr_trace_new();

	for (guint i = 0; i < count; i++)
		fx_event(trace, paths[i], TR_FILE, TR_BYTES_UNKNOWN);
	return trace;
}

/* An image of count small files, all different, made of a tar stream: "d000/f00000" and so on. */
G_GNUC_UNUSED static const img_tree *fx_many(fixture *fx, guint count)
{
	g_autofree char *tar = g_build_filename(fx->dir, "many.tar", NULL);
	g_autofree char *command =
		g_strdup_printf("exec tar2sqfs -q -f -c gzip %s <%s", fx->image, tar);
	const char *argv[] = {"sh", "-c", command, NULL};
	g_autofree char *err = NULL;
	FILE *out = fopen(tar, "w");

	for (guint i = 0; i < count; i++) {
		char block[1024] = "";
		guint sum = 8 * ' ';

		g_snprintf(block, 100, "d%03u/f%05u", i / 1000, i);
		memcpy(block + 100, "0000644\0000000000\0000000000\00000000000020\00000000000000",
			48);
		block[156] = '0';
		memcpy(block + 257, "ustar\00000", 8);
		for (guint k = 0; k < 512; k++)
			sum += (guchar)block[k];
		g_snprintf(block + 148, 8, "%06o", sum);
		block[155] = ' ';
		g_snprintf(block + 512, 17, "content %08u", i);
		fwrite(block, sizeof(block), 1, out);
	}
	for (guint i = 0; i < 1024; i++)
		putc(0, out);
	g_assert_cmpint(fclose(out), ==, 0);
	err = fx_run(fx, argv);
	return fx_open(fx);
}

#endif
