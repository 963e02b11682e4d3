/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/file_data.h"

#include "reorder/plan/order.h"

gboolean ro_has_data(const img_inode *inode)
{
	return inode->type == IMG_FILE && inode->size > 0 &&
	       (inode->data_stored > 0 || inode->fragment != IMG_NONE);
}

static guint32 tail_bytes(const img_tree *tree, const img_inode *inode)
{
	return (guint32)(inode->size % img_tree_super(tree)->block_size);
}

guint32 *ro_fragment_fill(const img_tree *tree)
{
	guint32 *fill = g_new0(guint32, img_tree_fragment_count(tree));

	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);

		if (inode->type != IMG_FILE || inode->fragment == IMG_NONE)
			continue;
		fill[inode->fragment] = MAX(
			fill[inode->fragment], inode->fragment_offset + tail_bytes(tree, inode));
	}
	return fill;
}

guint64 ro_stored_bytes(const img_tree *tree, const img_inode *inode, const guint32 *fill)
{
	guint64 block;

	if (inode->fragment == IMG_NONE || fill[inode->fragment] == 0)
		return inode->data_stored;
	block = IMG_BLOCK_STORED_SIZE(img_tree_fragment(tree, inode->fragment)->size_word);
	return inode->data_stored + block * tail_bytes(tree, inode) / fill[inode->fragment];
}

/* Mixed well: an image can choose its positions and sizes. */
guint ro_data_hash(gconstpointer inode)
{
	const img_inode *i = inode;
	guint32 offset = i->fragment == IMG_NONE ? 0 : i->fragment_offset;
	guint64 words[] = {i->data_stored ? i->data_start : 0, i->data_stored, i->size,
		(guint64)i->fragment << 32 | offset};
	guint64 hash = 0;

	for (guint k = 0; k < G_N_ELEMENTS(words); k++) {
		hash ^= words[k];
		hash = ro_random_next(&hash);
	}
	return (guint)hash;
}

gboolean ro_data_equal(gconstpointer a, gconstpointer b)
{
	const img_inode *x = a, *y = b;

	if (x->size != y->size || x->data_stored != y->data_stored || x->fragment != y->fragment)
		return FALSE;
	if (x->data_stored && x->data_start != y->data_start)
		return FALSE;
	return x->fragment == IMG_NONE || x->fragment_offset == y->fragment_offset;
}
