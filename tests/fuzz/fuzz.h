/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the fuzz targets share. A target is one function, which libFuzzer (make fuzz) or replay.c
 * calls with an input; it may do anything but crash, leak, hang or take memory without end.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/live_iso-internal.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

/* A file in memory, for the caller to close. */
G_GNUC_UNUSED static int fz_file(const void *data, gsize size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(pwrite(fd, data, size, 0), ==, (gssize)size);
	return fd;
}

enum { FZ_UNIT = 512, FZ_CHUNK_HEADER = 4 };

/*
 * Likewise a large file with little in it, so that the input is small: the input is chunks, each
 * a position in units of 512 bytes (u16, little-endian), a length (u16) and so many bytes. The rest
 * is zeros; the file ends with the last chunk. tests/fuzz/seeds writes such files.
 */
G_GNUC_UNUSED static int fz_sparse_file(const guint8 *data, gsize size)
{
	int fd = fz_file("", 0);
	guint64 end = 0;

	while (size >= FZ_CHUNK_HEADER) {
		guint64 offset = (guint64)img_le16(data) * FZ_UNIT;
		gsize length = MIN(img_le16(data + 2), size - FZ_CHUNK_HEADER);

		data += FZ_CHUNK_HEADER;
		g_assert_cmpint(pwrite(fd, data, length, (off_t)offset), ==, (gssize)length);
		end = offset + length;
		data += length;
		size -= FZ_CHUNK_HEADER + length;
	}
	g_assert_cmpint(ftruncate(fd, (off_t)end), ==, 0);
	return fd;
}

G_GNUC_UNUSED static guint64 fz_size(int fd)
{
	return (guint64)lseek(fd, 0, SEEK_END);
}

G_GNUC_UNUSED static img_source fz_source(int fd)
{
	return (img_source){fd, 0, fz_size(fd), "fuzz"};
}

/* Takes the result of a reader: if it has failed it says why, in a way that main() expects. Clears
 * the error. */
G_GNUC_UNUSED static gboolean fz_done(gboolean fine, GError **error)
{
	g_assert_true(fine == (*error == NULL));
	if (*error) {
		g_assert_true((*error)->domain == RO_ERROR);
		g_assert_true(
			(*error)->code >= RO_ERROR_FAILED && (*error)->code <= RO_ERROR_UNSUITABLE);
		g_assert_true((*error)->message[0] != '\0');
	}
	g_clear_error(error);
	return fine;
}

/* Puts a file on an ISO that has no volume; see fz_iso_ready. */
G_GNUC_UNUSED static void fz_iso_add(li_iso *iso, const char *path, const void *data, gsize size)
{
	li_file *file = g_new0(li_file, 1);

	file->path = g_strdup(path);
	file->size = size;
	file->extents = g_new(li_extent, 1);
	file->extents[0] = (li_extent){iso->file_size, size};
	file->extent_count = size > 0;
	g_assert_cmpint(pwrite(iso->fd, data, size, (off_t)iso->file_size), ==, (gssize)size);
	iso->file_size += size;
	g_ptr_array_add(iso->files, file);
}

G_GNUC_UNUSED static gint fz_compare(gconstpointer a, gconstpointer b)
{
	return strcmp((*(const li_file *const *)a)->path, (*(const li_file *const *)b)->path);
}

/* After the last file. */
G_GNUC_UNUSED static void fz_iso_ready(li_iso *iso)
{
	g_ptr_array_sort(iso->files, fz_compare);
	li_iso_index_files(iso);
}

G_GNUC_UNUSED static li_iso *fz_iso_new(void)
{
	return li_iso_new("fuzz.iso", fz_file("", 0), 0);
}

#endif
