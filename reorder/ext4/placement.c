/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/ext4/placement.h"

#include "reorder/ext4/spaces.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

typedef struct {
	const img_ext4 *image;
	img_ext4_survey *survey;
	ro_ext4_spaces *spaces;
	guint32 *new_of;
	guint8 *placed;   /* for every owner */
	guint8 *reserved; /* for every block: attributes that a wanted inode has, or shares */
	guint furthest;   /* the last space that has something */
} placement;

static void placement_clear(placement *p)
{
	ro_ext4_spaces_free(p->spaces);
	g_free(p->new_of);
	g_free(p->placed);
	g_free(p->reserved);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(placement, placement_clear)

static void put(placement *p, guint space, guint32 old, guint32 length)
{
	guint32 to = ro_ext4_spaces_take(p->spaces, space, length);

	for (guint32 i = 0; i < length; i++)
		p->new_of[old + i] = to + i;
	p->furthest = MAX(p->furthest, space);
}

static gboolean no_room(const placement *p, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: too full to move its files; leave some blocks free in it", p->image->label);
}

/* A run that has to be split. */
static gboolean put_pieces(placement *p, guint *from, const img_ext4_run *run, GError **error)
{
	guint32 *room = run->node == IMG_EXT4_NO_NODE
				? NULL
				: &g_array_index(p->survey->nodes, guint32, run->node);

	for (guint32 done = 0; done < run->length;) {
		guint space = ro_ext4_spaces_find(p->spaces, *from, 1);
		guint32 piece;

		if (space == RO_EXT4_NO_SPACE && *from > 0) {
			*from = 0;
			continue;
		}
		if (space == RO_EXT4_NO_SPACE || (done > 0 && room && *room == 0))
			return no_room(p, error);
		if (done > 0 && room)
			--*room;
		piece = MIN(run->length - done, ro_ext4_spaces_left(p->spaces, space));
		put(p, space, run->start + done, piece);
		done += piece;
		*from = space;
	}
	return TRUE;
}

/* The first space with room from *from on, or else from the start. */
static guint find(const placement *p, guint from, guint32 blocks)
{
	guint space = ro_ext4_spaces_find(p->spaces, from, blocks);

	return space == RO_EXT4_NO_SPACE ? ro_ext4_spaces_find(p->spaces, 0, blocks) : space;
}

static gboolean put_run(placement *p, guint *from, const img_ext4_run *run, GError **error)
{
	guint space = find(p, *from, run->length);

	if (space == RO_EXT4_NO_SPACE)
		return put_pieces(p, from, run, error);
	put(p, space, run->start, run->length);
	*from = MAX(*from, space);
	return TRUE;
}

static gboolean put_runs(placement *p, guint *from, const img_ext4_owner *owner, GError **error)
{
	const img_ext4_run *runs = &g_array_index(p->survey->runs, img_ext4_run, owner->first_run);

	for (guint32 i = 0; i < owner->run_count; i++)
		if (!put_run(p, from, &runs[i], error))
			return FALSE;
	return TRUE;
}

static gboolean takes_xattrs(const placement *p, const img_ext4_owner *owner, gboolean wanted)
{
	guint32 block = owner->xattr_block;

	return block && p->new_of[block] == 0 && (wanted || !p->reserved[block]);
}

/* from: the first space to look at. */
static gboolean put_whole(
	placement *p, guint from, const img_ext4_owner *owner, gboolean with_xattrs, GError **error)
{
	img_ext4_run xattrs = {owner->xattr_block, 1, IMG_EXT4_NO_NODE};

	return (!with_xattrs || put_run(p, &from, &xattrs, error)) &&
	       put_runs(p, &from, owner, error);
}

static gboolean put_owner(placement *p, guint *from, guint index, gboolean wanted, GError **error)
{
	const img_ext4_owner *owner = &g_array_index(p->survey->owners, img_ext4_owner, index);
	gboolean with_xattrs = takes_xattrs(p, owner, wanted);
	guint space;

	if (p->placed[index])
		return TRUE;
	p->placed[index] = TRUE;
	if (ro_interrupted(error))
		return FALSE;
	if (owner->blocks + with_xattrs == 0)
		return TRUE;
	space = find(p, *from, owner->blocks + with_xattrs);
	if (space == RO_EXT4_NO_SPACE)
		return put_whole(p, *from, owner, with_xattrs, error);
	*from = MAX(*from, space);
	return put_whole(p, space, owner, with_xattrs, error);
}

/* IMG_NONE for an inode without blocks. */
static guint32 owner_index(const placement *p, ext2_ino_t ino)
{
	const img_ext4_owner *owner = img_ext4_survey_find(p->survey, ino);

	return owner ? (guint32)(owner - &g_array_index(p->survey->owners, img_ext4_owner, 0))
		     : IMG_NONE;
}

static gboolean put_wanted(
	placement *p, guint from, const ext2_ino_t *wanted, gsize count, GError **error)
{
	for (gsize i = 0; i < count; i++) {
		guint32 index = owner_index(p, wanted[i]);

		if (index != IMG_NONE && !put_owner(p, &from, index, TRUE, error))
			return FALSE;
	}
	return TRUE;
}

/* Where an owner is now, and which one it is. */
typedef struct {
	guint32 position;
	guint index;
} rest_item;

static int by_position(gconstpointer a, gconstpointer b)
{
	const rest_item *x = a, *y = b;

	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static rest_item make_item(const placement *p, guint index)
{
	const img_ext4_owner *owner = &g_array_index(p->survey->owners, img_ext4_owner, index);
	guint32 position = owner->xattr_block;

	if (owner->run_count)
		position = g_array_index(p->survey->runs, img_ext4_run, owner->first_run).start;
	return (rest_item){position, index};
}

/* All that is not wanted, in the order in which it lies now. */
static gboolean put_rest(placement *p, const guint8 *is_wanted, GError **error)
{
	g_autoptr(GArray) rest = g_array_new(FALSE, FALSE, sizeof(rest_item));

	for (guint i = 0; i < p->survey->owners->len; i++) {
		rest_item item = make_item(p, i);

		if (!is_wanted[i])
			g_array_append_val(rest, item);
	}
	g_array_sort(rest, by_position);
	for (guint i = 0; i < rest->len; i++) {
		guint from = 0;

		if (!put_owner(p, &from, g_array_index(rest, rest_item, i).index, FALSE, error))
			return FALSE;
	}
	return TRUE;
}

/* For every owner whether it is wanted; notes attributes that go with them. */
static guint8 *find_wanted(placement *p, const ext2_ino_t *wanted, gsize count)
{
	guint8 *is_wanted = g_new0(guint8, p->survey->owners->len + 1);

	for (gsize i = 0; i < count; i++) {
		guint32 index = owner_index(p, wanted[i]);

		if (index == IMG_NONE)
			continue;
		is_wanted[index] = TRUE;
		p->reserved[g_array_index(p->survey->owners, img_ext4_owner, index).xattr_block] =
			TRUE;
	}
	return is_wanted;
}

static ro_ext4_spaces *make_spaces(const img_ext4 *image, const img_ext4_survey *survey)
{
	g_autofree guint8 *fixed = g_new0(guint8, image->blocks);

	for (guint32 block = image->fs->super->s_first_data_block; block < image->blocks; block++)
		fixed[block] = !survey->movable[block] &&
			       ext2fs_test_block_bitmap2(image->fs->block_map, block);
	return ro_ext4_spaces_new(fixed, image->fs->super->s_first_data_block, image->blocks);
}

guint32 *ro_ext4_place(const img_ext4 *image, img_ext4_survey *survey, ro_layout layout,
	const ext2_ino_t *wanted, gsize count, GError **error)
{
	g_auto(placement) p = {.image = image, .survey = survey};
	g_autofree guint8 *is_wanted = NULL;
	gboolean ok;

	p.spaces = make_spaces(image, survey);
	p.new_of = g_new0(guint32, image->blocks);
	p.placed = g_new0(guint8, survey->owners->len + 1);
	p.reserved = g_new0(guint8, image->blocks);
	is_wanted = find_wanted(&p, wanted, count);
	if (layout == RO_LAYOUT_FRONT)
		ok = put_wanted(&p, 0, wanted, count, error) && put_rest(&p, is_wanted, error);
	else
		ok = put_rest(&p, is_wanted, error) &&
		     put_wanted(&p, p.furthest, wanted, count, error);
	return ok ? g_steal_pointer(&p.new_of) : NULL;
}
