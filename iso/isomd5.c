/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/isomd5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iso/volume_tree.h"
#include "reorder/util/child.h"
#include "reorder/util/error.h"

#define MARK "ISO MD5SUM = "

void li_isomd5_parse(const guint8 *application_use, li_isomd5 *sum)
{
	g_autofree char *text = g_strndup((const char *)application_use, LI_APPLICATION_USE_SIZE);
	const char *count = strstr(text, "FRAGMENT COUNT = ");

	*sum = (li_isomd5){.present = g_str_has_prefix(text, MARK)};
	if (!sum->present)
		return;
	sum->supported = strstr(text, "RHLISOSTATUS=1") != NULL;
	if (count)
		sum->fragments = (guint)strtoul(count + strlen("FRAGMENT COUNT = "), NULL, 10);
}

static gboolean read_sum(const char *iso_path, li_isomd5 *sum, GError **error)
{
	guint8 field[LI_APPLICATION_USE_SIZE];
	int fd = open(iso_path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", iso_path);
	got = pread(fd, field, sizeof(field), 16 * LI_SECTOR + LI_APPLICATION_USE);
	close(fd);
	if (got != (ssize_t)sizeof(field))
		return ro_fail(
			error, RO_ERROR_FAILED, "%s: can't read its volume descriptor", iso_path);
	li_isomd5_parse(field, sum);
	return TRUE;
}

gboolean li_isomd5_check(const char *iso_path, li_isomd5 *sum, GError **error)
{
	static const int codes[] = {0, 1, -1};
	g_autofree char *absolute = g_canonicalize_filename(iso_path, NULL);
	const char *argv[] = {"checkisomd5", absolute, NULL};
	const ro_child_spec spec = {.argv = argv, .ok_codes = codes};
	int status;

	if (!read_sum(absolute, sum, error))
		return FALSE;
	if (!sum->present)
		return TRUE;
	if (!ro_child_run(&spec, &status, error))
		return FALSE;
	sum->right = status == 0;
	return TRUE;
}

gboolean li_isomd5_implant(const char *iso_path, const li_isomd5 *sum, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(iso_path, NULL);
	const char *argv[] = {"implantisomd5", "--force", absolute, NULL, NULL};
	const ro_child_spec spec = {.argv = argv};
	li_isomd5 new_sum;

	if (sum->supported) {
		argv[2] = "--supported-iso";
		argv[3] = absolute;
	}
	if (!ro_child_run(&spec, NULL, error) || !read_sum(absolute, &new_sum, error))
		return FALSE;
	if (!new_sum.present || new_sum.supported != sum->supported)
		return ro_fail(error, RO_ERROR_FAILED,
			"implantisomd5: no checksum in the new ISO; check your isomd5sum");
	if (new_sum.fragments != sum->fragments)
		ro_warn("isomd5: %u partial checksums instead of %u; the whole one is right",
			new_sum.fragments, sum->fragments);
	return TRUE;
}

gboolean li_isomd5_need(GError **error)
{
	return ro_child_need("checkisomd5", "isomd5sum", error) &&
	       ro_child_need("implantisomd5", "isomd5sum", error);
}
