/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/ext4/relocate.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "reorder/ext4/placement.h"
#include "reorder/image/ext4.h"
#include "reorder/image/ext4_block_map.h"
#include "reorder/image/ext4_survey.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { CHUNK = 1 << 20 };

typedef struct {
	const ro_ext4_job *job;
	img_ext4 *old, *new;
	img_ext4_survey *survey;
	guint32 *new_of;
	guint8 *target;   /* for every block: whether something moves there */
	GHashTable *done; /* attribute blocks, by their old numbers, that are rewritten */
	guint8 *buffer;   /* CHUNK bytes */
	int fd;
} relocation;

static void relocation_clear(relocation *r)
{
	img_ext4_free(r->new);
	img_ext4_free(r->old);
	img_ext4_survey_free(r->survey);
	g_free(r->new_of);
	g_free(r->target);
	g_clear_pointer(&r->done, g_hash_table_unref);
	g_free(r->buffer);
	if (r->fd >= 0)
		close(r->fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(relocation, relocation_clear)

GArray *ro_ext4_wanted(const img_tree *tree, const ro_plan *plan)
{
	const GArray *groups[] = {plan->dirs, plan->symlinks, plan->files};
	GArray *wanted = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (gsize g = 0; g < G_N_ELEMENTS(groups); g++)
		for (guint i = 0; i < groups[g]->len; i++) {
			const ro_plan_item *item = &g_array_index(groups[g], ro_plan_item, i);

			g_array_append_val(wanted, img_tree_inode(tree, item->inode)->number);
		}
	return wanted;
}

/* ---- the blocks ---- */

static gboolean all_zero(const guint8 *data, gsize size)
{
	return data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
}

static gboolean put_bytes(
	const relocation *r, const guint8 *data, gsize size, guint64 position, GError **error)
{
	while (size > 0) {
		ssize_t put = pwrite(r->fd, data, size, (off_t)position);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return ro_fail_errno(error, errno, "%s: write", r->job->out_path);
		data += put;
		position += (guint64)put;
		size -= (gsize)put;
	}
	return TRUE;
}

/* Blocks of zeros become holes. */
static gboolean put_sparse(
	const relocation *r, const guint8 *data, gsize size, guint64 position, GError **error)
{
	gsize step = r->old->fs->blocksize;

	for (gsize start = 0, end; start < size; start = end) {
		gboolean zero = all_zero(data + start, MIN(step, size - start));

		for (end = start + step; end < size; end += step)
			if (all_zero(data + end, MIN(step, size - end)) != zero)
				break;
		end = MIN(end, size);
		if (!zero && !put_bytes(r, data + start, end - start, position + start, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean copy_bytes(relocation *r, guint64 from, guint64 to, guint64 size, GError **error)
{
	while (size > 0) {
		gsize step = (gsize)MIN(size, CHUNK);

		if (ro_interrupted(error) ||
			!img_source_read(r->job->source, from, r->buffer, step, error) ||
			!put_sparse(r, r->buffer, step, to, error))
			return FALSE;
		from += step;
		to += step;
		size -= step;
	}
	return TRUE;
}

/* Where the content of a block goes; 0: nowhere, it is free. */
static guint32 destination(const relocation *r, guint32 block)
{
	if (r->new_of[block])
		return r->new_of[block];
	return ext2fs_test_block_bitmap2(r->old->fs->block_map, block) ? block : 0;
}

static gboolean copy_blocks(relocation *r, GError **error)
{
	guint64 size = r->old->fs->blocksize;
	guint32 first = r->old->fs->super->s_first_data_block;

	/* Block 0 goes along with what is in front of it. */
	for (guint32 block = MAX(first, 1), run; block < r->old->blocks; block += run) {
		guint32 to = destination(r, block);

		for (run = 1; block + run < r->old->blocks; run++)
			if (destination(r, block + run) != (to ? to + run : 0))
				break;
		if (to && !copy_bytes(r, block * size, to * size, run * size, error))
			return FALSE;
		ro_progress_update(r->job->progress, block, r->old->blocks, NULL);
	}
	return TRUE;
}

static gboolean copy_ends(relocation *r, GError **error)
{
	guint64 end = (guint64)r->old->blocks * r->old->fs->blocksize;

	return copy_bytes(r, 0, 0, MAX(r->old->fs->blocksize, 2 * IMG_EXT4_SUPER_SIZE), error) &&
	       copy_bytes(r, end, end, r->job->source->size - end, error);
}

static gboolean copy_image(relocation *r, GError **error)
{
	r->fd = g_open(r->job->out_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (r->fd < 0)
		return ro_fail_errno(error, errno, "%s", r->job->out_path);
	if (ftruncate(r->fd, (off_t)r->job->source->size) < 0)
		return ro_fail_errno(error, errno, "%s", r->job->out_path);
	return copy_ends(r, error) && copy_blocks(r, error);
}

/* ---- what points to them ---- */

/* The checksum of attributes covers the number of their block. */
static gboolean move_xattrs(relocation *r, const img_ext4_owner *owner, GError **error)
{
	gpointer key = GUINT_TO_POINTER(owner->xattr_block);
	errcode_t code;

	if (!g_hash_table_add(r->done, key))
		return TRUE;
	code = ext2fs_read_ext_attr3(r->old->fs, owner->xattr_block, r->buffer, owner->ino);
	if (!code)
		code = ext2fs_write_ext_attr3(
			r->new->fs, r->new_of[owner->xattr_block], r->buffer, owner->ino);
	return !code || img_ext4_fail(r->new, code, error, "attributes of inode %u", owner->ino);
}

static gboolean move_inode(relocation *r, const img_ext4_owner *owner,
	struct ext2_inode_large *inode, int size, GError **error)
{
	errcode_t code = ext2fs_read_inode_full(r->old->fs, owner->ino, EXT2_INODE(inode), size);

	if (code)
		return img_ext4_fail(r->old, code, error, "inode %u", owner->ino);
	if (owner->blocks &&
		!img_ext4_move_map(r->old, owner->ino, inode, r->new_of, r->new, error))
		return FALSE;
	if (owner->xattr_block) {
		if (!move_xattrs(r, owner, error))
			return FALSE;
		ext2fs_file_acl_block_set(
			r->new->fs, EXT2_INODE(inode), r->new_of[owner->xattr_block]);
	}
	code = ext2fs_write_inode_full(r->new->fs, owner->ino, EXT2_INODE(inode), size);
	return !code || img_ext4_fail(r->new, code, error, "inode %u", owner->ino);
}

static gboolean move_inodes(relocation *r, GError **error)
{
	int size = EXT2_INODE_SIZE(r->old->fs->super);
	g_autofree struct ext2_inode_large *inode =
		g_malloc0(MAX((gsize)size, sizeof(struct ext2_inode_large)));
	const GArray *owners = r->survey->owners;

	for (guint i = 0; i < owners->len; i++)
		if (ro_interrupted(error) ||
			!move_inode(
				r, &g_array_index(owners, img_ext4_owner, i), inode, size, error))
			return FALSE;
	return TRUE;
}

/* Bitmaps and the counts of the groups; those of the whole stay as they were. */
static void move_counts(relocation *r)
{
	for (guint32 block = 0; block < r->old->blocks; block++)
		if (r->new_of[block])
			r->target[r->new_of[block]] = TRUE;
	for (guint32 block = 0; block < r->old->blocks; block++) {
		int change = (int)r->target[block] - (r->new_of[block] != 0);

		if (change)
			ext2fs_block_alloc_stats2(r->new->fs, block, change);
	}
}

static gboolean write_metadata(relocation *r, GError **error)
{
	r->new = img_ext4_open_output(r->job->out_path, r->fd, r->job->source->size, error);
	if (!r->new || !move_inodes(r, error))
		return FALSE;
	move_counts(r);
	if (ext2fs_free_blocks_count(r->new->fs->super) !=
		ext2fs_free_blocks_count(r->old->fs->super))
		return ro_fail(error, RO_ERROR_FAILED, "%s: free blocks were gained or lost",
			r->job->out_path);
	return img_ext4_close(r->new, error);
}

/* libext2fs stamps what it closes with the time of day. */
static gboolean restore_super(relocation *r, GError **error)
{
	guint8 super[IMG_EXT4_SUPER_SIZE];

	return img_source_read(
		       r->job->source, IMG_EXT4_SUPER_OFFSET, super, sizeof(super), error) &&
	       put_bytes(r, super, sizeof(super), IMG_EXT4_SUPER_OFFSET, error);
}

static gboolean relocate(relocation *r, GError **error)
{
	const ro_ext4_job *job = r->job;

	r->old = img_ext4_open(job->source, error);
	if (!r->old)
		return FALSE;
	r->survey = img_ext4_survey_new(r->old, error);
	if (!r->survey)
		return FALSE;
	r->new_of = ro_ext4_place(r->old, r->survey, job->layout, job->wanted, job->count, error);
	if (!r->new_of)
		return FALSE;
	r->target = g_new0(guint8, r->old->blocks);
	r->done = g_hash_table_new(NULL, NULL);
	r->buffer = g_malloc(CHUNK);
	return copy_image(r, error) && write_metadata(r, error) && restore_super(r, error);
}

gboolean ro_ext4_relocate(const ro_ext4_job *job, GError **error)
{
	g_auto(relocation) r = {.job = job, .fd = -1};

	ro_progress_begin(job->progress, "relocate");
	if (!relocate(&r, error)) {
		if (r.fd >= 0)
			g_unlink(job->out_path);
		return FALSE;
	}
	ro_progress_end(job->progress, NULL);
	return TRUE;
}
