/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/rebuild_check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "iso/boot_report.h"
#include "iso/checksums.h"
#include "iso/gpt.h"
#include "iso/volume_tree.h"
#include "iso/xorriso.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { TAIL_CHUNK = 1 << 20 };

/* What xorriso sees on the ISO and would not copy. It complains where it can't replay something. */
static gboolean check_equipment(const li_iso *iso, GError **error)
{
	g_autofree char *address = li_xorriso_address(iso->path);
	g_autoptr(GString) out = g_string_new(NULL);
	const char *argv[] = {"-indev", address, "-toc", "-report_el_torito", "cmd",
		"-report_system_area", "cmd", "-end", NULL};
	const li_xorriso run = {
		.argv = argv, .subject = iso->path, .code = RO_ERROR_UNSUITABLE, .out = out};
	guint sessions = 0;

	if (!li_xorriso_run(&run, error))
		return FALSE;
	for (const char *p = out->str; (p = strstr(p, "ISO session  :")); p++)
		sessions++;
	if (sessions > 1)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: %u sessions, which would be merged into one; make it anew in one session",
			iso->path, sessions);
	if (strstr(out->str, "\n-hfsplus on\n"))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: an HFS+ tree, which would be another one afterwards; make the ISO without it",
			iso->path);
	return TRUE;
}

static gboolean check_nodes(const li_iso *iso, const li_tree *tree, GError **error)
{
	if (!tree->rock_ridge)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: no Rock Ridge names, which xorriso would add; make the ISO with them (mkisofs -r)",
			iso->path);
	for (guint i = 0; i < tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(tree->nodes, i);

		if (node->zisofs)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s:%s: compressed by zisofs, which would be lost; make the ISO without it",
				iso->path, node->path);
	}
	return TRUE;
}

static gboolean has_aaip(const li_tree *tree)
{
	for (guint i = 0; i < tree->nodes->len; i++)
		if (((const li_node *)g_ptr_array_index(tree->nodes, i))->aaip)
			return TRUE;
	return FALSE;
}

/*
 * ACLs and extended attributes are an extension of libisofs (AAIP). It also keeps notes of its own
 * there, which may go; xorriso doesn't list them.
 */
static gboolean check_attributes(const li_iso *iso, const li_tree *tree, GError **error)
{
	g_autofree char *address = li_xorriso_address(iso->path);
	g_autoptr(GString) out = g_string_new(NULL);
	const char *argv[] = {"-iso_rr_pattern", "off", "-acl", "on", "-xattr", "any", "-indev",
		address, "-getfattr_r", "/", "--", "-find", "/", "-has_acl", "-exec", "echo", "--",
		"-end", NULL};
	const li_xorriso run = {
		.argv = argv, .subject = iso->path, .code = RO_ERROR_UNSUITABLE, .out = out};
	g_auto(GStrv) lines = NULL;

	if (!has_aaip(tree))
		return TRUE;
	if (!li_xorriso_run(&run, error))
		return FALSE;
	lines = g_strsplit(out->str, "\n", -1);
	for (char **line = lines; *line; line++)
		if (**line && !g_str_has_prefix(*line, "# file:"))
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: has ACLs or extended attributes (%s), which would be lost; make the ISO without them",
				iso->path, *line);
	return TRUE;
}

/* What may lie behind the volume: partitions of their own, and the backup of the GPT. */
static GArray *known_ranges(const li_iso *iso, const li_boot_report *report)
{
	GArray *ranges = g_array_new(FALSE, FALSE, sizeof(li_extent));
	g_auto(li_gpt) gpt = {0}, backup = {0};

	for (guint i = 0; i < report->partitions->len; i++) {
		const li_boot_report_partition *p =
			&g_array_index(report->partitions, li_boot_report_partition, i);
		li_extent range = {p->offset, p->size};

		if (p->offset >= iso->volume.size)
			g_array_append_val(ranges, range);
	}
	if (li_gpt_read(iso->fd, LI_GPT_BLOCK, &gpt) && li_gpt_read(iso->fd, gpt.backup, &backup)) {
		li_extent header = {backup.offset, LI_GPT_BLOCK};
		li_extent entries = {
			backup.entries_offset, (guint64)backup.entry_count * backup.entry_size};

		g_array_append_val(ranges, header);
		g_array_append_val(ranges, entries);
	}
	return ranges;
}

static void blank_ranges(guint8 *buffer, guint64 position, gsize size, const GArray *ranges)
{
	for (guint i = 0; i < ranges->len; i++) {
		const li_extent *range = &g_array_index(ranges, li_extent, i);
		guint64 from = MAX(range->offset, position);
		guint64 to = MIN(range->offset + range->length, position + size);

		if (from < to)
			memset(buffer + (from - position), 0, to - from);
	}
}

/* Other bytes behind the volume are nobody's, but someone put them there. Zeros are padding. */
static gboolean check_tail(const li_iso *iso, GError **error)
{
	g_autofree guint8 *buffer = g_malloc(TAIL_CHUNK);
	g_autoptr(li_boot_report) report = li_boot_report_new(iso->path, error);
	g_autoptr(GArray) ranges = report ? known_ranges(iso, report) : NULL;

	for (guint64 at = iso->volume.size; report && at < iso->file_size;) {
		ssize_t got = pread(iso->fd, buffer, TAIL_CHUNK, (off_t)at);

		if (ro_interrupted(error))
			return FALSE;
		if (got <= 0)
			return ro_fail_errno(error, got ? errno : EIO, "%s", iso->path);
		blank_ranges(buffer, at, (gsize)got, ranges);
		for (ssize_t i = 0; i < got; i++)
			if (buffer[i])
				return ro_fail(error, RO_ERROR_UNSUITABLE,
					"%s: there is data behind the volume's end (at byte %" G_GUINT64_FORMAT
					"), which would be lost; cut it off",
					iso->path, at + (guint64)i);
		at += (guint64)got;
	}
	return report != NULL;
}

static gboolean check_lists(const li_iso *iso, const li_tree *tree, GError **error)
{
	for (guint i = 0; i < iso->images->len; i++) {
		const li_image *image = g_ptr_array_index(iso->images, i);

		if (!image->refusal && !li_sums_check(iso->fd, tree, image->file->path, error))
			return FALSE;
	}
	return TRUE;
}

gboolean li_rebuild_check(const li_iso *iso, GError **error)
{
	g_autoptr(li_tree) tree = NULL;

	if (iso->volume.udf)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: UDF beside ISO 9660 (a bridge disc), which would be lost; make the ISO without it",
			iso->path);
	if (!li_xorriso_need(error))
		return FALSE;
	tree = li_tree_read(iso->fd, LI_VD_PRIMARY, iso->path, error);
	if (!tree)
		return FALSE;
	return check_nodes(iso, tree, error) && check_attributes(iso, tree, error) &&
	       check_tail(iso, error) && check_lists(iso, tree, error) &&
	       check_equipment(iso, error);
}
