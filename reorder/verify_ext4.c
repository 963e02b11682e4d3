/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/verify_ext4.h"

#include <string.h>

#include "reorder/image/ext4.h"
#include "reorder/image/ext4_block_map.h"
#include "reorder/image/ext4_survey.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { CHUNK = 1 << 20 };

/* One of the two filesystems. */
typedef struct {
	img_ext4 *image;
	img_ext4_survey *survey;
	struct ext2_inode_large *inode;
	GArray *extents; /* of img_ext4_extent: those of the inode at hand */
	guint8 *buffer;  /* CHUNK bytes */
} side;

typedef struct {
	side old, new;
	int inode_size;
	ro_progress *progress;
	guint64 bytes;
	guint32 inodes;
} comparison;

static void side_clear(side *s)
{
	img_ext4_survey_free(s->survey);
	img_ext4_free(s->image);
	g_free(s->inode);
	g_clear_pointer(&s->extents, g_array_unref);
	g_free(s->buffer);
}

static void comparison_clear(comparison *c)
{
	side_clear(&c->old);
	side_clear(&c->new);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(comparison, comparison_clear)

static gboolean side_open(side *s, const img_source *source, GError **error)
{
	s->image = img_ext4_open(source, error);
	if (!s->image)
		return FALSE;
	s->survey = img_ext4_survey_new(s->image, error);
	s->inode = g_malloc0(
		MAX((gsize)EXT2_INODE_SIZE(s->image->fs->super), sizeof(struct ext2_inode_large)));
	s->extents = g_array_new(FALSE, FALSE, sizeof(img_ext4_extent));
	s->buffer = g_malloc(CHUNK);
	return s->survey != NULL;
}

static gboolean differs(const comparison *c, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

static gboolean differs(const comparison *c, GError **error, const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	return ro_fail(error, RO_ERROR_FAILED, "%s: %s", c->new.image->label, what);
}

/* *equal: whether so many bytes are the same in both. */
static gboolean compare_bytes(
	comparison *c, guint64 old, guint64 new, guint64 size, gboolean *equal, GError **error)
{
	*equal = TRUE;
	while (size > 0 && *equal) {
		gsize step = (gsize)MIN(size, CHUNK);

		if (ro_interrupted(error) ||
			!img_source_read(&c->old.image->source, old, c->old.buffer, step, error) ||
			!img_source_read(&c->new.image->source, new, c->new.buffer, step, error))
			return FALSE;
		*equal = memcmp(c->old.buffer, c->new.buffer, step) == 0;
		old += step;
		new += step;
		size -= step;
	}
	return TRUE;
}

/* ---- the whole ---- */

static gboolean compare_size(const comparison *c, GError **error)
{
	guint64 old = c->old.image->source.size, new = c->new.image->source.size;

	if (old == new)
		return TRUE;
	return differs(c, error,
		"size differs: %" G_GUINT64_FORMAT " before, %" G_GUINT64_FORMAT " after", old,
		new);
}

/* What is in front of the filesystem, its superblock, and what is behind it. */
static gboolean compare_ends(comparison *c, GError **error)
{
	guint64 end = (guint64)c->old.image->blocks * c->old.image->fs->blocksize;
	gboolean equal;

	if (!compare_bytes(c, 0, 0, IMG_EXT4_SUPER_OFFSET + IMG_EXT4_SUPER_SIZE, &equal, error))
		return FALSE;
	if (!equal)
		return differs(c, error, "superblock differs");
	if (!compare_bytes(c, end, end, c->old.image->source.size - end, &equal, error))
		return FALSE;
	return equal || differs(c, error, "data behind the filesystem differs");
}

static gboolean same_group(ext2_filsys old, ext2_filsys new, dgrp_t group)
{
	return ext2fs_block_bitmap_loc(old, group) == ext2fs_block_bitmap_loc(new, group) &&
	       ext2fs_inode_bitmap_loc(old, group) == ext2fs_inode_bitmap_loc(new, group) &&
	       ext2fs_inode_table_loc(old, group) == ext2fs_inode_table_loc(new, group) &&
	       ext2fs_bg_free_inodes_count(old, group) == ext2fs_bg_free_inodes_count(new, group) &&
	       ext2fs_bg_used_dirs_count(old, group) == ext2fs_bg_used_dirs_count(new, group) &&
	       ext2fs_bg_itable_unused(old, group) == ext2fs_bg_itable_unused(new, group);
}

static gboolean compare_groups(const comparison *c, GError **error)
{
	ext2_filsys old = c->old.image->fs, new = c->new.image->fs;
	guint64 old_free = 0, new_free = 0;

	for (dgrp_t group = 0; group < old->group_desc_count; group++) {
		if (!same_group(old, new, group))
			return differs(c, error, "descriptor of group %u differs", group);
		old_free += ext2fs_bg_free_blocks_count(old, group);
		new_free += ext2fs_bg_free_blocks_count(new, group);
	}
	if (old_free != new_free)
		return differs(c, error,
			"number of free blocks differs: %" G_GUINT64_FORMAT
			" before, %" G_GUINT64_FORMAT " after",
			old_free, new_free);
	if (ext2fs_compare_inode_bitmap(old->inode_map, new->inode_map) != 0)
		return differs(c, error, "inode bitmap differs");
	return TRUE;
}

/* In use, and not there to be moved. */
static gboolean stays(const side *s, guint32 block)
{
	return !s->survey->movable[block] &&
	       ext2fs_test_block_bitmap2(s->image->fs->block_map, block);
}

static gboolean compare_fixed(comparison *c, GError **error)
{
	guint64 size = c->old.image->fs->blocksize;

	if (c->old.survey->moving != c->new.survey->moving)
		return differs(c, error, "number of used blocks differs: %u before, %u after",
			c->old.survey->moving, c->new.survey->moving);
	for (guint32 block = MAX(c->old.image->fs->super->s_first_data_block, 1);
		block < c->old.image->blocks; block++) {
		gboolean equal = TRUE;

		if (stays(&c->old, block) != stays(&c->new, block))
			return differs(c, error, "block %u is used differently", block);
		/* Tables are compared by what is in them. */
		if (!stays(&c->old, block) || ext2fs_test_block_bitmap2(c->old.image->fixed, block))
			continue;
		if (!compare_bytes(c, block * size, block * size, size, &equal, error))
			return FALSE;
		if (!equal)
			return differs(c, error, "block %u differs, which had to stay", block);
	}
	return TRUE;
}

/* ---- inodes ---- */

static gboolean read_inode(side *s, ext2_ino_t ino, int size, GError **error)
{
	errcode_t code = ext2fs_read_inode_full(s->image->fs, ino, EXT2_INODE(s->inode), size);

	return !code || img_ext4_fail(s->image, code, error, "inode %u", ino);
}

/* Blanks what may differ: block numbers and checksums. */
static void blank(struct ext2_inode_large *inode, gboolean with_map, int size)
{
	if (with_map)
		memset(inode->i_block, 0, sizeof(inode->i_block));
	inode->i_file_acl = 0;
	inode->osd2.linux2.l_i_file_acl_high = 0;
	inode->osd2.linux2.l_i_checksum_lo = 0;
	if (size > EXT2_GOOD_OLD_INODE_SIZE && inode->i_extra_isize >= 4)
		inode->i_checksum_hi = 0;
}

static gboolean compare_fields(comparison *c, ext2_ino_t ino, gboolean with_map, GError **error)
{
	blank(c->old.inode, with_map, c->inode_size);
	blank(c->new.inode, with_map, c->inode_size);
	if (memcmp(c->old.inode, c->new.inode, (gsize)c->inode_size) == 0)
		return TRUE;
	return differs(c, error, "inode %u differs", ino);
}

static gboolean compare_xattrs(
	comparison *c, ext2_ino_t ino, guint32 old, guint32 new, GError **error)
{
	const gsize checksum = offsetof(struct ext2_ext_attr_header, h_checksum);
	guint64 size = c->old.image->fs->blocksize;
	gboolean equal;

	if (old == 0 && new == 0)
		return TRUE;
	if (old == 0 || new == 0)
		return differs(c, error, "inode %u: attributes were lost or gained", ino);
	if (!compare_bytes(c, old * size, new *size, checksum, &equal, error))
		return FALSE;
	if (equal && !compare_bytes(c, old * size + checksum + 4, new *size + checksum + 4,
			     size - checksum - 4, &equal, error))
		return FALSE;
	return equal || differs(c, error, "inode %u: attributes differ", ino);
}

static gboolean collect_extent(void *user, const img_ext4_extent *extent, GError **error)
{
	(void)error;
	g_array_append_val((GArray *)user, *extent);
	return TRUE;
}

static gboolean collect_extents(side *s, ext2_ino_t ino, GError **error)
{
	img_ext4_visitor visitor = {NULL, collect_extent, s->extents};

	g_array_set_size(s->extents, 0);
	return img_ext4_walk_map(s->image, ino, s->inode, &visitor, error);
}

static void advance(img_ext4_extent *extent, guint32 blocks)
{
	extent->logical += blocks;
	extent->start += blocks;
	extent->length -= blocks;
}

/* The next extent, once this one is used up; FALSE at the end. */
static gboolean next_extent(const GArray *extents, guint *index, img_ext4_extent *extent)
{
	if (extent->length > 0)
		return TRUE;
	if (*index == extents->len)
		return FALSE;
	*extent = g_array_index(extents, img_ext4_extent, (*index)++);
	return TRUE;
}

static gboolean compare_content(comparison *c, ext2_ino_t ino, GError **error)
{
	img_ext4_extent old = {0}, new = {0};
	guint64 size = c->old.image->fs->blocksize;
	guint i = 0, j = 0;

	while (TRUE) {
		gboolean more = next_extent(c->old.extents, &i, &old), equal = TRUE;
		guint32 blocks = 0;

		if (more != next_extent(c->new.extents, &j, &new) ||
			(more && old.logical != new.logical) || old.unwritten != new.unwritten)
			return differs(c, error, "inode %u has its holes elsewhere", ino);
		if (!more)
			return TRUE;
		blocks = MIN(old.length, new.length);
		/* Nobody can read what unwritten blocks hold. */
		if (!old.unwritten && !compare_bytes(c, old.start * size, new.start *size,
					      blocks * size, &equal, error))
			return FALSE;
		if (!equal)
			return differs(c, error, "inode %u: content differs", ino);
		c->bytes += blocks * size;
		advance(&old, blocks);
		advance(&new, blocks);
	}
}

static gboolean compare_maps(comparison *c, ext2_ino_t ino, GError **error)
{
	if (!collect_extents(&c->old, ino, error) || !collect_extents(&c->new, ino, error))
		return FALSE;
	return compare_content(c, ino, error);
}

static gboolean compare_owners(const comparison *c, ext2_ino_t ino, guint32 *old_xattrs,
	guint32 *new_xattrs, GError **error)
{
	const img_ext4_owner *old = img_ext4_survey_find(c->old.survey, ino);
	const img_ext4_owner *new = img_ext4_survey_find(c->new.survey, ino);

	if ((old ? old->blocks : 0) != (new ? new->blocks : 0))
		return differs(c, error, "inode %u has another number of blocks", ino);
	*old_xattrs = old ? old->xattr_block : 0;
	*new_xattrs = new ? new->xattr_block : 0;
	return TRUE;
}

static gboolean compare_inode(comparison *c, ext2_ino_t ino, GError **error)
{
	guint32 old_xattrs = 0, new_xattrs = 0;
	gboolean with_map;

	if (!read_inode(&c->old, ino, c->inode_size, error) ||
		!read_inode(&c->new, ino, c->inode_size, error))
		return FALSE;
	with_map = !img_ext4_is_pinned(c->old.image, ino) &&
		   img_ext4_has_map(c->old.image, c->old.inode);
	if (!compare_owners(c, ino, &old_xattrs, &new_xattrs, error) ||
		!compare_xattrs(c, ino, old_xattrs, new_xattrs, error))
		return FALSE;
	if (with_map && !compare_maps(c, ino, error))
		return FALSE;
	c->inodes++;
	return compare_fields(c, ino, with_map, error);
}

static gboolean compare_inodes(comparison *c, GError **error)
{
	guint32 count = c->old.image->fs->super->s_inodes_count;

	for (ext2_ino_t ino = 1; ino <= count; ino++) {
		if (!ext2fs_test_inode_bitmap2(c->old.image->fs->inode_map, ino))
			continue;
		if (ro_interrupted(error) || !compare_inode(c, ino, error))
			return FALSE;
		ro_progress_update(c->progress, ino, count, NULL);
	}
	return TRUE;
}

/* ---- the order ---- */

typedef struct {
	const side *new;
	guint8 *hot; /* for every block whether a wanted inode has it */
	guint32 first, last, behind;
	ro_verify_result *result;
} order;

/* Whether there is nothing but what can't move between two blocks. */
static gboolean only_fixed_between(const side *s, guint32 from, guint32 to)
{
	if (from > to)
		return FALSE;
	for (guint32 block = from; block < to; block++)
		if (!stays(s, block))
			return FALSE;
	return TRUE;
}

static gboolean in_one_piece(const order *o, const img_ext4_run *runs, guint32 count)
{
	for (guint32 i = 1; i < count; i++)
		if (!only_fixed_between(
			    o->new, runs[i - 1].start + runs[i - 1].length, runs[i].start))
			return FALSE;
	return TRUE;
}

static void look_at(order *o, const img_ext4_owner *owner)
{
	const img_ext4_run *runs =
		&g_array_index(o->new->survey->runs, img_ext4_run, owner->first_run);
	guint32 count = owner->run_count, end = runs[count - 1].start + runs[count - 1].length;

	if (o->hot[runs[0].start])
		return; /* wanted twice */
	for (guint32 i = 0; i < count; i++) {
		memset(o->hot + runs[i].start, TRUE, runs[i].length);
		o->first = MIN(o->first, runs[i].start);
		o->last = MAX(o->last, runs[i].start + runs[i].length);
	}
	o->result->planned++;
	if (runs[0].start < o->behind || !in_one_piece(o, runs, count))
		return;
	o->result->in_place++;
	o->behind = end;
}

static void measure_region(const order *o)
{
	guint64 size = o->new->image->fs->blocksize;

	for (guint32 block = o->first; block < o->last; block++)
		if (!o->hot[block] && o->new->survey->movable[block])
			o->result->hot_foreign += size;
	o->result->hot_start = o->first * size;
	o->result->hot_end = o->last * size;
}

static gboolean check_order(const comparison *c, const guint32 *wanted, gsize count,
	ro_verify_result *result, GError **error)
{
	g_autofree guint8 *hot = g_new0(guint8, c->new.image->blocks);
	order o = {.new = &c->new, .hot = hot, .first = G_MAXUINT32, .result = result};

	for (gsize i = 0; i < count; i++) {
		const img_ext4_owner *owner = img_ext4_survey_find(c->new.survey, wanted[i]);

		if (!owner)
			continue;
		if (owner->run_count)
			look_at(&o, owner);
		hot[owner->xattr_block] = owner->xattr_block != 0;
	}
	if (result->planned > 0)
		measure_region(&o);
	if (result->in_place >= result->planned - result->in_place)
		return TRUE;
	return differs(c, error,
		"only %u of %u planned inodes are in place; reordering had no effect",
		result->in_place, result->planned);
}

static void report(ro_progress *progress, const ro_verify_result *result)
{
	g_autofree char *text = g_strdup_printf("%u inodes, %.1f MB of content; %u of %u in place",
		result->inodes, (double)result->bytes / 1e6, result->in_place, result->planned);

	ro_progress_end(progress, text);
}

gboolean ro_ext4_verify(const img_source *old_source, const img_source *new_source,
	const guint32 *wanted, gsize count, ro_progress *progress, ro_verify_result *result,
	GError **error)
{
	g_auto(comparison) c = {.progress = progress};

	*result = (ro_verify_result){0};
	ro_progress_begin(progress, "verify");
	if (!side_open(&c.old, old_source, error) || !side_open(&c.new, new_source, error))
		return FALSE;
	c.inode_size = EXT2_INODE_SIZE(c.old.image->fs->super);
	if (!compare_size(&c, error) || !compare_ends(&c, error) || !compare_groups(&c, error) ||
		!compare_fixed(&c, error) || !compare_inodes(&c, error))
		return FALSE;
	result->inodes = c.inodes;
	result->bytes = c.bytes;
	if (!check_order(&c, wanted, count, result, error))
		return FALSE;
	report(progress, result);
	return TRUE;
}
