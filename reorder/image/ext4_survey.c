/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/ext4_survey.h"

#include "reorder/image/ext4_block_map.h"
#include "reorder/util/error.h"

/* What a block is. */
enum { FREE, PINNED, OWNED, XATTR };

typedef struct {
	const img_ext4 *image;
	img_ext4_survey *survey;
	img_ext4_owner *owner;
	guint8 kind; /* of the blocks of the inode at hand: OWNED or PINNED */
} surveyor;

void img_ext4_survey_free(img_ext4_survey *survey)
{
	if (!survey)
		return;
	g_array_unref(survey->owners);
	g_array_unref(survey->runs);
	g_array_unref(survey->nodes);
	g_free(survey->movable);
	g_free(survey);
}

static gboolean claim(surveyor *s, guint32 start, guint32 length, guint8 kind, GError **error)
{
	for (guint32 block = start; block < start + length; block++) {
		/* The resize inode has the spare group descriptor blocks. */
		if (kind != PINNED && ext2fs_test_block_bitmap2(s->image->fixed, block))
			return img_ext4_damaged(s->image, error,
				"inode %u has block %u, which is the filesystem's own",
				s->owner->ino, block);
		if (s->survey->movable[block] != FREE)
			return img_ext4_damaged(s->image, error,
				"inode %u has block %u, which has another owner", s->owner->ino,
				block);
		if (!ext2fs_test_block_bitmap2(s->image->fs->block_map, block))
			return img_ext4_damaged(s->image, error,
				"inode %u has block %u, which is marked as free", s->owner->ino,
				block);
		s->survey->movable[block] = kind;
	}
	return TRUE;
}

static img_ext4_run *last_run(const surveyor *s)
{
	GArray *runs = s->survey->runs;

	if (runs->len == s->owner->first_run)
		return NULL;
	return &g_array_index(runs, img_ext4_run, runs->len - 1);
}

static void add_run(surveyor *s, guint32 start, guint32 length, guint32 node)
{
	img_ext4_run *last = last_run(s), run = {start, length, node};

	s->owner->blocks += length;
	if (node == IMG_EXT4_NO_NODE && last && last->node == node &&
		last->start + last->length == start)
		last->length += length;
	else
		g_array_append_val(s->survey->runs, run);
}

static gboolean note_node(void *user, guint32 block, GError **error)
{
	surveyor *s = user;

	if (!claim(s, block, 1, s->kind, error))
		return FALSE;
	if (s->kind == OWNED)
		add_run(s, block, 1, IMG_EXT4_NO_NODE);
	return TRUE;
}

static gboolean note_extent(void *user, const img_ext4_extent *extent, GError **error)
{
	surveyor *s = user;
	guint32 node = IMG_EXT4_NO_NODE;

	if (!claim(s, extent->start, extent->length, s->kind, error))
		return FALSE;
	if (s->kind == PINNED)
		return TRUE;
	if (extent->first_of_node)
		g_array_append_val(s->survey->nodes, extent->room);
	if (extent->room != G_MAXUINT32)
		node = s->survey->nodes->len - 1;
	add_run(s, extent->start, extent->length, node);
	if (s->owner->data_blocks == 0)
		s->owner->data_start = extent->start;
	s->owner->data_blocks += extent->length;
	return TRUE;
}

static gboolean note_xattrs(surveyor *s, const struct ext2_inode_large *inode, GError **error)
{
	guint64 block =
		ext2fs_file_acl_block(s->image->fs, EXT2_INODE((struct ext2_inode_large *)inode));
	g_autofree guint8 *buffer = NULL;
	errcode_t code;

	if (block == 0)
		return TRUE;
	if (s->kind == PINNED)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: inode %u is reserved and has attributes in a block; not supported",
			s->image->label, s->owner->ino);
	if (block < s->image->fs->super->s_first_data_block || block >= s->image->blocks)
		return img_ext4_damaged(s->image, error,
			"inode %u has its attributes in block %" G_GUINT64_FORMAT
			", which is not there",
			s->owner->ino, block);
	s->owner->xattr_block = (guint32)block;
	if (s->survey->movable[block] == XATTR)
		return TRUE;
	buffer = g_malloc(s->image->fs->blocksize);
	code = ext2fs_read_ext_attr3(s->image->fs, block, buffer, s->owner->ino);
	if (code)
		return img_ext4_fail(
			s->image, code, error, "attributes of inode %u", s->owner->ino);
	return claim(s, (guint32)block, 1, XATTR, error);
}

static gboolean note_map(surveyor *s, const struct ext2_inode_large *inode, GError **error)
{
	img_ext4_visitor visitor = {note_node, note_extent, s};

	return !img_ext4_has_map(s->image, inode) ||
	       img_ext4_walk_map(s->image, s->owner->ino, inode, &visitor, error);
}

/* Deleted ones, of which no name is left, keep their blocks: nobody reads them. */
static gboolean is_live(const img_ext4 *image, ext2_ino_t ino, const struct ext2_inode_large *inode)
{
	return inode->i_links_count > 0 || img_ext4_is_pinned(image, ino);
}

static gboolean note_inode(
	void *user, ext2_ino_t ino, struct ext2_inode_large *inode, GError **error)
{
	surveyor *s = user;
	img_ext4_owner owner = {.ino = ino, .first_run = s->survey->runs->len};

	if (!is_live(s->image, ino, inode))
		return TRUE;
	s->owner = &owner;
	s->kind = img_ext4_is_pinned(s->image, ino) ? PINNED : OWNED;
	if (!note_map(s, inode, error) || !note_xattrs(s, inode, error))
		return FALSE;
	if (s->kind == PINNED)
		return TRUE;
	owner.run_count = s->survey->runs->len - owner.first_run;
	if (owner.blocks || owner.xattr_block)
		g_array_append_val(s->survey->owners, owner);
	return TRUE;
}

static gboolean check_fixed(const img_ext4 *image, GError **error)
{
	guint32 first = image->fs->super->s_first_data_block;

	for (guint32 block = first; block < image->blocks; block++)
		if (ext2fs_test_block_bitmap2(image->fixed, block) &&
			!ext2fs_test_block_bitmap2(image->fs->block_map, block))
			return img_ext4_damaged(image, error,
				"block %u, which is the filesystem's own, is marked as free",
				block);
	return TRUE;
}

static void count_moving(img_ext4_survey *survey, guint32 blocks)
{
	for (guint32 block = 0; block < blocks; block++) {
		survey->movable[block] = survey->movable[block] >= OWNED;
		survey->moving += survey->movable[block];
	}
}

img_ext4_survey *img_ext4_survey_new(const img_ext4 *image, GError **error)
{
	g_autoptr(img_ext4_survey) survey = g_new0(img_ext4_survey, 1);
	surveyor s = {.image = image, .survey = survey};

	survey->owners = g_array_new(FALSE, FALSE, sizeof(img_ext4_owner));
	survey->runs = g_array_new(FALSE, FALSE, sizeof(img_ext4_run));
	survey->nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
	survey->movable = g_new0(guint8, image->blocks);
	if (!check_fixed(image, error) || !img_ext4_each_inode(image, note_inode, &s, error))
		return NULL;
	count_moving(survey, image->blocks);
	return g_steal_pointer(&survey);
}

const img_ext4_owner *img_ext4_survey_find(const img_ext4_survey *survey, ext2_ino_t ino)
{
	guint low = 0, count = survey->owners->len;

	while (count > 0) {
		guint middle = low + count / 2;
		const img_ext4_owner *owner =
			&g_array_index(survey->owners, img_ext4_owner, middle);

		if (owner->ino == ino)
			return owner;
		if (owner->ino < ino) {
			low = middle + 1;
			count -= count / 2 + 1;
		} else {
			count /= 2;
		}
	}
	return NULL;
}
