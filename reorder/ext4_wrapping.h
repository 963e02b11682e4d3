/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The squashfs around a filesystem image: what dracut's live module and livecd-creator made, with
 * LiveOS/rootfs.img or LiveOS/ext3fs.img in it and hardly anything else.
 *
 * It is packed anew by mksquashfs with the source's own options. The tree does not pass through the
 * host's filesystem, mksquashfs is told what is in it: so that takes no root.
 */
#ifndef RO_EXT4_WRAPPING_H
#define RO_EXT4_WRAPPING_H

#include "reorder/image/image_tree.h"
#include "reorder/util/progress.h"

/* What the engine calls the new filesystem, in the work directory, when it is to be wrapped. */
#define RO_EXT4_NEW_NAME "filesystem"

/* Index of the filesystem image's inode; IMG_NONE if there is none. */
guint32 ro_ext4_find_inside(const img_tree *outer);

/*
 * RO_ERROR_UNSUITABLE for what cannot be packed anew in that way: extended attributes, hard links,
 * devices, names that mksquashfs would have to be told with care.
 */
gboolean ro_ext4_check_wrapping(const img_tree *outer, GError **error);

/* Writes the content of a file of the outer image to path, which does not exist; holes stay. */
gboolean ro_ext4_unwrap(const img_tree *outer, guint32 inode, const char *path,
	ro_progress *progress, GError **error);

typedef struct {
	const img_tree *outer;
	guint32 inode;       /* the image in it that is replaced */
	const char *content; /* by this file */
	const char *workdir;
	const char *out_path; /* does not exist */
	ro_progress *progress;
} ro_ext4_wrap_job;

/* Packs it. Removes out_path again on failure. */
gboolean ro_ext4_wrap(const ro_ext4_wrap_job *job, GError **error);

/*
 * Proof that the image at out_path is the outer one but for that content: everything of every
 * inode, the content of all files. A difference is RO_ERROR_FAILED.
 */
gboolean ro_ext4_verify_wrapping(const ro_ext4_wrap_job *job, GError **error);

#endif
