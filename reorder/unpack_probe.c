/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/unpack_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "reorder/image/xattrs.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"

#define OVERLAYFS_MAGIC 0x794c7630

/* What the tree has. */
typedef struct {
	guint32 max_uid, max_gid, max_mtime;
	gboolean devices, whiteouts, links;
	GHashTable *names; /* of attributes: name → img_xattr, one for each name */
	GPtrArray *sets;   /* of GArray: own what names points into */
} needs;

static void needs_clear(needs *n)
{
	g_clear_pointer(&n->names, g_hash_table_unref);
	g_clear_pointer(&n->sets, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(needs, needs_clear)

static void need_inode(needs *n, const img_inode *inode)
{
	gboolean device = inode->type == IMG_CHAR_DEVICE || inode->type == IMG_BLOCK_DEVICE;

	n->max_uid = MAX(n->max_uid, inode->uid);
	n->max_gid = MAX(n->max_gid, inode->gid);
	n->max_mtime = MAX(n->max_mtime, inode->mtime);
	n->devices |= device && inode->rdev != 0;
	n->whiteouts |= device && inode->rdev == 0;
	n->links |= inode->type != IMG_DIR && inode->nlink > 1;
}

static gboolean need_xattrs(needs *n, const img_xattrs *xattrs, guint32 index, GError **error)
{
	GArray *set = img_xattrs_get(xattrs, index, error);
	gboolean news = FALSE;

	if (!set)
		return FALSE;
	for (guint i = 0; i < set->len; i++) {
		img_xattr *attribute = &g_array_index(set, img_xattr, i);

		if (g_hash_table_contains(n->names, attribute->name))
			continue;
		g_hash_table_insert(n->names, attribute->name, attribute);
		news = TRUE;
	}
	if (news)
		g_ptr_array_add(n->sets, set);
	else
		g_array_unref(set);
	return TRUE;
}

static gboolean find_needs(needs *n, const img_tree *tree, const img_xattrs *xattrs, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	n->names = g_hash_table_new(g_str_hash, g_str_equal);
	n->sets = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);

		need_inode(n, inode);
		if (inode->xattr != IMG_NONE &&
			g_hash_table_add(seen, GUINT_TO_POINTER(inode->xattr)) &&
			!need_xattrs(n, xattrs, inode->xattr, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean cannot_keep(const char *directory, const char *what, int err, GError **error)
{
	g_autofree char *parent = g_path_get_dirname(directory);
	struct statfs fs;
	gboolean overlay = statfs(directory, &fs) == 0 && (guint)fs.f_type == OVERLAYFS_MAGIC;

	return ro_fail(error, RO_ERROR_FAILED,
		"%s: cannot hold the image's %s (%s%s); choose another --work-dir", parent, what,
		err ? g_strerror(err) : "not kept", overlay ? ", it lies on overlayfs" : "");
}

static gboolean try_owner(const char *directory, const char *file, const needs *n, GError **error)
{
	struct stat st;

	if (lchown(file, n->max_uid, n->max_gid) < 0)
		return cannot_keep(directory, "owners", errno, error);
	if (stat(file, &st) < 0 || st.st_uid != n->max_uid || st.st_gid != n->max_gid)
		return cannot_keep(directory, "owners", 0, error);
	return TRUE;
}

static gboolean try_time(const char *directory, const char *file, const needs *n, GError **error)
{
	const struct timespec times[2] = {{.tv_sec = n->max_mtime}, {.tv_sec = n->max_mtime}};
	struct stat st;

	if (utimensat(AT_FDCWD, file, times, 0) < 0)
		return cannot_keep(directory, "file times", errno, error);
	if (stat(file, &st) < 0 || st.st_mtime != (time_t)n->max_mtime)
		return cannot_keep(directory, "file times", 0, error);
	return TRUE;
}

static gboolean try_node(
	const char *directory, const char *name, dev_t device, const char *what, GError **error)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);
	struct stat st;

	if (mknod(path, S_IFCHR | 0600, device) < 0)
		return cannot_keep(directory, what, errno, error);
	if (lstat(path, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != device)
		return cannot_keep(directory, what, 0, error);
	return TRUE;
}

static gboolean try_link(const char *directory, const char *file, GError **error)
{
	g_autofree char *path = g_build_filename(directory, "link", NULL);

	return link(file, path) == 0 || cannot_keep(directory, "hard links", errno, error);
}

static gboolean try_xattr(
	const char *directory, const char *file, const img_xattr *attribute, GError **error)
{
	g_autofree char *what = g_strdup_printf("attributes %s", attribute->name);
	g_autofree guint8 *got = g_malloc(attribute->size + 1);
	ssize_t size;

	if (lsetxattr(file, attribute->name, attribute->value, attribute->size, 0) < 0)
		return cannot_keep(directory, what, errno, error);
	size = lgetxattr(file, attribute->name, got, attribute->size + 1);
	if (size != (ssize_t)attribute->size || memcmp(got, attribute->value, attribute->size) != 0)
		return cannot_keep(directory, what, 0, error);
	lremovexattr(file, attribute->name);
	return TRUE;
}

static gboolean try_xattrs(const char *directory, const char *file, const needs *n, GError **error)
{
	GHashTableIter iter;
	gpointer attribute;

	g_hash_table_iter_init(&iter, n->names);
	while (g_hash_table_iter_next(&iter, NULL, &attribute))
		if (!try_xattr(directory, file, attribute, error))
			return FALSE;
	return TRUE;
}

static gboolean try_all(const char *directory, const needs *n, GError **error)
{
	g_autofree char *file = g_build_filename(directory, "file", NULL);
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || close(fd) < 0)
		return ro_fail_errno(error, errno, "%s", file);
	return try_owner(directory, file, n, error) && try_time(directory, file, n, error) &&
	       (!n->links || try_link(directory, file, error)) &&
	       (!n->devices ||
		       try_node(directory, "device", makedev(1, 3), "device nodes", error)) &&
	       (!n->whiteouts ||
		       try_node(directory, "whiteout", 0, "overlayfs whiteouts", error)) &&
	       try_xattrs(directory, file, n, error);
}

gboolean ro_unpack_probe(const char *workdir, const img_tree *tree, GError **error)
{
	g_autofree char *directory = g_build_filename(workdir, "probe-XXXXXX", NULL);
	g_autoptr(img_xattrs) xattrs = img_xattrs_new(tree, error);
	g_auto(needs) n = {0};
	gboolean ok;

	if (!xattrs || !find_needs(&n, tree, xattrs, error))
		return FALSE;
	if (!g_mkdtemp(directory))
		return ro_fail_errno(error, errno, "%s", workdir);
	ok = try_all(directory, &n, error);
	return ro_remove_tree(directory, ok ? error : NULL) && ok;
}
