/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/files.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <libisofs/libisofs.h>

#include "iso/directory.h"
#include "iso/volume.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { PRIMARY_SECTOR = 16, ROOT_RECORD = 156, MAX_DEPTH = 200 };

/* A directory that is still to be listed. */
typedef struct {
	IsoDir *dir;
	char *path; /* "" for the root */
	guint depth;
} pending;

typedef struct {
	const img_source *disc;
	GPtrArray *files;
	GQueue *queue; /* of pending */
} listing;

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

static void pending_free(pending *item)
{
	g_free(item->path);
	g_free(item);
}

/* libisofs reads through the descriptor that is open already: the same file, whatever happens to
 * its name. */
static int source_open(IsoDataSource *source G_GNUC_UNUSED)
{
	return 1;
}

static int source_read(IsoDataSource *source, uint32_t block, uint8_t *buffer)
{
	const img_source *disc = source->data;

	if (ro_interrupted(NULL))
		return (int)ISO_CANCELED;
	return img_source_read(disc, (guint64)block * LI_BLOCK, buffer, LI_BLOCK, NULL)
		       ? 1
		       : (int)ISO_DATA_SOURCE_FAILURE;
}

static void source_free(IsoDataSource *source G_GNUC_UNUSED)
{
}

static IsoDataSource *source_new(const img_source *disc)
{
	IsoDataSource *source = calloc(1, sizeof(*source));

	if (!source)
		g_error("out of memory");
	source->refcount = 1;
	source->open = source_open;
	source->close = source_open;
	source->read_block = source_read;
	source->free_data = source_free;
	source->data = (gpointer)disc;
	return source;
}

static gpointer initialize(gpointer data G_GNUC_UNUSED)
{
	char never[] = "NEVER", none[] = "", utf8[] = "UTF-8";

	iso_init();
	iso_set_msgs_severities(never, never, none);
	/* The same on both sides: names stay the bytes that they are. */
	iso_set_local_charset(utf8, 0);
	return NULL;
}

static IsoReadOpts *read_options(void)
{
	IsoReadOpts *options = NULL;

	if (iso_read_opts_new(&options, 0) < 0)
		return NULL;
	iso_read_opts_set_start_block(options, 0);
	iso_read_opts_set_no_aaip(options, 1);
	iso_read_opts_set_no_md5(options, 1);
	iso_read_opts_set_input_charset(options, "UTF-8");
	return options;
}

static gboolean import(
	const img_source *disc, IsoImage *image, gboolean *rock_ridge, GError **error)
{
	IsoReadImageFeatures *features = NULL;
	IsoDataSource *source = source_new(disc);
	IsoReadOpts *options = read_options();
	int code = (int)ISO_OUT_OF_MEM;

	if (options)
		code = iso_image_import(image, source, options, &features);
	*rock_ridge = code >= 0 && iso_read_image_features_has_rockridge(features);
	iso_read_image_features_destroy(features);
	iso_read_opts_free(options);
	iso_data_source_unref(source);
	if (ro_interrupted(error))
		return FALSE;
	if (code >= 0)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: cannot read its directories: %s",
		disc->label, iso_error_to_msg(code));
}

static gboolean add_extent(
	li_file *file, guint64 offset, guint64 length, const listing *list, GError **error)
{
	if (offset > list->disc->size || length > list->disc->size - offset)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: lies past the end of the file; truncated or damaged, get the whole ISO",
			list->disc->label, file->path);
	file->extents[file->extent_count++] = (li_extent){offset, length};
	return TRUE;
}

/* libisofs knows sections in blocks; all but the last are whole blocks. */
static gboolean take_sections(li_file *file, const struct iso_file_section *sections, int count,
	const listing *list, GError **error)
{
	guint64 total = 0;

	file->extents = g_new(li_extent, (gsize)MAX(count, 1));
	for (int i = 0; i < count; i++) {
		if (sections[i].size == 0)
			continue;
		total += sections[i].size;
		if (!add_extent(file, (guint64)sections[i].block * LI_BLOCK, sections[i].size,
			    list, error))
			return FALSE;
	}
	if (total == file->size)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s:%s: its extents do not add up to its size",
		list->disc->label, file->path);
}

static li_file *file_of_node(IsoNode *node, const char *path)
{
	li_file *file = g_new0(li_file, 1);

	file->path = g_strdup(path);
	file->mode = iso_node_get_permissions(node) & 07777;
	file->uid = iso_node_get_uid(node);
	file->gid = iso_node_get_gid(node);
	file->mtime = iso_node_get_mtime(node);
	return file;
}

static gboolean add_file(listing *list, IsoNode *node, const char *path, GError **error)
{
	IsoFile *iso_file = ISO_FILE(node);
	struct iso_file_section *sections = NULL;
	li_file *file = file_of_node(node, path);
	int count = 0;
	gboolean ok;

	g_ptr_array_add(list->files, file);
	file->size = (guint64)iso_file_get_size(iso_file);
	if (iso_file_get_old_image_sections(iso_file, &count, &sections, 0) != 1)
		count = 0;
	ok = take_sections(file, sections, count, list, error);
	free(sections);
	return ok;
}

/* The boot catalog is a file too where it has a name. */
static gboolean add_catalog(
	listing *list, IsoImage *image, IsoNode *node, const char *path, GError **error)
{
	IsoBoot *catalog = NULL;
	uint32_t block = 0;
	off_t size = 0;
	char *content = NULL;
	li_file *file;

	if (iso_image_get_bootcat(image, &catalog, &block, &content, &size) != 1)
		return TRUE;
	free(content);
	file = file_of_node(node, path);
	g_ptr_array_add(list->files, file);
	file->size = (guint64)size;
	file->extents = g_new(li_extent, 1);
	return size == 0 || add_extent(file, (guint64)block * LI_BLOCK, file->size, list, error);
}

static gboolean add_node(
	listing *list, IsoImage *image, IsoNode *node, const pending *parent, GError **error)
{
	g_autofree char *path = g_strdup_printf("%s/%s", parent->path, iso_node_get_name(node));
	pending *item;

	switch (iso_node_get_type(node)) {
	case LIBISO_FILE:
		return add_file(list, node, path, error);
	case LIBISO_BOOT:
		return add_catalog(list, image, node, path, error);
	case LIBISO_DIR:
		if (parent->depth >= MAX_DEPTH)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: its directories are too deep", list->disc->label);
		item = g_new(pending, 1);
		*item = (pending){ISO_DIR(node), g_steal_pointer(&path), parent->depth + 1};
		g_queue_push_tail(list->queue, item);
		return TRUE;
	default:
		return TRUE;
	}
}

static gboolean list_directory(listing *list, IsoImage *image, const pending *item, GError **error)
{
	IsoDirIter *iter = NULL;
	IsoNode *node;
	gboolean ok = TRUE;

	if (iso_dir_get_children(item->dir, &iter) < 0)
		return ro_fail(error, RO_ERROR_FAILED, "%s%s: cannot list this directory",
			list->disc->label, item->path);
	while (ok && iso_dir_iter_next(iter, &node) == 1)
		ok = !ro_interrupted(error) && add_node(list, image, node, item, error);
	iso_dir_iter_free(iter);
	return ok;
}

static gboolean list_image(listing *list, IsoImage *image, GError **error)
{
	pending *root = g_new0(pending, 1);
	gboolean ok = TRUE;

	root->dir = iso_image_get_root(image);
	root->path = g_strdup("");
	g_queue_push_tail(list->queue, root);
	while (ok && !g_queue_is_empty(list->queue)) {
		pending *item = g_queue_pop_head(list->queue);

		ok = list_directory(list, image, item, error);
		pending_free(item);
	}
	return ok;
}

static gint compare_paths(gconstpointer a, gconstpointer b)
{
	return strcmp((*(const li_file *const *)a)->path, (*(const li_file *const *)b)->path);
}

/* libisofs follows the directories by recursion and believes every one of them. */
static gboolean check_directories(const img_source *disc, GError **error)
{
	guint8 sector[LI_BLOCK];

	return img_source_read(disc, PRIMARY_SECTOR * LI_BLOCK, sector, sizeof(sector), error) &&
	       li_directory_walk(disc, sector + ROOT_RECORD, NULL, NULL, error);
}

static gboolean import_and_list(listing *list, gboolean *rock_ridge, GError **error)
{
	IsoImage *image = NULL;
	gboolean ok;

	if (iso_image_new("iso", &image) < 0)
		return ro_fail(error, RO_ERROR_FAILED, "libisofs: cannot make an image object");
	ok = import(list->disc, image, rock_ridge, error) && list_image(list, image, error);
	iso_image_unref(image);
	return ok;
}

GPtrArray *li_files_read(const img_source *disc, gboolean *rock_ridge, GError **error)
{
	static GOnce once = G_ONCE_INIT;
	listing list = {
		disc, g_ptr_array_new_with_free_func((GDestroyNotify)li_file_free), g_queue_new()};
	gboolean ok;

	g_once(&once, initialize, NULL);
	ok = check_directories(disc, error) && import_and_list(&list, rock_ridge, error);
	g_queue_free_full(list.queue, (GDestroyNotify)pending_free);
	if (!ok) {
		g_ptr_array_unref(list.files);
		return NULL;
	}
	g_ptr_array_sort(list.files, compare_paths);
	return list.files;
}
