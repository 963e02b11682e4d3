/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of a squashfs image: every inode, every name, and where the data lies.
 *
 * Read once with libsquashfs into flat tables; memory is bounded by the tables, never by the data.
 * Everything is owned by the tree and lives as long as it does. Positions are bytes from the start
 * of the image. The image is untrusted: counts, positions and sizes are checked while reading,
 * cycles and absurd sizes are errors (RO_ERROR_UNSUITABLE).
 */
#ifndef IMG_IMAGE_TREE_H
#define IMG_IMAGE_TREE_H

#include "reorder/image/squashfs_super.h"

typedef enum {
	IMG_FILE,
	IMG_DIR,
	IMG_SYMLINK,
	IMG_BLOCK_DEVICE,
	IMG_CHAR_DEVICE,
	IMG_FIFO,
	IMG_SOCKET,
} img_type;

#define IMG_NONE G_MAXUINT32

/* The size word of a data block (Linux: SQUASHFS_COMPRESSED_BIT_BLOCK). */
#define IMG_BLOCK_UNCOMPRESSED (1u << 24)
#define IMG_BLOCK_STORED_SIZE(word) ((word) & ~IMG_BLOCK_UNCOMPRESSED)

typedef struct {
	guint32 number; /* inode number in the image, from 1 */
	img_type type;
	guint16 mode; /* permission bits only, 07777 */
	guint32 uid, gid;
	guint32 mtime;
	guint32 nlink;
	guint32 xattr;       /* index into the xattr table or IMG_NONE */
	guint32 rdev;        /* devices: as in the image (encoded as the kernel's new_encode_dev) */
	guint64 size;        /* files: bytes; directories: 0 */
	guint64 inode_ref;   /* where the inode lies: (metadata block << 16) | offset */
	const char *target;  /* symlinks */
	guint32 first_entry; /* one of its names: index into entries; IMG_NONE for the root */

	/* Regular files. */
	guint64 data_start;  /* position of the first data block; meaningless if block_count is 0 */
	guint64 data_stored; /* bytes of all its data blocks as they are stored */
	const guint32 *blocks; /* block_count size words; 0 is a hole */
	guint32 block_count;
	guint32 fragment;        /* index into fragments or IMG_NONE */
	guint32 fragment_offset; /* bytes into the unpacked fragment block */
} img_inode;

/* A name in a directory. */
typedef struct {
	const char *name;
	guint32 parent; /* entry of the directory that holds it, IMG_NONE in the root */
	guint32 inode;  /* index into inodes */
} img_entry;

/* A fragment block. */
typedef struct {
	guint64 start;     /* position */
	guint32 size_word; /* as for data blocks */
} img_fragment;

typedef struct img_tree img_tree;

/*
 * The source's fd has to stay open as long as the tree is used; label is copied.
 */
img_tree *img_tree_open(const img_source *source, GError **error);
void img_tree_free(img_tree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(img_tree, img_tree_free)

const img_source *img_tree_source(const img_tree *tree);
const img_super *img_tree_super(const img_tree *tree);

guint32 img_tree_inode_count(const img_tree *tree);
const img_inode *img_tree_inode(
	const img_tree *tree, guint32 index); /* index 0 is the root directory */
guint32 img_tree_entry_count(const img_tree *tree);
const img_entry *img_tree_entry(const img_tree *tree, guint32 index);
guint32 img_tree_fragment_count(const img_tree *tree);
const img_fragment *img_tree_fragment(const img_tree *tree, guint32 index);

/* The entries of a directory are those from *first on, *count of them, in the order of strcmp(3).
 */
void img_tree_children(const img_tree *tree, guint32 directory, guint32 *first, guint32 *count);
/* Finds a name in a directory; the index of the entry or IMG_NONE. */
guint32 img_tree_lookup(const img_tree *tree, guint32 directory, const char *name);

/* Path of an entry, without a leading slash ("usr/bin/dash"); "" for IMG_NONE. Owned by the caller.
 */
char *img_tree_entry_path(const img_tree *tree, guint32 entry);
/* Path of an inode's first name. Owned by the caller. */
char *img_tree_inode_path(const img_tree *tree, guint32 inode);

/*
 * Finds a path as a process whose root is the image would: leading slashes, ".", "..", and symlinks
 * (absolute ones too) are followed inside the image, at most 40. Returns the index of the inode,
 * IMG_NONE if there is none. follow_last: whether a symlink as the last component is followed.
 */
guint32 img_tree_resolve(const img_tree *tree, const char *path, gboolean follow_last);

/* Where the metadata (all tables) starts: everything from here to bytes_used. */
guint64 img_tree_metadata_start(const img_tree *tree);

#endif
