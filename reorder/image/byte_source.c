/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/byte_source.h"

#include <errno.h>
#include <unistd.h>

#include "reorder/util/error.h"

/* Kernels transfer less than 2 GiB in one call. */
enum { READ_MAX = 1 << 30 };

static gboolean truncated(const img_source *source, guint64 position, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: truncated: data is missing at byte %" G_GUINT64_FORMAT "; get the file anew",
		source->label, position);
}

gboolean img_source_read(
	const img_source *source, guint64 position, void *buffer, gsize length, GError **error)
{
	guint8 *to = buffer;

	if (position > source->size || length > source->size - position ||
		source->offset > G_MAXINT64 - source->size)
		return truncated(source, position, error);
	while (length > 0) {
		ssize_t got = pread(
			source->fd, to, MIN(length, READ_MAX), (off_t)(source->offset + position));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ro_fail_errno(error, errno, "%s: read", source->label);
		if (got == 0)
			return truncated(source, position, error);
		to += got;
		position += (guint64)got;
		length -= (gsize)got;
	}
	return TRUE;
}
