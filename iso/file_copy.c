/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/file_copy.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

/* How much goes between two looks at signals. */
enum { STEP = 16 << 20, BUFFER = 1 << 20 };

gboolean li_file_clone(int from, int to)
{
	return ioctl(to, FICLONE, from) == 0;
}

static gboolean truncated(const char *name, GError **error)
{
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: what is copied there has become shorter during the run; start again", name);
}

gboolean li_file_write(
	int to, guint64 offset, const void *data, gsize size, const char *name, GError **error)
{
	const guint8 *at = data;

	while (size > 0) {
		ssize_t done = pwrite(to, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return ro_fail_errno(error, done ? errno : ENOSPC, "%s: write", name);
		at += done;
		offset += (guint64)done;
		size -= (gsize)done;
	}
	return TRUE;
}

static gboolean copy_by_hand(int from, guint64 from_offset, int to, guint64 to_offset,
	guint64 length, const char *name, GError **error)
{
	g_autofree guint8 *buffer = g_malloc(BUFFER);

	while (length > 0) {
		ssize_t got = pread(from, buffer, MIN(length, BUFFER), (off_t)from_offset);

		if (ro_interrupted(error))
			return FALSE;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ro_fail_errno(error, errno, "%s: read what is copied there", name);
		if (got == 0)
			return truncated(name, error);
		if (!li_file_write(to, to_offset, buffer, (gsize)got, name, error))
			return FALSE;
		from_offset += (guint64)got;
		to_offset += (guint64)got;
		length -= (guint64)got;
	}
	return TRUE;
}

/* Between filesystems, from a block device, by old kernels. */
static gboolean needs_hands(int failure)
{
	return failure == EXDEV || failure == EINVAL || failure == ENOSYS ||
	       failure == EOPNOTSUPP || failure == EPERM || failure == EBADF;
}

gboolean li_file_copy(int from, guint64 from_offset, int to, guint64 to_offset, guint64 length,
	const char *name, GError **error)
{
	while (length > 0) {
		off_t in = (off_t)from_offset, out = (off_t)to_offset;
		ssize_t done = copy_file_range(from, &in, to, &out, MIN(length, STEP), 0);

		if (ro_interrupted(error))
			return FALSE;
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && !needs_hands(errno))
			return ro_fail_errno(error, errno, "%s: write", name);
		if (done <= 0) /* some filesystems claim that there is nothing */
			return copy_by_hand(from, from_offset, to, to_offset, length, name, error);
		from_offset += (guint64)done;
		to_offset += (guint64)done;
		length -= (guint64)done;
	}
	return TRUE;
}
