/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace from what the agent has left on a machine of its own. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"
#include "trace/boot-internal.h"

static const guint64 size_limit = 1 << 30;

static gboolean read_frames(const char *path, int fd, tr_guest *guest, GError **error)
{
	char bytes[65536];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) != 0) {
		if (ro_interrupted(error))
			return FALSE;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ro_fail_errno(error, errno, "%s: read", path);
		tr_guest_push(guest, bytes, (gsize)n);
		if (tr_frames_get_counts(guest->frames)->bytes > size_limit)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: larger than 1 GiB; that is no recording of a boot", path);
	}
	return TRUE;
}

static gboolean read_file(const char *path, tr_guest *guest, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", path);
	gboolean ok = read_frames(path, fd, guest, error);
	close(fd);
	return ok;
}

static gboolean check(const char *path, const tr_guest *guest, GError **error)
{
	if (!guest->heard)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: no recording of a boot, or its beginning is lost", path);
	if (tr_frames_get_counts(guest->frames)->forged > 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: has frames that are not the agent's; record that boot again", path);
	if (guest->fanotify_errno)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: the kernel %s of that machine has no fanotify (%s), so nothing could be recorded",
			path, guest->release, g_strerror((int)guest->fanotify_errno));
	if (guest->root_time < 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: ends before that boot got to its root filesystem", path);
	return TRUE;
}

gboolean tr_boot_from_frames(
	const tr_boot_job *job, const char *path, tr_boot_result *result, GError **error)
{
	g_auto(tr_booted) b = {.job = job};

	*result = (tr_boot_result){0};
	b.guest = tr_guest_new(job->layers, job->layer_count);
	if (!read_file(path, b.guest, error) || !check(path, b.guest, error))
		return FALSE;
	result->trace = tr_booted_trace(&b, error);
	if (!result->trace)
		return FALSE;
	if (!b.guest->ended)
		ro_warn("%s: has no end: the trace may lack its last events", path);
	tr_booted_warn_of_losses(&b, result->trace);
	return TRUE;
}
