/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/input.h"

#include <errno.h>

#include "reorder/util/error.h"

gboolean ro_input_open(ro_input *input, const char *path, GError **error)
{
	img_source source;

	*input = (ro_input){0};
	input->iso = li_iso_open(path, error);
	if (!input->iso)
		return FALSE;
	if (fstat(input->iso->fd, &input->stat) < 0)
		return ro_fail_errno(error, errno, "%s", path);
	input->image = li_iso_root_image(input->iso, error);
	if (!input->image || !li_iso_source(input->iso, input->image->file, &source, error))
		return FALSE;
	input->tree = img_tree_open(&source, error);
	return input->tree != NULL;
}

void ro_input_clear(ro_input *input)
{
	g_clear_pointer(&input->tree, img_tree_free);
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
