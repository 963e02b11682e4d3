/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the data of a regular file lies, as its identity: identical files share their data if the
 * image's builder noticed it. */
#ifndef RO_FILE_DATA_H
#define RO_FILE_DATA_H

#include "reorder/image/image_tree.h"

/* A regular file that has bytes in the image: not empty, not one hole. */
gboolean ro_has_data(const img_inode *inode);

/* For a GHashTable of const img_inode * for which ro_has_data holds. */
guint ro_data_hash(gconstpointer inode);
gboolean ro_data_equal(gconstpointer a, gconstpointer b);

#endif
