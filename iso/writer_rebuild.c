/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xorriso -indev OLD -outdev NEW -boot_image any replay, and what it does not keep by itself. It is
 * used in its native mode (the mkisofs emulation refuses files from 4 GiB on), with -indev and
 * -outdev apart (else it would append a session to the input).
 */
#include "iso/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/checksums.h"
#include "iso/identity.h"
#include "iso/isomd5.h"
#include "iso/rebuild_check.h"
#include "iso/rebuild_options.h"
#include "iso/xorriso.h"
#include "reorder/util/error.h"

#define FOUR_GIB ((guint64)1 << 32)

enum { CHUNK = 1 << 20 };

/* A name of a replaced file; a file with several names has several. */
typedef struct {
	const li_node *node; /* in the old tree */
	char *content;       /* absolute path of the new bytes */
	const li_replacement *replacement;
} mapping;

typedef struct {
	const li_write_job *job;
	li_tree *tree;
	li_tree *joliet; /* NULL without */
	li_boot_report *report;
	GArray *extents; /* of li_extent: of the replaced files in the old ISO */
	GPtrArray *mappings;
	gboolean large;    /* files of 4 GiB or more */
	guint64 size;      /* of the new ISO, about; more than less */
	gboolean enhanced; /* an ISO 9660:1999 tree */
	GPtrArray *argv;   /* of char *, owned */
} rebuild;

static void mapping_free(gpointer data)
{
	mapping *m = data;

	g_free(m->content);
	g_free(m);
}

static void rebuild_clear(rebuild *r)
{
	g_clear_pointer(&r->tree, li_tree_free);
	g_clear_pointer(&r->joliet, li_tree_free);
	g_clear_pointer(&r->report, li_boot_report_free);
	g_clear_pointer(&r->extents, g_array_unref);
	g_clear_pointer(&r->mappings, g_ptr_array_unref);
	g_clear_pointer(&r->argv, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rebuild, rebuild_clear)

/* --- the commands --- */

static void add_mapping(rebuild *r, const li_node *node, const li_replacement *replacement)
{
	mapping *m = g_new0(mapping, 1);

	m->node = node;
	m->content = g_canonicalize_filename(replacement->content, NULL);
	m->replacement = replacement;
	g_ptr_array_add(r->mappings, m);
	for (guint i = 0; !replacement->over && node->extents && i < node->extents->len; i++)
		g_array_append_val(r->extents, g_array_index(node->extents, li_extent, i));
}

/* Other names of a replaced file (the same extents) are replaced too. */
static gboolean take_replacement(rebuild *r, const li_replacement *replacement, GError **error)
{
	const li_node *node = li_tree_find(r->tree, replacement->file->path);
	struct stat st;

	if (!node || !S_ISREG(node->mode) || !li_node_start(node))
		return ro_fail(error, RO_ERROR_FAILED, "%s:%s: not found again on the ISO",
			r->job->iso->path, replacement->file->path);
	if (stat(replacement->content, &st))
		return ro_fail_errno(error, errno, "%s", replacement->content);
	r->size += (guint64)st.st_size;
	r->large |= (guint64)st.st_size >= FOUR_GIB - 1;
	if ((guint64)st.st_size >= FOUR_GIB - 1 && node->size < FOUR_GIB - 1)
		ro_warn("%s: 4 GiB or more now; some programs (FAT32 sticks, Windows) can't take such a file",
			node->path);
	for (guint i = 0; i < r->tree->nodes->len; i++) {
		const li_node *other = g_ptr_array_index(r->tree->nodes, i);

		if (S_ISREG(other->mode) && li_node_start(other) == li_node_start(node) &&
			other->size == node->size)
			add_mapping(r, other, replacement);
	}
	return TRUE;
}

static gboolean rebuild_open(rebuild *r, GError **error)
{
	const li_iso *iso = r->job->iso;
	guint64 enhanced_at;

	r->size = iso->volume.size;
	r->extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	r->mappings = g_ptr_array_new_with_free_func(mapping_free);
	r->argv = g_ptr_array_new_with_free_func(g_free);
	r->tree = li_tree_read(iso->fd, LI_VD_PRIMARY, iso->path, error);
	if (!r->tree)
		return FALSE;
	if (iso->volume.joliet &&
		!(r->joliet = li_tree_read(iso->fd, LI_VD_JOLIET, iso->path, error)))
		return FALSE;
	if (!li_vd_find(iso->fd, 0, LI_VD_ENHANCED, &enhanced_at, error))
		return FALSE;
	r->enhanced = enhanced_at != 0;
	r->report = li_boot_report_new(iso->path, error);
	for (guint i = 0; r->report && i < r->job->replacement_count; i++)
		if (!take_replacement(r, &r->job->replacements[i], error))
			return FALSE;
	for (guint i = 0; i < r->tree->nodes->len; i++)
		r->large |= ((const li_node *)g_ptr_array_index(r->tree->nodes, i))->size >=
			    FOUR_GIB - 1;
	return r->report != NULL;
}

static void add(rebuild *r, const char *word)
{
	g_ptr_array_add(r->argv, g_strdup(word));
}

static void add_words(rebuild *r, const char *first, ...) G_GNUC_NULL_TERMINATED;
static void add_words(rebuild *r, const char *first, ...)
{
	va_list words;

	va_start(words, first);
	for (const char *word = first; word; word = va_arg(words, const char *))
		add(r, word);
	va_end(words);
}

static void add_time(rebuild *r, const char *type, gint64 seconds, const char *path)
{
	g_autofree char *value = g_strdup_printf("=%" G_GINT64_FORMAT, seconds);

	if (seconds != LI_NO_TIME)
		add_words(r, "-alter_date", type, value, path, "--", NULL);
}

/* -map brings the attributes of the local file. The change time comes last: every other command
 * sets it. */
static void add_map(rebuild *r, const mapping *m)
{
	const li_node *node = m->node;
	g_autofree char *uid = g_strdup_printf("%u", node->uid);
	g_autofree char *gid = g_strdup_printf("%u", node->gid);
	g_autofree char *mode = g_strdup_printf("0%o", node->mode & 07777);

	add_words(r, "-map", m->content, node->path, NULL);
	add_words(r, "-chown", uid, node->path, "--", "-chgrp", gid, node->path, "--", NULL);
	add_words(r, "-chmod", mode, node->path, "--", NULL);
	add_time(r, "a-c", node->times[LI_TIME_ACCESS], node->path);
	add_time(r, "m-c", node->times[LI_TIME_MODIFY], node->path);
	add_time(r, "c", node->times[LI_TIME_ATTRIBUTES], node->path);
}

/* 16 digits, as -volume_date uuid takes them, or NULL. */
static char *uuid_digits(const li_volume *volume)
{
	GString *digits = g_string_new(NULL);

	for (const char *p = volume->volume_uuid ? volume->volume_uuid : ""; *p; p++)
		if (g_ascii_isdigit(*p))
			g_string_append_c(digits, *p);
	if (digits->len == 16 && strcmp(digits->str, "1970") > 0 && strcmp(digits->str, "3") < 0)
		return g_string_free(digits, FALSE);
	g_string_free(digits, TRUE);
	return NULL;
}

/* Dates that nothing else says come from the volume's, so that the same input gives the same bytes.
 */
static void add_dates(rebuild *r)
{
	g_autofree char *digits = uuid_digits(&r->job->iso->volume);

	if (!digits)
		return;
	add_words(r, "-volume_date", "uuid", digits, NULL);
	add_words(r, "-iso_nowtime", digits, NULL);
}

static void add_layout(rebuild *r)
{
	const li_volume *volume = &r->job->iso->volume;
	g_autofree char *rules = li_rebuild_compliance(r->tree, r->joliet, r->enhanced, r->large);
	guint64 padding =
		li_rebuild_padding(r->tree, r->report, r->extents, volume->size, volume->gpt);
	g_autofree char *bytes = g_strdup_printf("%" G_GUINT64_FORMAT, padding);

	add_words(r, "-compliance", rules, "-padding", bytes, "-padding", "included", NULL);
	if (r->joliet)
		add_words(r, "-joliet", "on", NULL);
	if (!r->report->lines->len)
		return;
	add_words(r, "-boot_image", "any", "replay", NULL);
	if (r->report->images->len) /* else a lone isolinux makes it write lower-case names */
		add_words(r, "-boot_image", "any", "next", NULL);
	if (r->report->cylinder_aligned &&
		r->size >= FOUR_GIB) /* what it replays ends at 4.27 GB */
		add_words(r, "-boot_image", "any", "partition_sec_hd=63", "-boot_image", "any",
			"partition_hd_cyl=255", NULL);
	if (volume->gpt_disk_guid) {
		g_autofree char *guid = g_strconcat("gpt_disk_guid=", volume->gpt_disk_guid, NULL);

		add_words(r, "-boot_image", "any", guid, NULL);
	}
}

static gboolean add_file_commands(rebuild *r, GError **error)
{
	g_autoptr(GString) commands = li_rebuild_order(r->tree, r->report->catalog);
	g_autofree char *path = g_build_filename(r->job->workdir, "xorriso-commands", NULL);
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	g_autoptr(GError) failure = NULL;

	if (r->joliet)
		li_rebuild_hide(commands, r->tree, r->joliet);
	if (!g_file_set_contents(absolute, commands->str, (gssize)commands->len, &failure))
		return ro_fail(error, RO_ERROR_FAILED, "%s", failure->message);
	add_words(r, "-options_from_file", absolute, NULL);
	return TRUE;
}

static gboolean build_commands(rebuild *r, GError **error)
{
	const char *charset = li_rebuild_charset(r->tree, r->joliet);
	g_autofree char *input = li_xorriso_address(r->job->iso->path);
	g_autofree char *output = li_xorriso_address(r->job->out_path);

	add_words(r, "-iso_rr_pattern", "off", "-disk_pattern", "off", NULL);
	add_words(r, "-backslash_codes", "in_double_quotes", NULL);
	add_words(r, "-stdio_sync", "off", NULL); /* whoever renames the file syncs it */
	add_words(r, "-local_charset", charset, "-charset", charset, NULL);
	add_words(r, "-indev", input, "-outdev", output, NULL);
	add_layout(r);
	add_dates(r);
	for (guint i = 0; i < r->mappings->len; i++) {
		const mapping *m = g_ptr_array_index(r->mappings, i);

		if (!m->replacement->over)
			add_map(r, m);
	}
	if (r->tree->relocations) /* it would be left over, empty and visible */
		add_words(r, "-rm_r", r->tree->relocations, "--", NULL);
	if (!add_file_commands(r, error))
		return FALSE;
	add(r, "-end");
	g_ptr_array_add(r->argv, NULL);
	return TRUE;
}

/* --- afterwards, in place --- */

static void add_changed(GHashTable *changed, const char *path)
{
	if (path)
		g_hash_table_add(changed, g_strdup(path));
}

/* Files whose content is another one now: what was replaced, and what has addresses in it. */
static GHashTable *changed_files(const rebuild *r)
{
	GHashTable *changed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < r->mappings->len; i++)
		add_changed(
			changed, ((const mapping *)g_ptr_array_index(r->mappings, i))->node->path);
	for (guint i = 0; i < r->report->images->len; i++) {
		const li_boot_report_image *image = g_ptr_array_index(r->report->images, i);

		if (image->info_table || image->grub2_info)
			add_changed(changed, image->path);
	}
	add_changed(changed, r->report->catalog);
	return changed;
}

static gboolean update_lists(rebuild *r, int out_fd, li_write_result *result, GError **error)
{
	g_autoptr(GHashTable) changed = changed_files(r);
	g_autoptr(li_overlay) out = li_overlay_new(out_fd, G_MAXINT64);
	g_autoptr(li_tree) tree = li_tree_read(out_fd, LI_VD_PRIMARY, r->job->out_path, error);

	return tree &&
	       li_sums_update(r->job->iso->fd, r->tree, out, tree, changed, result,
		       r->job->progress, error) &&
	       li_overlay_write(out, out_fd, "new ISO", error);
}

/*
 * mkisofs gives an empty file the address of the next one; where that is the boot catalogue,
 * libisofs makes it another name of that. Sets the size in the directory record to zero again
 * (ECMA-119 9.1.4).
 */
static gboolean restore_empty_files(
	int out_fd, const li_tree *before, const li_tree *after, GError **error)
{
	static const guint8 zero[8] = {0};

	for (guint i = 0; i < before->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(before->nodes, i);
		const li_node *now =
			node->size || !S_ISREG(node->mode) ? NULL : li_tree_find(after, node->path);

		if (!now || !now->size)
			continue;
		if (pwrite(out_fd, zero, sizeof(zero), (off_t)now->record + 10) !=
			(ssize_t)sizeof(zero))
			return ro_fail_errno(error, errno, "new ISO:%s: write", node->path);
	}
	return TRUE;
}

static gboolean restore_empty(rebuild *r, int out_fd, GError **error)
{
	const char *path = r->job->out_path;
	g_autoptr(li_tree) after = li_tree_read(out_fd, LI_VD_PRIMARY, path, error);
	g_autoptr(li_tree) joliet = NULL;

	if (!after || !restore_empty_files(out_fd, r->tree, after, error))
		return FALSE;
	if (!r->joliet)
		return TRUE;
	joliet = li_tree_read(out_fd, LI_VD_JOLIET, path, error);
	return joliet && restore_empty_files(out_fd, r->joliet, joliet, error);
}

/* Zeros behind the volume, as the input had them. An image whose size is rounded for its MBR has
 * its own. */
static gboolean restore_tail(const rebuild *r, int out_fd, GError **error)
{
	const li_iso *iso = r->job->iso;
	struct stat st;

	if (r->report->cylinder_aligned || iso->file_size <= iso->volume.size)
		return TRUE;
	if (fstat(out_fd, &st) ||
		ftruncate(out_fd, st.st_size + (off_t)(iso->file_size - iso->volume.size)))
		return ro_fail_errno(error, errno, "%s", r->job->out_path);
	return TRUE;
}

static gboolean copy_over(int out_fd, guint64 offset, const img_source *local, GError **error)
{
	g_autofree guint8 *buffer = g_malloc(CHUNK);

	for (guint64 at = 0; at < local->size; at += CHUNK) {
		gsize size = MIN(CHUNK, local->size - at);

		if (!img_source_read(local, at, buffer, size, error))
			return FALSE;
		if (pwrite(out_fd, buffer, size, (off_t)(offset + at)) != (ssize_t)size)
			return ro_fail_errno(error, errno, "new ISO: write");
	}
	return TRUE;
}

/* The local file's bytes over those of the new ISO's, which is as long. */
static gboolean write_over(int out_fd, const li_node *node, const char *content, GError **error)
{
	int fd = open(content, O_RDONLY | O_CLOEXEC);
	const img_source local = {.fd = fd, .size = node->size, .label = content};
	struct stat st;
	gboolean fine;

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", content);
	if (fstat(fd, &st) || (guint64)st.st_size != node->size || !li_node_start(node) ||
		node->extents->len != 1)
		fine = ro_fail(error, RO_ERROR_FAILED, "%s: not as long as %s on the new ISO",
			content, node->path);
	else
		fine = copy_over(out_fd, li_node_start(node), &local, error);
	close(fd);
	return fine;
}

/* What is known only now, and what xorriso must not touch. */
static gboolean settle(const rebuild *r, int out_fd, GError **error)
{
	g_autoptr(li_tree) tree = NULL;

	if (r->job->placed && !r->job->placed(r->job->user, error))
		return FALSE;
	tree = li_tree_read(out_fd, LI_VD_PRIMARY, r->job->out_path, error);
	for (guint i = 0; tree && i < r->mappings->len; i++) {
		const mapping *m = g_ptr_array_index(r->mappings, i);
		const li_node *node = li_tree_find(tree, m->node->path);

		if (!m->replacement->over && !m->replacement->late)
			continue;
		if (!node)
			return ro_fail(
				error, RO_ERROR_FAILED, "new ISO:%s: missing", m->node->path);
		if (!write_over(out_fd, node, m->content, error))
			return FALSE;
	}
	return tree != NULL;
}

static gboolean renew_isomd5(const rebuild *r, int out_fd, li_write_result *result, GError **error)
{
	g_autoptr(li_overlay) iso = li_overlay_new(out_fd, (guint64)lseek(out_fd, 0, SEEK_END));

	return li_isomd5_renew(r->job->iso, iso, result, error) &&
	       li_overlay_write(iso, out_fd, r->job->out_path, error);
}

static gboolean patch(rebuild *r, int out_fd, li_write_result *result, GError **error)
{
	const li_iso *iso = r->job->iso;
	gboolean suse = li_suse_digest_present(iso->fd);

	if (suse)
		ro_warn("the ISO's own checksum (checkmedia) is left out; run tagmedia on the new one");
	if (!li_identity_restore(iso->fd, out_fd, r->report->partition_offset, !suse, error) ||
		!restore_empty(r, out_fd, error) || !settle(r, out_fd, error) ||
		!update_lists(r, out_fd, result, error) || !restore_tail(r, out_fd, error))
		return FALSE;
	return renew_isomd5(r, out_fd, result, error);
}

static gboolean finish(rebuild *r, li_write_result *result, GError **error)
{
	int fd = open(r->job->out_path, O_RDWR | O_CLOEXEC);
	gboolean fine;

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", r->job->out_path);
	fine = patch(r, fd, result, error);
	if (close(fd) && fine)
		return ro_fail_errno(error, errno, "%s", r->job->out_path);
	return fine;
}

/* The caller made the file; anything in it would be a session to append to. */
static gboolean output_is_blank(const li_write_job *job, GError **error)
{
	struct stat st;

	if (stat(job->out_path, &st))
		return ro_fail_errno(error, errno, "%s", job->out_path);
	if (!S_ISREG(st.st_mode) || st.st_size)
		return ro_fail(error, RO_ERROR_FAILED, "%s: not an empty file", job->out_path);
	return TRUE;
}

static gboolean run_xorriso(rebuild *r, GError **error)
{
	const li_xorriso run = {.argv = (const char *const *)r->argv->pdata,
		.subject = r->job->out_path,
		.code = RO_ERROR_FAILED,
		.progress = r->job->progress};

	return li_xorriso_run(&run, error);
}

static gboolean rebuild_write(const li_write_job *job, li_write_result *result, GError **error)
{
	g_auto(rebuild) r = {.job = job};

	*result = (li_write_result){0};
	if (!output_is_blank(job, error) || !rebuild_open(&r, error))
		return FALSE;
	return build_commands(&r, error) && run_xorriso(&r, error) && finish(&r, result, error);
}

const li_writer li_writer_rebuild = {
	.name = "rebuild",
	.check = li_rebuild_check,
	.write = rebuild_write,
	.verify = li_verify_output,
};
