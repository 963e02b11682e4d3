/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the data of a regular file lies, as its identity: identical files share their data if the
 * image's builder noticed it. */
#ifndef RO_FILE_DATA_H
#define RO_FILE_DATA_H

#include "reorder/image/image_tree.h"

/* A regular file that has bytes in the image: not empty, not one hole. */
gboolean ro_has_data(const img_inode *inode);

/* For every fragment block how many bytes of it are in use, unpacked. Owned by the caller. */
guint32 *ro_fragment_fill(const img_tree *tree);

/* Bytes of a regular file in the image; of a fragment block its share. fill: ro_fragment_fill. */
guint64 ro_stored_bytes(const img_tree *tree, const img_inode *inode, const guint32 *fill);

/* For a GHashTable of const img_inode * for which ro_has_data holds. */
guint ro_data_hash(gconstpointer inode);
gboolean ro_data_equal(gconstpointer a, gconstpointer b);

#endif
