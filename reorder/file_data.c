/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/file_data.h"

gboolean ro_has_data(const img_inode *inode)
{
	return inode->type == IMG_FILE && (inode->data_stored > 0 || inode->fragment != IMG_NONE);
}

guint ro_data_hash(gconstpointer inode)
{
	const img_inode *i = inode;
	guint64 start = i->data_stored ? i->data_start : 0;

	return g_int64_hash(&start) * 31 + i->fragment * 7 + i->fragment_offset;
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
