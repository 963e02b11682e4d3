/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/verify-internal.h"

#include <string.h>

#include "reorder/image/xattrs.h"
#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/interrupt.h"

typedef struct {
	ro_pairs pairs;
	guint32 *reverse; /* of each inode of the new tree: the index in the old one, or IMG_NONE */
	img_xattrs *old_xattrs, *new_xattrs;
	GHashTable *equal_xattrs; /* of guint64: index in the old image << 32 | in the new one */
	GArray *directories;      /* of guint32: inodes of the old tree, a stack */
} comparison;

static void comparison_clear(comparison *c)
{
	g_free(c->pairs.partner);
	g_free(c->reverse);
	img_xattrs_free(c->old_xattrs);
	img_xattrs_free(c->new_xattrs);
	g_clear_pointer(&c->equal_xattrs, g_hash_table_unref);
	g_clear_pointer(&c->directories, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(comparison, comparison_clear)

char *ro_verify_path(const img_tree *tree, guint32 inode)
{
	g_autofree char *path = img_tree_inode_path(tree, inode);
	g_autofree char *text = ro_escape_utf8(path);

	return g_strconcat("/", text, NULL);
}

static gboolean compare_number(
	const char *object, const char *what, guint64 old, guint64 new, GError **error)
{
	if (old == new)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: %s differs: %" G_GUINT64_FORMAT " before, %" G_GUINT64_FORMAT " after", object,
		what, old, new);
}

static gboolean compare_octal(
	const char *object, const char *what, guint old, guint new, GError **error)
{
	if (old == new)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED, "%s: %s differs: %04o before, %04o after", object,
		what, old, new);
}

static gboolean compare_flags(guint old, guint new, GError **error)
{
	if (old == new)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED, "superblock: flags differ: %#x before, %#x after",
		old, new);
}

static gboolean compare_supers(const img_super *old, const img_super *new, GError **error)
{
	const char *object = "superblock";

	if (old->compressor != new->compressor)
		return ro_fail(error, RO_ERROR_FAILED,
			"superblock: compressor differs: %s before, %s after",
			img_compressor_name(old->compressor), img_compressor_name(new->compressor));
	if (old->options_size != new->options_size ||
		memcmp(old->options, new->options, old->options_size) != 0)
		return ro_fail(error, RO_ERROR_FAILED, "superblock: compressor options differ");
	return compare_number(object, "block size", old->block_size, new->block_size, error) &&
	       compare_number(object, "time", old->mkfs_time, new->mkfs_time, error) &&
	       compare_flags(old->flags, new->flags, error);
}

/* Sets of attributes: names and values. */
static gboolean same_set(const GArray *old, const GArray *new)
{
	if (old->len != new->len)
		return FALSE;
	for (guint i = 0; i < old->len; i++) {
		const img_xattr *a = &g_array_index(old, img_xattr, i);
		const img_xattr *b = &g_array_index(new, img_xattr, i);

		if (strcmp(a->name, b->name) != 0 || a->size != b->size ||
			memcmp(a->value, b->value, a->size) != 0)
			return FALSE;
	}
	return TRUE;
}

static gboolean compare_xattrs(
	comparison *c, const char *path, guint32 old, guint32 new, GError **error)
{
	gint64 key = (gint64)((guint64)old << 32 | new);
	g_autoptr(GArray) old_set = NULL, new_set = NULL;

	if (g_hash_table_contains(c->equal_xattrs, &key))
		return TRUE;
	old_set = img_xattrs_get(c->old_xattrs, old, error);
	if (!old_set)
		return FALSE;
	new_set = img_xattrs_get(c->new_xattrs, new, error);
	if (!new_set)
		return FALSE;
	if (!same_set(old_set, new_set))
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: extended attributes differ (%u before, %u after)", path, old_set->len,
			new_set->len);
	g_hash_table_add(c->equal_xattrs, g_memdup2(&key, sizeof(key)));
	return TRUE;
}

/* Directories' links are counted in other ways by other programs. */
static gboolean compare_links(
	const char *path, const img_inode *old, const img_inode *new, GError **error)
{
	return old->type == IMG_DIR ||
	       compare_number(path, "number of links", old->nlink, new->nlink, error);
}

static const char *const type_names[] = {
	[IMG_FILE] = "file",
	[IMG_DIR] = "directory",
	[IMG_SYMLINK] = "symlink",
	[IMG_BLOCK_DEVICE] = "block device",
	[IMG_CHAR_DEVICE] = "character device",
	[IMG_FIFO] = "fifo",
	[IMG_SOCKET] = "socket",
};

static gboolean compare_inodes(comparison *c, guint32 old_index, guint32 new_index, GError **error)
{
	const img_inode *old = img_tree_inode(c->pairs.old_tree, old_index);
	const img_inode *new = img_tree_inode(c->pairs.new_tree, new_index);
	g_autofree char *path = ro_verify_path(c->pairs.old_tree, old_index);

	if (old->type == IMG_SYMLINK && new->type == IMG_SYMLINK &&
		strcmp(old->target, new->target) != 0)
		return ro_fail(error, RO_ERROR_FAILED, "%s: symlink target differs", path);
	if (old->type != new->type)
		return ro_fail(error, RO_ERROR_FAILED, "%s: type differs: %s before, %s after",
			path, type_names[old->type], type_names[new->type]);
	return compare_octal(path, "mode", old->mode, new->mode, error) &&
	       compare_number(path, "owner", old->uid, new->uid, error) &&
	       compare_number(path, "group", old->gid, new->gid, error) &&
	       compare_number(path, "modification time", old->mtime, new->mtime, error) &&
	       compare_number(path, "device number", old->rdev, new->rdev, error) &&
	       compare_number(path, "size", old->size, new->size, error) &&
	       compare_links(path, old, new, error) &&
	       compare_xattrs(c, path, old->xattr, new->xattr, error);
}

/* A name seen in both trees: the inodes belong together, all the time or never. */
static gboolean pair(comparison *c, guint32 old, guint32 new, GError **error)
{
	g_autofree char *path = NULL;

	if (c->pairs.partner[old] == new && c->reverse[new] == old)
		return TRUE;
	if (c->pairs.partner[old] != IMG_NONE || c->reverse[new] != IMG_NONE) {
		path = ro_verify_path(c->pairs.old_tree, old);
		return ro_fail(error, RO_ERROR_FAILED, "%s: hard links differ", path);
	}
	if (!compare_inodes(c, old, new, error))
		return FALSE;
	c->pairs.partner[old] = new;
	c->reverse[new] = old;
	if (img_tree_inode(c->pairs.old_tree, old)->type == IMG_DIR)
		g_array_append_val(c->directories, old);
	return TRUE;
}

static gboolean fail_missing(const img_tree *tree, guint32 entry, const char *where, GError **error)
{
	g_autofree char *path = img_tree_entry_path(tree, entry);
	g_autofree char *text = ro_escape_utf8(path);

	return ro_fail(error, RO_ERROR_FAILED, "/%s: only in the %s image", text, where);
}

static gboolean compare_directory(comparison *c, guint32 old, GError **error)
{
	const img_tree *old_tree = c->pairs.old_tree, *new_tree = c->pairs.new_tree;
	guint32 a, b, old_count, new_count;

	img_tree_children(old_tree, old, &a, &old_count);
	img_tree_children(new_tree, c->pairs.partner[old], &b, &new_count);
	for (guint32 i = 0; i < MAX(old_count, new_count); i++) {
		int order = i == old_count   ? 1
			    : i == new_count ? -1
					     : strcmp(img_tree_entry(old_tree, a + i)->name,
						       img_tree_entry(new_tree, b + i)->name);

		if (order < 0)
			return fail_missing(old_tree, a + i, "old", error);
		if (order > 0)
			return fail_missing(new_tree, b + i, "new", error);
		if (!pair(c, img_tree_entry(old_tree, a + i)->inode,
			    img_tree_entry(new_tree, b + i)->inode, error))
			return FALSE;
	}
	return TRUE;
}

static guint32 *none_array(guint32 count)
{
	guint32 *array = g_new(guint32, count);

	memset(array, 0xff, (gsize)count * sizeof(guint32));
	return array;
}

static gboolean compare_trees(comparison *c, GError **error)
{
	c->pairs.partner = none_array(img_tree_inode_count(c->pairs.old_tree));
	c->reverse = none_array(img_tree_inode_count(c->pairs.new_tree));
	c->equal_xattrs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	c->directories = g_array_new(FALSE, FALSE, sizeof(guint32));
	c->old_xattrs = img_xattrs_new(c->pairs.old_tree, error);
	if (!c->old_xattrs)
		return FALSE;
	c->new_xattrs = img_xattrs_new(c->pairs.new_tree, error);
	if (!c->new_xattrs || !pair(c, 0, 0, error))
		return FALSE;
	while (c->directories->len > 0) {
		guint32 directory = g_array_index(c->directories, guint32, c->directories->len - 1);

		g_array_set_size(c->directories, c->directories->len - 1);
		if (ro_interrupted(error) || !compare_directory(c, directory, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean check_order(const img_tree *tree, const ro_verify_result *result, GError **error)
{
	if (result->in_place >= result->planned - result->in_place)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: only %u of %u planned files are in place; reordering had no effect",
		img_tree_source(tree)->label, result->in_place, result->planned);
}

static void report(ro_progress *progress, const ro_verify_result *result)
{
	g_autofree char *text = g_strdup_printf("%u inodes, %.1f MB of content; %u of %u in place",
		result->inodes, (double)result->bytes / 1e6, result->in_place, result->planned);

	ro_progress_end(progress, text);
}

gboolean ro_verify_image(const img_tree *old_tree, const img_tree *new_tree, const ro_plan *plan,
	ro_progress *progress, ro_verify_result *result, GError **error)
{
	g_auto(comparison) c = {.pairs = {old_tree, new_tree, NULL}};

	*result = (ro_verify_result){0};
	ro_progress_begin(progress, "verify");
	if (!compare_supers(img_tree_super(old_tree), img_tree_super(new_tree), error) ||
		!compare_trees(&c, error) ||
		!ro_verify_content(&c.pairs, progress, &result->bytes, error))
		return FALSE;
	result->inodes = img_tree_inode_count(old_tree);
	ro_verify_order(&c.pairs, plan, result);
	if (!check_order(new_tree, result, error))
		return FALSE;
	report(progress, result);
	return TRUE;
}
