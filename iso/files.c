/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/files.h"

#include <string.h>
#include <sys/stat.h>

#include "iso/volume_tree.h"
#include "reorder/util/error.h"

/* A record with this flag belongs to another file (ECMA-119 9.1.6); Linux doesn't show it. */
enum { FLAG_ASSOCIATED = 4 };

void li_file_free(li_file *file)
{
	if (!file)
		return;
	g_free(file->path);
	g_free(file->extents);
	g_free(file);
}

gboolean li_file_is_contiguous(const li_file *file)
{
	for (guint i = 1; i < file->extent_count; i++)
		if (file->extents[i - 1].offset + file->extents[i - 1].length !=
			file->extents[i].offset)
			return FALSE;
	return TRUE;
}

static gboolean check_extents(const img_source *disc, const li_file *file, GError **error)
{
	for (guint i = 0; i < file->extent_count; i++) {
		const li_extent *extent = &file->extents[i];

		if (extent->offset > disc->size || extent->length > disc->size - extent->offset)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s:%s: lies past the end of the file; truncated or damaged, get the whole ISO",
				disc->label, file->path);
	}
	return TRUE;
}

static li_file *file_of_node(const li_node *node)
{
	li_file *file = g_new0(li_file, 1);

	file->path = g_strdup(node->path);
	file->size = node->size;
	file->extent_count = node->extents ? node->extents->len : 0;
	if (file->extent_count > 0)
		file->extents =
			g_memdup2(node->extents->data, file->extent_count * sizeof(li_extent));
	file->mode = node->mode & 07777;
	file->uid = node->uid;
	file->gid = node->gid;
	if (node->times[LI_TIME_MODIFY] != LI_NO_TIME)
		file->mtime = node->times[LI_TIME_MODIFY];
	return file;
}

/* As Linux chooses: Rock Ridge, else Joliet, else the plain names. */
static li_tree *read_tree(const img_source *disc, const li_volume *volume, GError **error)
{
	g_autoptr(li_tree) tree = li_tree_read(disc->fd, LI_VD_PRIMARY, disc->label, error);

	if (!tree || tree->rock_ridge || !volume->joliet)
		return g_steal_pointer(&tree);
	return li_tree_read(disc->fd, LI_VD_JOLIET, disc->label, error);
}

static gint compare_paths(gconstpointer a, gconstpointer b)
{
	return strcmp((*(const li_file *const *)a)->path, (*(const li_file *const *)b)->path);
}

GPtrArray *li_files_read(const img_source *disc, li_volume *volume, GError **error)
{
	g_autoptr(li_tree) tree = read_tree(disc, volume, error);
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func((GDestroyNotify)li_file_free);

	if (!tree)
		return NULL;
	volume->rock_ridge = tree->rock_ridge;
	for (guint i = 0; i < tree->nodes->len; i++) {
		const li_node *node = tree->nodes->pdata[i];
		li_file *file;

		if (!S_ISREG(node->mode) || (node->record_flags & FLAG_ASSOCIATED))
			continue;
		file = file_of_node(node);
		g_ptr_array_add(files, file);
		if (!check_extents(disc, file, error))
			return NULL;
	}
	g_ptr_array_sort(files, compare_paths);
	return g_steal_pointer(&files);
}
