/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/input.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "reorder/ext4/ext4_tree.h"
#include "reorder/ext4/wrapping.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"

/* The filesystem inside, unpacked. */
static int unpack(const ro_input *input, GError **error)
{
	const char *tmpdir = g_getenv("TMPDIR");
	const char *parent = tmpdir && *tmpdir ? tmpdir : "/var/tmp";
	guint64 size = img_tree_inode(input->outer, input->outer_inode)->size;
	g_autoptr(ro_workdir) scratch = NULL;
	g_autofree char *path = NULL;
	int fd;

	if (!ro_need_space(parent, size, "the filesystem in the squashfs", error))
		return -1;
	scratch = ro_workdir_new(parent, error);
	if (!scratch)
		return -1;
	path = ro_workdir_file(scratch, "filesystem");
	if (!ro_ext4_unwrap(input->outer, input->outer_inode, path, NULL, error))
		return -1;
	fd = g_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		ro_fail_errno(error, errno, "%s", path);
	return fd;
}

static gboolean open_inside(ro_input *input, const img_source *source, GError **error)
{
	g_autofree char *path = NULL, *label = NULL;

	input->outer = img_tree_open(source, error);
	if (!input->outer)
		return FALSE;
	input->outer_inode = ro_ext4_find_inside(input->outer);
	if (input->outer_inode == IMG_NONE)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: no filesystem image in it; the ISO was changed", source->label);
	path = img_tree_inode_path(input->outer, input->outer_inode);
	label = g_strdup_printf("%s:/%s", source->label, path);
	input->inside_fd = unpack(input, error);
	if (input->inside_fd < 0)
		return FALSE;
	img_source inside = {
		input->inside_fd, 0, img_tree_inode(input->outer, input->outer_inode)->size, label};
	input->tree = ro_ext4_tree_open(&inside, error);
	return input->tree != NULL;
}

static gboolean open_tree(ro_input *input, const img_source *source, GError **error)
{
	if (input->image->wraps_ext4)
		return open_inside(input, source, error);
	input->tree = input->image->kind == LI_IMAGE_EXT4 ? ro_ext4_tree_open(source, error)
							  : img_tree_open(source, error);
	return input->tree != NULL;
}

gboolean ro_input_open(ro_input *input, const char *path, GError **error)
{
	img_source source;

	*input = (ro_input){.inside_fd = -1};
	input->iso = li_iso_open(path, error);
	if (!input->iso)
		return FALSE;
	if (fstat(input->iso->fd, &input->stat) < 0)
		return ro_fail_errno(error, errno, "%s", path);
	input->image = li_iso_root_image(input->iso, error);
	if (!input->image || !li_iso_source(input->iso, input->image->file, &source, error))
		return FALSE;
	return open_tree(input, &source, error);
}

void ro_input_clear(ro_input *input)
{
	g_clear_pointer(&input->tree, img_tree_free);
	/* One that was never opened is all zero. */
	if (input->outer && input->inside_fd >= 0)
		close(input->inside_fd);
	input->inside_fd = -1;
	g_clear_pointer(&input->outer, img_tree_free);
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
