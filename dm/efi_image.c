/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/efi_image.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/boot_config.h"
#include "reorder/image/le.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/child.h"
#include "reorder/util/error.h"

enum { CHUNK = 1 << 20, SIZE_MAX_BYTES = 512 << 20, TEXTS_MAX = 64, SECTOR = 512 };

void dmx_efi_image_free(dmx_efi_image *efi)
{
	if (!efi)
		return;
	g_free(efi->path);
	g_clear_pointer(&efi->texts, g_hash_table_unref);
	g_free(efi);
}

/* From the BIOS parameter block (Microsoft: FAT, overview of on-disk format); 0: no FAT. */
static guint64 fat_size(const guint8 *sector)
{
	guint16 bytes = img_le16(sector + 11), small = img_le16(sector + 19);
	guint64 count = small ? small : img_le32(sector + 32);

	if (img_le16(sector + 510) != 0xaa55 || bytes < 512 || bytes > 4096 ||
		(bytes & (bytes - 1)) || sector[16] == 0 || sector[16] > 2)
		return 0;
	return count * bytes;
}

static gboolean copy_range(const img_source *source, const char *path, GError **error)
{
	g_autofree guint8 *buffer = g_malloc(CHUNK);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	gboolean ok = TRUE;

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", path);
	for (guint64 at = 0; ok && at < source->size; at += CHUNK) {
		gsize size = MIN(CHUNK, source->size - at);

		ok = img_source_read(source, at, buffer, size, error);
		if (ok && write(fd, buffer, size) != (ssize_t)size)
			ok = ro_fail_errno(error, errno, "%s", path);
	}
	if (close(fd) < 0 && ok)
		return ro_fail_errno(error, errno, "%s", path);
	return ok;
}

/* Where it lies. A file is taken whole, a partition as far as its filesystem goes. */
static gboolean find(dmx_efi_image *efi, const li_iso *iso, img_source *source)
{
	guint8 sector[SECTOR];
	guint64 size;

	efi->file = efi->image->path ? li_iso_find(iso, efi->image->path) : NULL;
	*source = (img_source){iso->fd, efi->image->offset, SECTOR, iso->path};
	if (efi->image->offset > iso->file_size - MIN(iso->file_size, SECTOR) ||
		!img_source_read(source, 0, sector, sizeof(sector), NULL))
		return FALSE;
	size = fat_size(sector);
	if (efi->file)
		size = size == 0 ? 0 : efi->file->size;
	source->size = size;
	return size > 0 && size <= SIZE_MAX_BYTES && size <= iso->file_size - efi->image->offset;
}

static gboolean is_text(const char *path)
{
	g_autofree char *lower = g_ascii_strdown(path, -1);

	/* mtools would take these for patterns. */
	return (g_str_has_suffix(lower, ".cfg") || g_str_has_suffix(lower, ".conf")) &&
	       !strpbrk(path, "*?[]\\");
}

static gboolean is_uki(const char *path)
{
	g_autofree char *lower = g_ascii_strdown(path, -1);

	return g_str_has_prefix(lower, "/efi/linux/") && g_str_has_suffix(lower, ".efi");
}

/* Owned by the caller; NULL if it is too large or cannot be read. */
static GBytes *read_text(const dmx_efi_image *efi, const char *path, GError **error)
{
	g_autofree char *name = g_strconcat("::", path, NULL);
	g_autofree char *local = g_strconcat(efi->path, ".text", NULL);
	const char *const argv[] = {"env", "MTOOLS_SKIP_CHECK=1", "mcopy", "-n", "-o", "-i",
		efi->path, name, local, NULL};
	ro_child_spec spec = {.argv = argv};
	g_autoptr(GError) reason = NULL;
	char *text;
	gsize size;

	if (!ro_child_run(&spec, NULL, error))
		return NULL;
	if (!g_file_get_contents(local, &text, &size, &reason)) {
		ro_fail(error, RO_ERROR_FAILED, "%s", reason->message);
		return NULL;
	}
	g_unlink(local);
	return g_bytes_new_take(text, size);
}

static gboolean read_texts(dmx_efi_image *efi, const char *list, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(list, "\n", -1);

	for (gsize i = 0; lines[i]; i++) {
		const char *path = lines[i] + 2;
		GBytes *text;

		if (!g_str_has_prefix(lines[i], "::/"))
			continue;
		efi->has_uki |= is_uki(path);
		if (!is_text(path) || g_hash_table_size(efi->texts) >= TEXTS_MAX)
			continue;
		text = read_text(efi, path, error);
		if (!text)
			return FALSE;
		if (g_bytes_get_size(text) <= LI_CONFIG_MAX_TEXT)
			g_hash_table_insert(efi->texts, g_strdup(path), text);
		else
			g_bytes_unref(text);
	}
	return TRUE;
}

static gboolean read_all(dmx_efi_image *efi, GError **error)
{
	const char *const argv[] = {
		"env", "MTOOLS_SKIP_CHECK=1", "mdir", "-/", "-b", "-i", efi->path, "::", NULL};
	g_autoptr(GString) list = g_string_new(NULL);
	ro_child_spec spec = {.argv = argv, .out = list};

	return ro_child_need("mdir", "mtools", error) && ro_child_run(&spec, NULL, error) &&
	       read_texts(efi, list->str, error);
}

dmx_efi_image *dmx_efi_image_open(
	const li_iso *iso, const li_boot_image *image, const char *path, GError **error)
{
	g_autoptr(dmx_efi_image) efi = g_new0(dmx_efi_image, 1);
	img_source source;

	efi->image = image;
	efi->path = g_strdup(path);
	efi->texts = g_hash_table_new_full(
		ro_bytes_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
	if (!find(efi, iso, &source))
		return NULL;
	if (!copy_range(&source, path, error) || !read_all(efi, error))
		return NULL;
	return g_steal_pointer(&efi);
}

/* Seconds since 1970 of "2026-12-01-10-20-30-00"; FAT begins with 1980. */
static gint64 volume_time(const li_iso *iso)
{
	const char *uuid = iso->volume.volume_uuid ? iso->volume.volume_uuid : "";
	g_auto(GStrv) parts = g_strsplit(uuid, "-", -1);
	g_autoptr(GDateTime) date = NULL;

	if (g_strv_length(parts) >= 6)
		date = g_date_time_new_utc(atoi(parts[0]), atoi(parts[1]), atoi(parts[2]),
			atoi(parts[3]), atoi(parts[4]), atoi(parts[5]));
	return MAX(date ? g_date_time_to_unix(date) : 0, 315532800);
}

static gboolean write_text(
	const dmx_efi_image *efi, const li_iso *iso, const char *path, GBytes *text, GError **error)
{
	g_autofree char *name = g_strconcat("::", path, NULL);
	g_autofree char *local = g_strconcat(efi->path, ".text", NULL);
	g_autofree char *epoch =
		g_strdup_printf("SOURCE_DATE_EPOCH=%" G_GINT64_FORMAT, volume_time(iso));
	const char *const argv[] = {
		"env", "TZ=UTC", epoch, "mcopy", "-o", "-m", "-i", efi->path, local, name, NULL};
	ro_child_spec spec = {.argv = argv};
	const struct timespec times[2] = {{volume_time(iso), 0}, {volume_time(iso), 0}};
	g_autoptr(GError) reason = NULL;
	gsize size;
	const char *data = g_bytes_get_data(text, &size);
	gboolean ok;

	if (!g_file_set_contents(local, data, (gssize)size, &reason))
		return ro_fail(error, RO_ERROR_FAILED, "%s", reason->message);
	ok = utimensat(AT_FDCWD, local, times, 0) == 0 || ro_fail_errno(error, errno, "%s", local);
	ok = ok && ro_child_run(&spec, NULL, error);
	g_unlink(local);
	return ok;
}

static gboolean reads_back(const dmx_efi_image *efi, const char *path, GBytes *text, GError **error)
{
	g_autoptr(GBytes) read = read_text(efi, path, error);

	if (!read)
		return FALSE;
	return g_bytes_equal(read, text) ||
	       ro_fail(error, RO_ERROR_FAILED,
		       "%s in the EFI image: does not come out as it was put in", path);
}

static gboolean same_size(const dmx_efi_image *efi, gint64 before, GError **error)
{
	struct stat st;

	if (stat(efi->path, &st))
		return ro_fail_errno(error, errno, "%s", efi->path);
	return st.st_size == before ||
	       ro_fail(error, RO_ERROR_FAILED, "the EFI image has another size once it is edited");
}

gboolean dmx_efi_image_write(
	dmx_efi_image *efi, const li_iso *iso, GHashTable *texts, GError **error)
{
	g_autoptr(GList) paths = g_list_sort(g_hash_table_get_keys(texts), (GCompareFunc)strcmp);
	struct stat st;

	if (stat(efi->path, &st))
		return ro_fail_errno(error, errno, "%s", efi->path);
	for (GList *at = paths; at; at = at->next) {
		GBytes *text = g_hash_table_lookup(texts, at->data);

		if (!write_text(efi, iso, at->data, text, error) ||
			!reads_back(efi, at->data, text, error))
			return FALSE;
	}
	return same_size(efi, st.st_size, error);
}
