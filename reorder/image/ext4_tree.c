/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/ext4_tree.h"

#include <string.h>

#include "reorder/image/ext4.h"
#include "reorder/image/ext4_survey.h"
#include "reorder/image/image_tree-internal.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

typedef struct {
	img_tree *tree;
	img_ext4 *image;
	img_ext4_survey *survey;
	guint32 *index_of; /* for every inode number its index in the tree, or IMG_NONE */
	GArray *found;     /* of img_entry: those of the directory at hand; inode is a number */
	ext2_ino_t directory;
	GError *error; /* of a callback */
} loader;

static void loader_clear(loader *load)
{
	img_ext4_survey_free(load->survey);
	img_ext4_free(load->image);
	g_free(load->index_of);
	g_clear_pointer(&load->found, g_array_unref);
	g_clear_error(&load->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(loader, loader_clear)

static gboolean type_of(guint16 mode, img_type *type)
{
	static const struct {
		guint16 format;
		img_type type;
	} types[] = {
		{LINUX_S_IFREG, IMG_FILE},
		{LINUX_S_IFDIR, IMG_DIR},
		{LINUX_S_IFLNK, IMG_SYMLINK},
		{LINUX_S_IFBLK, IMG_BLOCK_DEVICE},
		{LINUX_S_IFCHR, IMG_CHAR_DEVICE},
		{LINUX_S_IFIFO, IMG_FIFO},
		{LINUX_S_IFSOCK, IMG_SOCKET},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
		if ((mode & LINUX_S_IFMT) == types[i].format) {
			*type = types[i].type;
			return TRUE;
		}
	return FALSE;
}

/* As much of the content as there is, at most room bytes; size bytes are asked for. */
static gboolean read_target(const loader *load, ext2_ino_t ino, struct ext2_inode *inode,
	char *buffer, gsize room, gsize size, GError **error)
{
	ext2_filsys fs = load->image->fs;
	blk64_t block;
	errcode_t code;
	size_t length = 0;

	if (inode->i_flags & EXT4_INLINE_DATA_FL) {
		code = ext2fs_inline_data_size(fs, ino, &length);
		if (!code && length > room)
			return img_ext4_damaged(load->image, error,
				"inode %u is a symlink with too much data", ino);
		if (!code)
			code = ext2fs_inline_data_get(fs, ino, inode, buffer, &length);
		return !code ||
		       img_ext4_fail(load->image, code, error, "target of symlink %u", ino);
	}
	if (ext2fs_is_fast_symlink(inode)) {
		memcpy(buffer, inode->i_block, MIN(size, sizeof(inode->i_block)));
		return TRUE;
	}
	code = ext2fs_bmap2(fs, ino, inode, NULL, 0, 0, NULL, &block);
	if (code)
		return img_ext4_fail(load->image, code, error, "target of symlink %u", ino);
	return img_ext4_read_block(load->image, block, buffer, error);
}

static gboolean add_target(
	loader *load, ext2_ino_t ino, struct ext2_inode *inode, img_inode *node, GError **error)
{
	guint64 size = EXT2_I_SIZE(inode);
	/* Inline data can be a little longer than a block's worth of symlink. */
	gsize room = (gsize)load->image->fs->blocksize * 2;
	g_autofree char *buffer = g_malloc0(room);

	if (size == 0 || size >= load->image->fs->blocksize)
		return img_ext4_damaged(load->image, error,
			"inode %u is a symlink of %" G_GUINT64_FORMAT " bytes", ino, size);
	if (!read_target(load, ino, inode, buffer, room, (gsize)size, error))
		return FALSE;
	buffer[size] = '\0';
	if (strlen(buffer) != size)
		return img_ext4_damaged(
			load->image, error, "inode %u is a symlink with a NUL in it", ino);
	node->target = g_string_chunk_insert(load->tree->strings, buffer);
	return TRUE;
}

static guint32 device_number(const struct ext2_inode *inode)
{
	guint32 old = inode->i_block[0];

	/* old_encode_dev: 8 bits each. */
	return old ? old : inode->i_block[1];
}

static void add_data(const loader *load, ext2_ino_t ino, img_inode *node)
{
	const img_ext4_owner *owner = img_ext4_survey_find(load->survey, ino);
	guint64 block_size = load->image->fs->blocksize;

	if (!owner)
		return;
	node->data_start = owner->data_start * block_size;
	node->data_stored = owner->data_blocks * block_size;
}

static gboolean fill_inode(loader *load, ext2_ino_t ino, img_inode *node, GError **error)
{
	struct ext2_inode inode;
	errcode_t code = ext2fs_read_inode(load->image->fs, ino, &inode);

	if (code)
		return img_ext4_fail(load->image, code, error, "inode %u", ino);
	/* The survey leaves such inodes out, so nobody knows which blocks they have. */
	if (inode.i_links_count == 0 || !ext2fs_test_inode_bitmap2(load->image->fs->inode_map, ino))
		return img_ext4_damaged(
			load->image, error, "inode %u has a name, but is free", ino);
	*node = (img_inode){
		.number = ino,
		.mode = inode.i_mode & 07777,
		.uid = inode_uid(inode),
		.gid = inode_gid(inode),
		.mtime = inode.i_mtime,
		.nlink = inode.i_links_count,
		.xattr = IMG_NONE,
		.fragment = IMG_NONE,
		.first_entry = IMG_NONE,
	};
	if (!type_of(inode.i_mode, &node->type))
		return img_ext4_damaged(load->image, error, "inode %u is of no known type", ino);
	if (node->type == IMG_SYMLINK)
		return add_target(load, ino, &inode, node, error);
	if (node->type == IMG_BLOCK_DEVICE || node->type == IMG_CHAR_DEVICE)
		node->rdev = device_number(&inode);
	if (node->type == IMG_FILE) {
		node->size = EXT2_I_SIZE(&inode);
		add_data(load, ino, node);
	}
	return TRUE;
}

/* The inode's index in the tree; adds it if it is new. */
static gboolean add_inode(
	loader *load, ext2_ino_t ino, guint32 entry, guint32 *index, GError **error)
{
	static const img_children no_children = {0, 0};
	img_inode node;

	if (ino == 0 || ino > load->image->fs->super->s_inodes_count)
		return img_ext4_damaged(load->image, error, "inode %u is not there", ino);
	*index = load->index_of[ino];
	if (*index != IMG_NONE && img_tree_inode(load->tree, *index)->type == IMG_DIR)
		return img_ext4_damaged(load->image, error, "directory %u has two names", ino);
	if (*index != IMG_NONE)
		return TRUE;
	if (!fill_inode(load, ino, &node, error))
		return FALSE;
	node.first_entry = entry;
	*index = load->index_of[ino] = load->tree->inodes->len;
	g_array_append_val(load->tree->inodes, node);
	g_array_append_val(load->tree->children, no_children);
	return TRUE;
}

static int add_name(
	struct ext2_dir_entry *entry, int offset, int block_size, char *block, void *user)
{
	loader *load = user;
	int length = ext2fs_dirent_name_len(entry);
	const char *name = entry->name;
	img_entry found = {.inode = entry->inode};

	(void)offset, (void)block_size, (void)block;
	if (length == 1 && name[0] == '.')
		return 0;
	if (length == 2 && name[0] == '.' && name[1] == '.')
		return 0;
	if (length == 0 || memchr(name, '\0', (gsize)length) || memchr(name, '/', (gsize)length)) {
		img_ext4_damaged(load->image, &load->error,
			"directory %u has a name that can't be one", load->directory);
		return DIRENT_ABORT;
	}
	found.name = g_string_chunk_insert_len(load->tree->strings, name, length);
	g_array_append_val(load->found, found);
	return 0;
}

static int by_name(gconstpointer a, gconstpointer b)
{
	const img_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static gboolean read_directory(loader *load, ext2_ino_t ino, GError **error)
{
	errcode_t code;

	g_array_set_size(load->found, 0);
	load->directory = ino;
	code = ext2fs_dir_iterate(load->image->fs, ino, 0, NULL, add_name, load);
	if (load->error) {
		g_propagate_error(error, g_steal_pointer(&load->error));
		return FALSE;
	}
	if (code)
		return img_ext4_fail(load->image, code, error, "directory %u", ino);
	g_array_sort(load->found, by_name);
	for (guint i = 1; i < load->found->len; i++)
		if (by_name(&g_array_index(load->found, img_entry, i - 1),
			    &g_array_index(load->found, img_entry, i)) == 0)
			return img_ext4_damaged(
				load->image, error, "directory %u has a name twice", ino);
	return TRUE;
}

static gboolean add_directory(loader *load, guint32 directory, GError **error)
{
	const img_inode *node = img_tree_inode(load->tree, directory);
	guint32 parent = node->first_entry, first = load->tree->entries->len;

	if (!read_directory(load, node->number, error))
		return FALSE;
	for (guint i = 0; i < load->found->len; i++) {
		img_entry entry = g_array_index(load->found, img_entry, i);

		entry.parent = parent;
		if (!add_inode(load, entry.inode, first + i, &entry.inode, error))
			return FALSE;
		g_array_append_val(load->tree->entries, entry);
	}
	g_array_index(load->tree->children, img_children, directory) =
		(img_children){first, load->found->len};
	return TRUE;
}

static gboolean load_tree(loader *load, GError **error)
{
	guint32 root;

	if (!add_inode(load, EXT2_ROOT_INO, IMG_NONE, &root, error))
		return FALSE;
	if (img_tree_inode(load->tree, root)->type != IMG_DIR)
		return img_ext4_damaged(load->image, error, "the root is no directory");
	for (guint32 i = 0; i < load->tree->inodes->len; i++) {
		if (img_tree_inode(load->tree, i)->type != IMG_DIR)
			continue;
		if (ro_interrupted(error) || !add_directory(load, i, error))
			return FALSE;
	}
	return TRUE;
}

static void fill_super(loader *load)
{
	img_super *super = &load->tree->super;
	guint64 bytes = (guint64)load->image->blocks * load->image->fs->blocksize;

	super->block_size = load->image->fs->blocksize;
	super->inode_count = load->tree->inodes->len;
	super->bytes_used = bytes;
	super->inode_table = bytes;
	super->fragment_table = super->export_table = super->xattr_table = G_MAXUINT64;
}

img_tree *img_ext4_tree_open(const img_source *source, GError **error)
{
	g_auto(loader) load = {0};
	g_autoptr(img_tree) tree = NULL;
	guint32 inodes;

	load.image = img_ext4_open(source, error);
	if (!load.image)
		return NULL;
	/* It bounds the directories, too: no block is in two of them. */
	load.survey = img_ext4_survey_new(load.image, error);
	if (!load.survey)
		return NULL;
	inodes = load.image->fs->super->s_inodes_count;
	load.index_of = g_new(guint32, (gsize)inodes + 1);
	memset(load.index_of, 0xff, ((gsize)inodes + 1) * sizeof(guint32)); /* IMG_NONE */
	load.found = g_array_new(FALSE, FALSE, sizeof(img_entry));
	load.tree = tree = img_tree_new(source);
	if (!load_tree(&load, error))
		return NULL;
	fill_super(&load);
	return g_steal_pointer(&tree);
}

/* There is no compressor 0. */
gboolean img_ext4_is_tree(const img_tree *tree)
{
	return img_tree_super(tree)->compressor == 0;
}
