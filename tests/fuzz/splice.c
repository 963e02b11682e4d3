/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A squashfs image that is made anew: what the engine takes, the proof finds equal. */
#include "reorder/engine.h"
#include "reorder/verify.h"
#include "tests/fuzz/fuzz.h"

/* Bytes of content: a few bytes of an image may be a large file. */
enum { CONTENT_MAX = 4 << 20 };

static guint64 content(const img_tree *tree)
{
	guint64 bytes = 0;

	for (guint32 i = 0; i < img_tree_inode_count(tree); i++)
		bytes += MIN(img_tree_inode(tree, i)->size, CONTENT_MAX + 1);
	return bytes;
}

static GArray *items(const img_tree *tree, img_type type)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));

	/* The other way round than they are, and not all. */
	for (guint32 i = img_tree_inode_count(tree); i-- > 0;) {
		const img_inode *inode = img_tree_inode(tree, i);
		ro_plan_item item = {.inode = i, .rank = found->len, .reason = "open"};

		if (inode->type == type && i % 3 != 0 && (type != IMG_FILE || inode->size > 0))
			g_array_append_val(found, item);
	}
	return found;
}

static void check(const img_tree *tree, const ro_plan *plan, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	img_source source = fz_source(fd);
	GError *error = NULL;
	g_autoptr(img_tree) new_tree = img_tree_open(&source, &error);
	ro_verify_result result;

	g_assert_no_error(error);
	/* Content that cannot be unpacked is the input's fault. */
	if (!ro_verify_image(tree, new_tree, plan, NULL, &result, &error)) {
		if (error->code != RO_ERROR_UNSUITABLE)
			g_error("%s", error->message);
		g_error_free(error);
	}
	close(fd);
	unlink(path);
}

static void rebuild(int fd, const img_tree *tree)
{
	g_autofree char *iso = g_strdup_printf("/proc/self/fd/%d", fd);
	g_autofree char *path = g_strdup_printf("/dev/shm/fuzz-splice-%d", (int)getpid());
	g_autoptr(GArray) files = items(tree, IMG_FILE), dirs = items(tree, IMG_DIR);
	g_autoptr(GArray) symlinks = items(tree, IMG_SYMLINK);
	const ro_plan plan = {
		.layout = RO_LAYOUT_END, .files = files, .dirs = dirs, .symlinks = symlinks};
	const ro_engine_job job = {.iso_path = iso,
		.tree = tree,
		.plan = &plan,
		.workdir = "/dev/shm",
		.out_path = path};
	GError *error = NULL;

	if (fz_done(ro_engine_splice.check(&job, &error) && ro_engine_splice.rebuild(&job, &error),
		    &error))
		check(tree, &plan, path);
	g_assert_cmpint(access(path, F_OK), <, 0);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_file(data, size);
	img_source source = fz_source(fd);
	GError *error = NULL;
	g_autoptr(img_tree) tree = img_tree_open(&source, &error);

	if (fz_done(tree != NULL, &error) && content(tree) <= CONTENT_MAX)
		rebuild(fd, tree);
	close(fd);
	return 0;
}
