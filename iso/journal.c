/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "iso/file_copy.h"
#include "iso/lock.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

static const char magic[16] = "reorder undo 1\n";

enum { CHUNK = 1 << 20, MAX_RANGES = 1 << 20, FIXED = 32, RANGE = 16, SUMS = 12 };

typedef struct {
	guint64 iso_size;
	GArray *ranges; /* of li_extent, by offset */
	guint32 outside, inside;
	guint64 data; /* where the old bytes begin */
} journal;

static void journal_clear(journal *j)
{
	g_clear_pointer(&j->ranges, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(journal, journal_clear)

static const li_extent *range_at(const journal *j, guint index)
{
	return &g_array_index(j->ranges, li_extent, index);
}

static char *real_path(const char *path)
{
	g_autofree char *resolved = realpath(path, NULL);

	return g_strdup(resolved ? resolved : path);
}

char *li_journal_path(const char *iso_path)
{
	g_autofree char *real = real_path(iso_path);

	return g_strconcat(real, ".reorder-undo", NULL);
}

static char *temp_path(const char *iso_path)
{
	g_autofree char *path = li_journal_path(iso_path);

	return g_strconcat(path, ".tmp", NULL);
}

/* A symlink that leads nowhere counts: what has that name is not overlooked. */
gboolean li_journal_exists(const char *iso_path)
{
	g_autofree char *path = li_journal_path(iso_path);
	struct stat st;

	return lstat(path, &st) == 0;
}

static gboolean sync_directory(const char *path, GError **error)
{
	g_autofree char *dir = g_path_get_dirname(path);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gboolean fine = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);

	if (!fine)
		ro_fail_errno(error, errno, "%s: sync", dir);
	if (fd >= 0)
		close(fd);
	return fine;
}

/* --- sums --- */

/* Goes on with a CRC; to >= 0: copies the bytes there on the way. */
static gboolean sum_range(int fd, const char *name, guint64 offset, guint64 length, guint32 *crc,
	int to, guint64 to_offset, const char *to_name, GError **error)
{
	const img_source source = {fd, 0, G_MAXINT64, name};
	g_autofree guint8 *buffer = g_malloc(MIN(CHUNK, length)); /* ranges may be many */

	for (guint64 done = 0; done < length; done += CHUNK) {
		gsize size = MIN(CHUNK, length - done);

		if (!img_source_read(&source, offset + done, buffer, size, error))
			return FALSE;
		*crc = (guint32)crc32(*crc, buffer, (uInt)size);
		if (to >= 0 && !li_file_write(to, to_offset + done, buffer, size, to_name, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean sum_outside(
	const journal *j, int iso_fd, const char *iso_path, guint32 *crc, GError **error)
{
	guint64 at = 0;

	*crc = 0;
	for (guint i = 0; i <= j->ranges->len; i++) {
		const li_extent *range = i < j->ranges->len ? range_at(j, i) : NULL;
		guint64 end = range ? range->offset : j->iso_size;

		if (!sum_range(iso_fd, iso_path, at, end - at, crc, -1, 0, NULL, error))
			return FALSE;
		at = range ? end + range->length : end;
	}
	return TRUE;
}

/* The old bytes, one range behind the other: from the ISO to the journal (while it is written), of
 * the journal alone, or back. */
static gboolean sum_inside(const journal *j, int from, const char *from_name, gboolean is_iso,
	int to, const char *to_name, guint32 *crc, GError **error)
{
	guint64 at = j->data;

	*crc = 0;
	for (guint i = 0; i < j->ranges->len; i++) {
		const li_extent *range = range_at(j, i);

		if (!sum_range(from, from_name, is_iso ? range->offset : at, range->length, crc, to,
			    is_iso ? at : range->offset, to_name, error))
			return FALSE;
		at += range->length;
	}
	return TRUE;
}

/* --- writing --- */

static void append64(GByteArray *bytes, guint64 value)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(bytes, (const guint8 *)&value, sizeof(value));
}

static void append32(GByteArray *bytes, guint32 value)
{
	value = GUINT32_TO_LE(value);
	g_byte_array_append(bytes, (const guint8 *)&value, sizeof(value));
}

static GByteArray *format_head(const journal *j)
{
	GByteArray *head = g_byte_array_new();

	g_byte_array_append(head, (const guint8 *)magic, sizeof(magic));
	append64(head, j->iso_size);
	append64(head, j->ranges->len);
	for (guint i = 0; i < j->ranges->len; i++) {
		append64(head, range_at(j, i)->offset);
		append64(head, range_at(j, i)->length);
	}
	append32(head, j->outside);
	append32(head, j->inside);
	append32(head, (guint32)crc32(0, head->data, head->len));
	return head;
}

static void take_ranges(journal *j, const li_overlay *overlay)
{
	j->iso_size = overlay->size;
	j->ranges = g_array_new(FALSE, FALSE, sizeof(li_extent));
	for (guint i = 0; i < overlay->changes->len; i++) {
		const li_change *change = &g_array_index(overlay->changes, li_change, i);
		li_extent range = {change->offset, change->length};

		g_array_append_val(j->ranges, range);
	}
	j->data = FIXED + (guint64)j->ranges->len * RANGE + SUMS;
}

static gboolean write_all(
	journal *j, const char *iso_path, int iso_fd, int fd, const char *path, GError **error)
{
	g_autoptr(GByteArray) head = NULL;

	if (!sum_outside(j, iso_fd, iso_path, &j->outside, error) ||
		!sum_inside(j, iso_fd, iso_path, TRUE, fd, path, &j->inside, error))
		return FALSE;
	head = format_head(j);
	if (!li_file_write(fd, 0, head->data, head->len, path, error))
		return FALSE;
	return fsync(fd) == 0 || ro_fail_errno(error, errno, "%s: sync", path);
}

static int create_temp(const char *temp, GError **error)
{
	int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		ro_fail_errno(error, errno, "%s: the undo journal cannot be created", temp);
	return fd;
}

gboolean li_journal_check(const char *iso_path, GError **error)
{
	g_autofree char *temp = temp_path(iso_path);
	int fd = create_temp(temp, error);

	if (fd < 0)
		return FALSE;
	close(fd);
	unlink(temp);
	return TRUE;
}

gboolean li_journal_write(const char *iso_path, const li_overlay *overlay, GError **error)
{
	g_autofree char *path = li_journal_path(iso_path), *temp = temp_path(iso_path);
	int fd = create_temp(temp, error);
	g_auto(journal) j = {0};
	gboolean fine;

	if (fd < 0)
		return FALSE;
	take_ranges(&j, overlay);
	fine = write_all(&j, iso_path, overlay->fd, fd, temp, error);
	close(fd);
	if (fine && rename(temp, path) < 0)
		fine = ro_fail_errno(error, errno, "%s: rename", temp);
	if (!fine)
		unlink(temp);
	return fine && sync_directory(path, error);
}

gboolean li_journal_remove(const char *iso_path, GError **error)
{
	g_autofree char *path = li_journal_path(iso_path);

	if (unlink(path) < 0 && errno != ENOENT)
		return ro_fail_errno(error, errno, "%s: remove", path);
	return sync_directory(path, error);
}

/* --- undoing --- */

static gboolean damaged(const char *path, GError **error)
{
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: damaged, so the ISO can't be made whole with it; get the ISO anew", path);
}

/* Ranges follow each other inside of the ISO. */
static gboolean parse_ranges(journal *j, const guint8 *raw, guint64 count)
{
	guint64 end = 0;

	j->ranges = g_array_new(FALSE, FALSE, sizeof(li_extent));
	for (guint64 i = 0; i < count; i++) {
		li_extent range = {img_le64(raw + i * RANGE), img_le64(raw + i * RANGE + 8)};

		if (range.offset < end || range.offset > j->iso_size ||
			range.length > j->iso_size - range.offset)
			return FALSE;
		end = range.offset + range.length;
		g_array_append_val(j->ranges, range);
	}
	return TRUE;
}

static gboolean parse(journal *j, int fd, const char *path, GError **error)
{
	const img_source source = {fd, 0, G_MAXINT64, path};
	guint8 fixed[FIXED];
	g_autofree guint8 *raw = NULL;
	guint64 count, size;
	guint32 crc;

	if (!img_source_read(&source, 0, fixed, sizeof(fixed), NULL) ||
		memcmp(fixed, magic, sizeof(magic)) != 0)
		return damaged(path, error);
	j->iso_size = img_le64(fixed + 16);
	count = img_le64(fixed + 24);
	if (j->iso_size > G_MAXINT64 || count > MAX_RANGES)
		return damaged(path, error);
	size = count * RANGE + SUMS;
	raw = g_malloc(size);
	if (!img_source_read(&source, FIXED, raw, size, NULL))
		return damaged(path, error);
	j->data = FIXED + size;
	j->outside = img_le32(raw + size - SUMS);
	j->inside = img_le32(raw + size - SUMS + 4);
	crc = (guint32)crc32(crc32(0, fixed, FIXED), raw, (uInt)(size - 4));
	if (crc != img_le32(raw + size - 4) || !parse_ranges(j, raw, count))
		return damaged(path, error);
	return TRUE;
}

static gboolean check_iso(
	const journal *j, const char *iso_path, int iso_fd, const char *path, GError **error)
{
	struct stat st;
	guint32 crc = 0;

	if (fstat(iso_fd, &st) < 0)
		return ro_fail_errno(error, errno, "%s", iso_path);
	if ((guint64)st.st_size == j->iso_size && !sum_outside(j, iso_fd, iso_path, &crc, error))
		return FALSE;
	if ((guint64)st.st_size == j->iso_size && crc == j->outside)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: not the ISO that %s was made for; remove that file if the ISO is right",
		iso_path, path);
}

static gboolean undo(int fd, const char *path, const char *iso_path, int iso_fd, GError **error)
{
	g_auto(journal) j = {0};
	guint32 crc;

	if (!parse(&j, fd, path, error))
		return FALSE;
	if (!sum_inside(&j, fd, path, FALSE, -1, NULL, &crc, NULL) || crc != j.inside)
		return damaged(path, error);
	if (!check_iso(&j, iso_path, iso_fd, path, error) ||
		!sum_inside(&j, fd, path, FALSE, iso_fd, iso_path, &crc, error))
		return FALSE;
	if (fsync(iso_fd) < 0)
		return ro_fail_errno(error, errno, "%s: sync", iso_path);
	return li_journal_remove(iso_path, error);
}

/* In a directory for all anybody can put something of that name there. */
static gboolean check_journal(int fd, const char *path, int iso_fd, GError **error)
{
	struct stat st, iso;

	if (fd < 0 && errno != ELOOP)
		return ro_fail_errno(error, errno, "%s", path);
	if (fd >= 0 && fstat(fd, &st) == 0 && fstat(iso_fd, &iso) == 0 && S_ISREG(st.st_mode) &&
		(st.st_uid == geteuid() || st.st_uid == iso.st_uid))
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: not a file, or neither yours nor the ISO's owner's; remove it if the ISO is right",
		path);
}

gboolean li_journal_undo(const char *iso_path, int iso_fd, GError **error)
{
	g_autofree char *path = li_journal_path(iso_path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	gboolean fine =
		check_journal(fd, path, iso_fd, error) && undo(fd, path, iso_path, iso_fd, error);

	if (fd < 0)
		return FALSE;
	close(fd);
	return fine;
}

/* --- the ISO --- */

static gboolean check_own(int fd, const char *iso_path, GError **error)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ro_fail_errno(error, errno, "%s", iso_path);
	if (!S_ISREG(st.st_mode))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: not a regular file, so it is not changed in place", iso_path);
	if (st.st_nlink > 1)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: has other names (hard links), which would change too; copy it first",
			iso_path);
	int status = li_lock_take(fd, LI_LOCK_CHANGE);
	if (status == EAGAIN)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: in use by another run of reorder-livecd; wait for it", iso_path);
	return status == 0 || ro_fail_errno(error, status, "%s: lock", iso_path);
}

int li_open_in_place(const char *iso_path, GError **error)
{
	int fd = open(iso_path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		ro_fail_errno(error, errno, "%s: open to change it in place", iso_path);
		return -1;
	}
	if (check_own(fd, iso_path, error))
		return fd;
	close(fd);
	return -1;
}

gboolean li_recover(const char *iso_path, gboolean *undone, GError **error)
{
	g_autofree char *temp = temp_path(iso_path);
	int fd = li_open_in_place(iso_path, error);
	gboolean fine = TRUE;

	*undone = FALSE;
	if (fd < 0)
		return FALSE;
	unlink(temp); /* of a run that has not changed anything yet */
	if (li_journal_exists(iso_path)) {
		fine = li_journal_undo(iso_path, fd, error);
		*undone = fine;
	}
	close(fd);
	return fine;
}
