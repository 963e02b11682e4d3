/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/loader_cost.h"

#include "iso/initrd.h"
#include "iso/kernel_image.h"
#include "reorder/util/error.h"

enum { INITRD_LIMIT = 1 << 30 };

/* What is needed for all files. */
typedef struct {
	const li_iso *iso;
	const tr_processor *processor;
	struct tr_drive drive;
} costs;

static void clear_file(gpointer data)
{
	tr_loader_file *file = data;

	g_free(file->path);
	g_free(file->compression);
}

static double read_seconds(costs *c, const li_file *file)
{
	double taken = 0;

	for (guint i = 0; i < file->extent_count; i++)
		taken += tr_drive_read(&c->drive, c->drive.ready, file->extents[i].offset,
			file->extents[i].length, NULL);
	return taken;
}

static void add_unpacking(
	const costs *c, tr_loader_file *file, const char *compression, guint64 packed)
{
	double seconds = tr_unpacking_seconds(c->processor, compression, (double)packed);

	if (seconds < 0 || file->unpack_seconds < 0)
		file->unpack_seconds = -1;
	else
		file->unpack_seconds += seconds;
}

static gboolean look_at_kernel(
	const costs *c, const li_file *on_iso, tr_loader_file *file, GError **error)
{
	li_kernel kernel = {0};

	if (!li_kernel_read(c->iso, on_iso, &kernel, error))
		return FALSE;
	g_free(kernel.version);
	file->is_kernel = TRUE;
	file->compression = g_strdup(kernel.compression);
	add_unpacking(c, file, kernel.compression, kernel.payload_size);
	return TRUE;
}

static gboolean look_at_initrd(
	const costs *c, const li_file *on_iso, tr_loader_file *file, GError **error)
{
	g_autoptr(GBytes) bytes = li_iso_read(c->iso, on_iso, INITRD_LIMIT, error);
	g_autoptr(GString) names = g_string_new(NULL);
	gsize size;

	if (!bytes)
		return FALSE;
	const guint8 *data = g_bytes_get_data(bytes, &size);
	g_autoptr(GArray) segments = li_initrd_segments(data, size, error);
	if (!segments)
		return FALSE;
	for (guint i = 0; i < segments->len; i++) {
		const li_segment *segment = &g_array_index(segments, li_segment, i);
		g_string_append_printf(names, "%s%s", i ? " + " : "", segment->compression);
		add_unpacking(c, file, segment->compression, segment->size);
	}
	file->compression = g_strdup(names->str);
	return TRUE;
}

static gboolean add_file(costs *c, GArray *files, const char *path, GError **error)
{
	const li_file *on_iso = li_iso_find(c->iso, path);
	tr_loader_file file = {.path = g_strdup(path)};

	if (!on_iso || on_iso->extent_count == 0) {
		g_free(file.path);
		return ro_fail(
			error, RO_ERROR_UNSUITABLE, "%s:%s: is not there", c->iso->path, path);
	}
	file.offset = on_iso->extents[0].offset;
	file.size = on_iso->size;
	file.read_seconds = read_seconds(c, on_iso);
	gboolean ok = files->len == 0 ? look_at_kernel(c, on_iso, &file, error)
				      : look_at_initrd(c, on_iso, &file, error);
	g_array_append_val(files, file);
	return ok;
}

GArray *tr_loader_files(const li_iso *iso, const li_entry *entry,
	const struct tr_drive_params *drive, const tr_processor *processor, GError **error)
{
	g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(tr_loader_file));
	costs c = {.iso = iso, .processor = processor};

	g_array_set_clear_func(files, clear_file);
	tr_drive_init(&c.drive, drive, iso->file_size);
	if (!add_file(&c, files, entry->kernel, error))
		return NULL;
	for (guint i = 0; i < entry->initrds->len; i++)
		if (!add_file(&c, files, g_ptr_array_index(entry->initrds, i), error))
			return NULL;
	return g_steal_pointer(&files);
}
