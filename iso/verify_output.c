/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/boot_report.h"
#include "iso/checksum_line.h"
#include "iso/gpt.h"
#include "iso/identity.h"
#include "iso/isomd5.h"
#include "iso/volume_tree.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum {
	CHUNK = 1 << 20,
	INFO_TABLE = 8, /* isolinux boot info table (mkisofs: isolinux.txt): PVD, file, length,
			   checksum, 40 reserved */
	INFO_TABLE_END = 64,
	GRUB2_INFO = 2548, /* 64 bits: address in 512-byte blocks, plus 5 */
	GRUB2_INFO_END = 2556,
	MAX_BOOT_IMAGE = 16 << 20,
	SYSTEM_AREA = 16 * LI_SECTOR,
};

typedef struct {
	const li_write_job *job;
	int old_fd, new_fd;
	li_tree *old_tree, *new_tree;
	li_boot_report *old_report, *new_report;
	GHashTable *replaced;              /* path → path of the content */
	GArray *old_extents, *new_extents; /* of the replaced files */
	guint64 done, total;
} verify;

static void verify_clear(verify *v)
{
	if (v->new_fd >= 0)
		close(v->new_fd);
	g_clear_pointer(&v->old_tree, li_tree_free);
	g_clear_pointer(&v->new_tree, li_tree_free);
	g_clear_pointer(&v->old_report, li_boot_report_free);
	g_clear_pointer(&v->new_report, li_boot_report_free);
	g_clear_pointer(&v->replaced, g_hash_table_unref);
	g_clear_pointer(&v->old_extents, g_array_unref);
	g_clear_pointer(&v->new_extents, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(verify, verify_clear)

static gboolean differs(GError **error, const char *path, const char *what)
{
	g_autofree char *text = g_strescape(path, "\"");

	return ro_fail(error, RO_ERROR_FAILED, "new ISO:%s: %s; please report this", text, what);
}

/* --- the trees --- */

static gboolean is_catalog(const verify *v, const char *path)
{
	return v->old_report->catalog && g_str_equal(v->old_report->catalog, path);
}

/* Times of the boot catalogue are the volume's, in xorriso's view. */
static gboolean same_times(const verify *v, const li_node *a, const li_node *b)
{
	if (is_catalog(v, a->path))
		return TRUE;
	for (guint i = LI_TIME_MODIFY; i < LI_TIME_COUNT; i++)
		if (a->times[i] != LI_NO_TIME && a->times[i] != b->times[i])
			return FALSE;
	return TRUE;
}

static gboolean same_node(const verify *v, const li_node *a, GError **error)
{
	const li_node *b = li_tree_find(v->new_tree, a->path);

	if (!b)
		return differs(error, a->path, "missing");
	if (a->mode != b->mode)
		return differs(error, a->path, "type or mode differs");
	if (a->uid != b->uid || a->gid != b->gid)
		return differs(error, a->path, "owner differs");
	if (!same_times(v, a, b))
		return differs(error, a->path, "a time differs");
	if (g_strcmp0(a->target, b->target) || a->rdev_high != b->rdev_high ||
		a->rdev_low != b->rdev_low)
		return differs(error, a->path, "symlink or device differs");
	if (a->record_flags != b->record_flags)
		return differs(error, a->path, "hidden flag differs");
	if (a->size != b->size && !g_hash_table_contains(v->replaced, a->path))
		return differs(error, a->path, "size differs");
	return TRUE;
}

static gboolean nothing_new(const li_tree *old_tree, const li_tree *new_tree, GError **error)
{
	for (guint i = 0; i < new_tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(new_tree->nodes, i);

		if (!li_tree_find(old_tree, node->path))
			return differs(error, node->path, "was not on the old one");
	}
	return TRUE;
}

static gboolean same_trees(verify *v, GError **error)
{
	for (guint i = 0; i < v->old_tree->nodes->len; i++)
		if (!same_node(v, g_ptr_array_index(v->old_tree->nodes, i), error))
			return FALSE;
	return nothing_new(v->old_tree, v->new_tree, error);
}

/* The names that are used without Rock Ridge; hardly anyone does. */
static void compare_plain_names(const verify *v)
{
	guint count = 0;
	const char *example = NULL;

	for (guint i = 0; i < v->old_tree->nodes->len; i++) {
		const li_node *a = g_ptr_array_index(v->old_tree->nodes, i);
		const li_node *b = li_tree_find(v->new_tree, a->path);

		if (!b || g_str_equal(a->record_name, b->record_name))
			continue;
		example = example ? example : a->path;
		count++;
	}
	if (count)
		ro_progress_note(
			v->job->progress, "%u plain ISO 9660 names differ (%s)", count, example);
}

static gboolean same_joliet(const verify *v, GError **error)
{
	const char *path = v->job->iso->path;
	g_autoptr(li_tree) a = NULL, b = NULL;
	guint64 new_at;

	if (!li_vd_find(v->new_fd, 0, LI_VD_JOLIET, &new_at, error))
		return FALSE;
	if (!new_at != !v->job->iso->volume.joliet)
		return ro_fail(error, RO_ERROR_FAILED, "new ISO: Joliet %s; please report this",
			new_at ? "was added" : "is lost");
	if (!new_at)
		return TRUE;
	a = li_tree_read(v->old_fd, LI_VD_JOLIET, path, error);
	b = a ? li_tree_read(v->new_fd, LI_VD_JOLIET, v->job->out_path, error) : NULL;
	for (guint i = 0; b && i < a->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(a->nodes, i);

		if (!li_tree_find(b, node->path))
			return differs(error, node->path, "its Joliet name is lost");
	}
	return b && nothing_new(a, b, error);
}

static int by_start(gconstpointer a, gconstpointer b)
{
	guint64 x = li_node_start(*(li_node *const *)a), y = li_node_start(*(li_node *const *)b);

	return x < y ? -1 : x > y;
}

/* Order on the medium is what all this is about; but a wrong one breaks nothing. */
static void compare_order(const verify *v)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new();
	guint64 last = 0;

	for (guint i = 0; i < v->old_tree->nodes->len; i++) {
		li_node *node = g_ptr_array_index(v->old_tree->nodes, i);

		if (S_ISREG(node->mode) && li_node_start(node) && !is_catalog(v, node->path))
			g_ptr_array_add(files, node);
	}
	g_ptr_array_sort(files, by_start);
	for (guint i = 0; i < files->len; i++) {
		const li_node *node = g_ptr_array_index(files, i);
		guint64 start = li_node_start(li_tree_find(v->new_tree, node->path));

		if (start < last) {
			ro_warn("%s: lies elsewhere among the files of the new ISO", node->path);
			return;
		}
		last = start;
	}
}

/* A live system may mount a file by its position: it has to be in one piece. */
static gboolean in_one_piece(const verify *v, const char *path, GError **error)
{
	const li_node *node = li_tree_find(v->new_tree, path);

	for (guint i = 1; node->extents && i < node->extents->len; i++) {
		const li_extent *before = &g_array_index(node->extents, li_extent, i - 1);
		guint64 end =
			before->offset + (before->length + LI_SECTOR - 1) / LI_SECTOR * LI_SECTOR;

		if (g_array_index(node->extents, li_extent, i).offset != end)
			return differs(error, path, "lies in several pieces");
	}
	return TRUE;
}

/* --- the contents --- */

/* Bytes of a file that may differ. */
typedef struct {
	guint64 start, end;
} hole;

static void blank(guint8 *buffer, guint64 position, gsize size, const hole *h)
{
	guint64 from = MAX(h->start, position), to = MIN(h->end, position + size);

	if (from < to)
		memset(buffer + (from - position), 0, to - from);
}

static gboolean content_differs(GError **error, const char *path)
{
	return differs(error, path, "content differs");
}

static gboolean same_bytes(verify *v, const li_node *a, const li_node *b, const hole *holes,
	guint hole_count, GError **error)
{
	g_autofree guint8 *x = g_malloc(CHUNK), *y = g_malloc(CHUNK);

	for (guint64 at = 0; at < a->size; at += CHUNK) {
		gsize size = MIN(CHUNK, a->size - at);

		if (ro_interrupted(error) || !li_node_read(v->old_fd, a, at, x, size, error) ||
			!li_node_read(v->new_fd, b, at, y, size, error))
			return FALSE;
		for (guint i = 0; i < hole_count; i++) {
			blank(x, at, size, &holes[i]);
			blank(y, at, size, &holes[i]);
		}
		if (memcmp(x, y, size))
			return content_differs(error, a->path);
		v->done += size;
		ro_progress_update(v->job->progress, (double)v->done, (double)v->total, a->path);
	}
	return TRUE;
}

/* The replaced file against the local one. */
static gboolean same_as_local(verify *v, const li_node *b, const char *content, GError **error)
{
	g_autofree guint8 *x = g_malloc(CHUNK), *y = g_malloc(CHUNK);
	int fd = open(content, O_RDONLY | O_CLOEXEC);
	const img_source local = {.fd = fd, .size = b->size, .label = content};
	struct stat st;
	gboolean fine = TRUE;

	if (fd < 0 || fstat(fd, &st)) {
		ro_fail_errno(error, errno, "%s", content);
		fine = FALSE;
	} else if ((guint64)st.st_size != b->size) {
		fine = differs(error, b->path, "not as long as the file it was made from");
	}
	for (guint64 at = 0; fine && at < b->size; at += CHUNK) {
		gsize size = MIN(CHUNK, b->size - at);

		fine = !ro_interrupted(error) && img_source_read(&local, at, x, size, error) &&
		       li_node_read(v->new_fd, b, at, y, size, error) &&
		       (!memcmp(x, y, size) || content_differs(error, b->path));
		v->done += size;
		ro_progress_update(v->job->progress, (double)v->done, (double)v->total, b->path);
	}
	if (fd >= 0)
		close(fd);
	return fine;
}

static const li_boot_report_image *image_of(const li_boot_report *report, const char *path)
{
	for (guint i = 0; i < report->images->len; i++) {
		const li_boot_report_image *image = g_ptr_array_index(report->images, i);

		if (image->path && g_str_equal(image->path, path))
			return image;
	}
	return NULL;
}

static gboolean same_content(verify *v, const li_node *a, GError **error)
{
	const li_node *b = li_tree_find(v->new_tree, a->path);
	const char *content = g_hash_table_lookup(v->replaced, a->path);
	const li_boot_report_image *image = image_of(v->old_report, a->path);
	hole holes[2];
	guint count = 0;

	if (content)
		return in_one_piece(v, a->path, error) && same_as_local(v, b, content, error);
	if (is_catalog(v, a->path) || li_sums_is_list(a->path)) /* addresses; digests */
		return TRUE;
	if (image && image->info_table)
		holes[count++] = (hole){INFO_TABLE, INFO_TABLE_END};
	if (image && image->grub2_info)
		holes[count++] = (hole){GRUB2_INFO, GRUB2_INFO_END};
	return same_bytes(v, a, b, holes, count, error);
}

static gboolean same_contents(verify *v, GError **error)
{
	for (guint i = 0; i < v->old_tree->nodes->len; i++)
		v->total += ((const li_node *)g_ptr_array_index(v->old_tree->nodes, i))->size;
	for (guint i = 0; i < v->old_tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(v->old_tree->nodes, i);

		if (S_ISREG(node->mode) && !same_content(v, node, error))
			return FALSE;
	}
	return TRUE;
}

/* --- the boot equipment --- */

static guint32 info_table_checksum(const guint8 *data, gsize size)
{
	guint32 sum = 0;

	for (gsize at = INFO_TABLE_END; at < size; at += 4) {
		guint8 word[4] = {0};

		memcpy(word, data + at, MIN(4, size - at));
		sum += img_le32(word);
	}
	return sum;
}

/* isolinux stops with "Image checksum error" if its table is wrong. */
static gboolean info_table_right(const guint8 *data, gsize size, guint64 start)
{
	return img_le32(data + 12) == start / LI_SECTOR && img_le32(data + 16) == size &&
	       img_le32(data + 20) == info_table_checksum(data, size);
}

static gboolean tables_right(const verify *v, const li_boot_report_image *image, GError **error)
{
	const li_node *node = image->path ? li_tree_find(v->new_tree, image->path) : NULL;
	g_autofree guint8 *data = NULL;

	if (!node || !(image->info_table || image->grub2_info))
		return TRUE;
	if (node->size < (image->grub2_info ? GRUB2_INFO_END : INFO_TABLE_END) ||
		node->size > MAX_BOOT_IMAGE)
		return differs(error, node->path, "not the size of a boot image");
	data = g_malloc(node->size);
	if (!li_node_read(v->new_fd, node, 0, data, node->size, error))
		return FALSE;
	if (image->info_table && !info_table_right(data, node->size, li_node_start(node)))
		return differs(error, node->path, "its boot info table is wrong");
	if (image->grub2_info && img_le64(data + GRUB2_INFO) != li_node_start(node) / 512 + 5)
		return differs(error, node->path, "its GRUB address is wrong");
	return TRUE;
}

static gboolean same_range(const verify *v, guint64 old_offset, guint64 new_offset, guint64 size,
	const char *name, GError **error)
{
	g_autofree guint8 *x = g_malloc(CHUNK), *y = g_malloc(CHUNK);
	const img_source a = {.fd = v->old_fd, .offset = old_offset, .size = size, .label = name};
	const img_source b = {.fd = v->new_fd, .offset = new_offset, .size = size, .label = name};

	for (guint64 at = 0; at < size; at += CHUNK) {
		gsize part = MIN(CHUNK, size - at);

		if (ro_interrupted(error) || !img_source_read(&a, at, x, part, error) ||
			!img_source_read(&b, at, y, part, error))
			return FALSE;
		if (memcmp(x, y, part))
			return ro_fail(error, RO_ERROR_FAILED,
				"new ISO: %s differs; please report this", name);
	}
	return TRUE;
}

static gboolean has_table(const verify *v, guint64 offset)
{
	for (guint i = 0; i < v->old_report->images->len; i++) {
		const li_boot_report_image *image = g_ptr_array_index(v->old_report->images, i);

		if (image->offset == offset && (image->info_table || image->grub2_info))
			return TRUE;
	}
	return FALSE;
}

/* Partitions that are things of their own: an ESP, a Mac's boot image. */
static gboolean same_partitions(const verify *v, GError **error)
{
	const GArray *olds = v->old_report->partitions, *news = v->new_report->partitions;

	for (guint i = 0, k = 0; i < olds->len; i++) {
		const li_boot_report_partition *a = &g_array_index(
						       olds, li_boot_report_partition, i),
					       *b;
		g_autofree char *name = g_strdup_printf("partition %u", a->number);

		if (a->gap)
			continue;
		while (k < news->len && g_array_index(news, li_boot_report_partition, k).gap)
			k++;
		if (k >= news->len)
			return ro_fail(error, RO_ERROR_FAILED,
				"new ISO: %s is missing; please report this", name);
		b = &g_array_index(news, li_boot_report_partition, k++);
		if (li_boot_report_holds(a, v->old_extents) || a->offset < SYSTEM_AREA ||
			has_table(v, a->offset))
			continue;
		if (!same_range(v, a->offset, b->offset, a->size, name, error))
			return FALSE;
	}
	return TRUE;
}

/* Boot images that are no files. */
static gboolean same_hidden_images(const verify *v, GError **error)
{
	for (guint i = 0; i < v->old_report->images->len; i++) {
		const li_boot_report_image *a = g_ptr_array_index(v->old_report->images, i);
		const li_boot_report_image *b = g_ptr_array_index(v->new_report->images, i);
		g_autofree char *name = g_strdup_printf("boot image %u", a->number);

		if (!a->path && !same_range(v, a->offset, b->offset, a->size, name, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean same_boot(const verify *v, GError **error)
{
	if (!li_boot_report_same(
		    v->old_report, v->old_extents, v->new_report, v->new_extents, error))
		return FALSE;
	for (guint i = 0; i < v->new_report->images->len; i++)
		if (!tables_right(v, g_ptr_array_index(v->new_report->images, i), error))
			return FALSE;
	return same_hidden_images(v, error) && same_partitions(v, error);
}

/* Firmware and partitioning programs want the backup at the very end. What was off before may be.
 */
static gboolean gpt_right(const verify *v, GError **error)
{
	g_auto(li_gpt) a = {0}, b = {0}, a_backup = {0}, b_backup = {0};
	struct stat st;

	if (!li_gpt_read(v->old_fd, LI_GPT_BLOCK, &a))
		return TRUE;
	if (!li_gpt_read(v->new_fd, LI_GPT_BLOCK, &b))
		return ro_fail(
			error, RO_ERROR_FAILED, "new ISO: its GPT is damaged; please report this");
	if (li_gpt_read(v->old_fd, a.backup, &a_backup) &&
		!li_gpt_read(v->new_fd, b.backup, &b_backup))
		return ro_fail(error, RO_ERROR_FAILED,
			"new ISO: the backup of its GPT is damaged; please report this");
	if (fstat(v->new_fd, &st))
		return ro_fail_errno(error, errno, "%s", v->job->out_path);
	if (a.backup + LI_GPT_BLOCK == v->job->iso->file_size &&
		b.backup + LI_GPT_BLOCK != (guint64)st.st_size)
		return ro_fail(error, RO_ERROR_FAILED,
			"new ISO: the backup of its GPT is not at its end; please report this");
	return TRUE;
}

/* --- identity --- */

static gboolean same_identity(const verify *v, GError **error)
{
	gboolean implanted = v->job->iso->volume.isomd5;
	guint8 old_field[LI_APPLICATION_USE_SIZE], new_field[LI_APPLICATION_USE_SIZE];
	const off_t at = 16 * LI_SECTOR + LI_APPLICATION_USE;
	li_isomd5 a, b;

	if (!li_identity_same(v->old_fd, v->new_fd, v->old_report->partition_offset, FALSE, error))
		return FALSE;
	if (!implanted)
		return TRUE;
	if (pread(v->old_fd, old_field, sizeof(old_field), at) != (ssize_t)sizeof(old_field) ||
		pread(v->new_fd, new_field, sizeof(new_field), at) != (ssize_t)sizeof(new_field))
		return ro_fail_errno(error, errno, "%s", v->job->out_path);
	li_isomd5_parse(old_field, &a);
	li_isomd5_parse(new_field, &b);
	if (a.present != b.present || a.supported != b.supported)
		return ro_fail(error, RO_ERROR_FAILED,
			"new ISO: its own checksum (isomd5) is lost; please report this");
	return TRUE;
}

/* --- all of it --- */

static void note_replaced(verify *v, const li_replacement *replacement)
{
	const li_node *file = li_tree_find(v->old_tree, replacement->file->path);

	for (guint i = 0; file && i < v->old_tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(v->old_tree->nodes, i);
		const li_node *now = li_tree_find(v->new_tree, node->path);

		if (!S_ISREG(node->mode) || li_node_start(node) != li_node_start(file) ||
			node->size != file->size)
			continue;
		g_hash_table_insert(v->replaced, node->path, (gpointer)replacement->content);
		g_array_append_vals(v->old_extents, node->extents->data, node->extents->len);
		if (now && now->extents)
			g_array_append_vals(v->new_extents, now->extents->data, now->extents->len);
	}
}

static gboolean verify_open(verify *v, GError **error)
{
	const li_write_job *job = v->job;

	v->replaced = g_hash_table_new(g_str_hash, g_str_equal);
	v->old_extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	v->new_extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	v->new_fd = open(job->out_path, O_RDONLY | O_CLOEXEC);
	if (v->new_fd < 0)
		return ro_fail_errno(error, errno, "%s", job->out_path);
	v->old_tree = li_tree_read(v->old_fd, LI_VD_PRIMARY, job->iso->path, error);
	v->new_tree =
		v->old_tree ? li_tree_read(v->new_fd, LI_VD_PRIMARY, job->out_path, error) : NULL;
	v->old_report = v->new_tree ? li_boot_report_new(job->iso->path, error) : NULL;
	v->new_report = v->old_report ? li_boot_report_new(job->out_path, error) : NULL;
	for (guint i = 0; v->new_report && i < job->replacement_count; i++)
		note_replaced(v, &job->replacements[i]);
	return v->new_report != NULL;
}

gboolean li_verify_output(const li_write_job *job, GError **error)
{
	g_auto(verify) v = {.job = job, .old_fd = job->iso->fd, .new_fd = -1};

	if (!verify_open(&v, error) || !same_trees(&v, error) || !same_joliet(&v, error) ||
		!same_identity(&v, error) || !same_boot(&v, error) || !gpt_right(&v, error))
		return FALSE;
	compare_plain_names(&v);
	compare_order(&v);
	return same_contents(&v, error);
}
