/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images made by the real programs of a tree with one of everything (tests/images/small-tree). */
#ifndef TESTS_SQUASHFS_FIXTURE_H
#define TESTS_SQUASHFS_FIXTURE_H

#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/image/image_tree.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"

/* Of the whole program: made by sq_start, removed by sq_finish. */
static char *sq_dir;

/* An image that is open. */
typedef struct {
	img_source source;
	img_tree *tree; /* or NULL */
} sq_image;

G_GNUC_UNUSED static void sq_clear(sq_image *image)
{
	img_tree_free(image->tree);
	if (image->source.fd > 0)
		close(image->source.fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(sq_image, sq_clear)

/* Runs a script in the scratch directory; gives what it wrote. */
G_GNUC_UNUSED G_GNUC_PRINTF(1, 2) static char *sq_shell(const char *format, ...)
{
	g_autofree char *script = NULL;
	char *out = NULL;
	g_autofree char *err = NULL;
	g_autoptr(GError) error = NULL;
	const char *argv[] = {"bash", "-euc", NULL, NULL};
	int status;
	va_list args;

	va_start(args, format);
	script = g_strdup_vprintf(format, args);
	va_end(args);
	argv[2] = script;
	g_spawn_sync(sq_dir, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
		&status, &error);
	g_assert_no_error(error);
	if (!g_spawn_check_wait_status(status, NULL))
		g_error("%s: %s%s", script, out, err);
	return out;
}

#define sq_run(...) g_free(sq_shell(__VA_ARGS__))

G_GNUC_UNUSED static char *sq_path(const char *name)
{
	return g_build_filename(sq_dir, name, NULL);
}

/* Makes the scratch directory with "tree" in it. FALSE, with the tests skipped, without root. */
G_GNUC_UNUSED static gboolean sq_start(gboolean with_tree)
{
	g_autofree char *top = g_get_current_dir();

	sq_dir = g_strdup("/var/tmp/reorder-test-XXXXXX");
	g_assert_nonnull(g_mkdtemp(sq_dir));
	if (with_tree && geteuid() != 0) {
		printf("1..0 # SKIP only root can make devices and set owners\n");
		return FALSE;
	}
	if (with_tree)
		sq_run("%s/tests/images/small-tree tree", top);
	return TRUE;
}

G_GNUC_UNUSED static int sq_finish(int status)
{
	g_assert_true(ro_remove_tree(sq_dir, NULL));
	g_free(sq_dir);
	return status;
}

G_GNUC_UNUSED static void sq_open_file(sq_image *image, const char *name)
{
	g_autofree char *path = sq_path(name);
	struct stat st;

	*image = (sq_image){.source.label = name};
	image->source.fd = open(path, O_RDONLY | O_CLOEXEC);
	g_assert_cmpint(fstat(image->source.fd, &st), ==, 0);
	image->source.size = (guint64)st.st_size;
}

/* Opens an image that has to be right. */
G_GNUC_UNUSED static void sq_open(sq_image *image, const char *name)
{
	g_autoptr(GError) error = NULL;

	sq_open_file(image, name);
	image->tree = img_tree_open(&image->source, &error);
	g_assert_no_error(error);
}

G_GNUC_UNUSED static guint32 sq_inode(const sq_image *image, const char *path)
{
	guint32 inode = img_tree_resolve(image->tree, path, FALSE);

	if (inode == IMG_NONE)
		g_error("%s: not in the image", path);
	return inode;
}

/* A file in memory, for damaged images. */
G_GNUC_UNUSED static int sq_memory(const void *bytes, gsize size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, bytes, size), ==, (gssize)size);
	return fd;
}

/* Every variant of the format that the tools here can make: options of mksquashfs. */
G_GNUC_UNUSED static const char *const sq_variants[] = {
	"-comp gzip",
	"-comp gzip -Xcompression-level 1 -Xwindow-size 12",
	"-comp gzip -Xstrategy filtered,huffman_only",
	"-comp lzo",
	"-comp lzo -Xalgorithm lzo1x_1_15",
	"-comp lzo -Xcompression-level 3",
	"-comp xz",
	"-comp xz -Xbcj x86,arm -Xdict-size 50%",
	"-comp xz -b 8192 -Xdict-size 8192",
	"-comp lz4",
	"-comp lz4 -Xhc",
	"-comp zstd -Xcompression-level 1",
	"-comp zstd -Xcompression-level 22",
	"-b 4096",
	"-b 1M",
	"-no-fragments",
	"-always-use-fragments",
	"-no-exports",
	"-no-duplicates",
	"-no-xattrs",
	"-noI",
	"-noD",
	"-noF",
	"-noX",
	"-noId",
	"-noI -noD -noF -noX -noId -no-exports -b 4096",
	"-nopad",
	"-mkfs-time 1",
};

#endif
