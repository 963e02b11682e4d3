/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ISOs for unit tests: made up in memory, or by xorriso in a scratch directory. */
#ifndef ISO_FIXTURE_H
#define ISO_FIXTURE_H

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/files.h"
#include "iso/live_iso-internal.h"

static inline gint fixture_compare(gconstpointer a, gconstpointer b)
{
	return strcmp((*(const li_file *const *)a)->path, (*(const li_file *const *)b)->path);
}

static inline void fixture_add(li_iso *iso, const char *path, const void *data, gsize size)
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

/* Files only, no volume: (path, text) pairs that end with NULL. */
static inline li_iso *fixture_iso(const char *const *files)
{
	li_iso *iso = li_iso_new("test.iso", memfd_create("iso", MFD_CLOEXEC), 0);

	for (; *files; files += 2)
		fixture_add(iso, files[0], files[1], strlen(files[1]));
	g_ptr_array_sort(iso->files, fixture_compare);
	li_iso_index_files(iso);
	return iso;
}

/* Runs a script in dir; $1 is the optional argument. */
static inline void fixture_script(const char *dir, const char *script)
{
	const char *const argv[] = {"bash", "-euc", script, NULL};
	g_autoptr(GError) error = NULL;
	g_autofree char *err = NULL;
	int status;

	g_spawn_sync(dir, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &err, &status,
		&error);
	g_assert_no_error(error);
	if (status != 0)
		g_error("%s\n%s", script, err);
}

static inline char *fixture_dir(void)
{
	char *dir = g_dir_make_tmp("iso-test-XXXXXX", NULL);

	g_assert_nonnull(dir);
	return dir;
}

static inline void fixture_remove(char *dir)
{
	const char *const argv[] = {"rm", "-rf", dir, NULL};

	g_spawn_sync(
		NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
	g_free(dir);
}

#endif
