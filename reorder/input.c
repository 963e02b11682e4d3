/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/input.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "reorder/ext4_wrapping.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"

/* The filesystem inside, unpacked. */
static int unpack(const ro_root *root, GError **error)
{
	const char *tmpdir = g_getenv("TMPDIR");
	const char *parent = tmpdir && *tmpdir ? tmpdir : "/var/tmp";
	guint64 size = img_tree_inode(root->outer, root->outer_inode)->size;
	g_autoptr(ro_workdir) scratch = NULL;
	g_autofree char *path = NULL;
	int fd;

	if (!ro_need_space(parent, size, "the filesystem in the squashfs", error))
		return -1;
	scratch = ro_workdir_new(parent, error);
	if (!scratch)
		return -1;
	path = ro_workdir_file(scratch, "filesystem");
	if (!ro_ext4_unwrap(root->outer, root->outer_inode, path, NULL, error))
		return -1;
	fd = g_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		ro_fail_errno(error, errno, "%s", path);
	return fd;
}

static gboolean open_inside(ro_root *root, const img_source *source, GError **error)
{
	g_autofree char *path = NULL, *label = NULL;

	root->outer = img_tree_open(source, error);
	if (!root->outer)
		return FALSE;
	root->outer_inode = ro_ext4_find_inside(root->outer);
	if (root->outer_inode == IMG_NONE)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: no filesystem image in it; the ISO was changed", source->label);
	path = img_tree_inode_path(root->outer, root->outer_inode);
	label = g_strdup_printf("%s:/%s", source->label, path);
	root->inside_fd = unpack(root, error);
	if (root->inside_fd < 0)
		return FALSE;
	img_source inside = {
		root->inside_fd, 0, img_tree_inode(root->outer, root->outer_inode)->size, label};
	root->tree = img_ext4_tree_open(&inside, error);
	return root->tree != NULL;
}

static gboolean open_tree(ro_root *root, const img_source *source, GError **error)
{
	if (root->image->wraps_ext4)
		return open_inside(root, source, error);
	root->tree = root->image->kind == LI_IMAGE_EXT4 ? img_ext4_tree_open(source, error)
							: img_tree_open(source, error);
	return root->tree != NULL;
}

static gboolean open_root(ro_input *input, const li_image *image, GError **error)
{
	ro_root new_root = {.image = image, .inside_fd = -1};
	img_layer layer;
	img_source source;
	ro_root *root;

	g_array_append_val(input->roots, new_root);
	root = RO_INPUT_ROOT(input, input->roots->len - 1);
	if (!li_iso_source(input->iso, image->file, &source, error) ||
		!open_tree(root, &source, error))
		return FALSE;
	gboolean ok = img_layer_init(&layer, image->file->path, root->tree, error);
	layer.outer = root->outer;
	layer.outer_inode = root->outer_inode;
	g_array_append_val(input->layers, layer);
	return ok;
}

static void clear_root(gpointer data)
{
	ro_root *root = data;

	g_clear_pointer(&root->tree, img_tree_free);
	if (root->inside_fd >= 0)
		close(root->inside_fd);
	g_clear_pointer(&root->outer, img_tree_free);
}

static void clear_layer(gpointer layer)
{
	img_layer_clear(layer);
}

gboolean ro_input_open(ro_input *input, const char *path, GError **error)
{
	g_autoptr(GPtrArray) images = NULL;

	*input = (ro_input){0};
	input->roots = g_array_new(FALSE, FALSE, sizeof(ro_root));
	input->layers = g_array_new(FALSE, FALSE, sizeof(img_layer));
	g_array_set_clear_func(input->roots, clear_root);
	g_array_set_clear_func(input->layers, clear_layer);
	input->iso = li_iso_open(path, error);
	if (!input->iso)
		return FALSE;
	if (fstat(input->iso->fd, &input->stat) < 0)
		return ro_fail_errno(error, errno, "%s", path);
	images = li_iso_root_images(input->iso, error);
	for (guint i = 0; images && i < images->len; i++)
		if (!open_root(input, images->pdata[i], error))
			return FALSE;
	return images != NULL;
}

void ro_input_clear(ro_input *input)
{
	g_clear_pointer(&input->layers, g_array_unref);
	g_clear_pointer(&input->roots, g_array_unref);
	g_clear_pointer(&input->iso, li_iso_free);
}

gboolean ro_input_unchanged(const ro_input *input, GError **error)
{
	struct stat now;

	if (fstat(input->iso->fd, &now) < 0)
		return ro_fail_errno(error, errno, "%s", input->iso->path);
	if (now.st_size == input->stat.st_size &&
		now.st_mtim.tv_sec == input->stat.st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == input->stat.st_mtim.tv_nsec)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: was changed by another program during the run; start again", input->iso->path);
}
