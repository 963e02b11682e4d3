/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "reorder/util/error.h"

struct ro_workdir {
	char *path;
	gboolean keep;
};

ro_workdir *ro_workdir_new(const char *parent, GError **error)
{
	g_autofree char *path = g_build_filename(parent, "reorder-livecd-XXXXXX", NULL);

	if (!g_mkdtemp_full(path, 0700)) {
		ro_fail_errno(error, errno,
			"%s: no directory for scratch files can be made here; use --work-dir",
			parent);
		return NULL;
	}
	/* An inherited default ACL would change the modes of all that is unpacked here. */
	removexattr(path, "system.posix_acl_default");
	ro_workdir *workdir = g_new0(ro_workdir, 1);
	workdir->path = realpath(path, NULL);
	return workdir;
}

const char *ro_workdir_path(const ro_workdir *workdir)
{
	return workdir->path;
}

char *ro_workdir_file(const ro_workdir *workdir, const char *name)
{
	return g_build_filename(workdir->path, name, NULL);
}

void ro_workdir_keep(ro_workdir *workdir)
{
	workdir->keep = TRUE;
}

void ro_workdir_free(ro_workdir *workdir)
{
	g_autoptr(GError) error = NULL;

	if (!workdir)
		return;
	if (!workdir->keep && !ro_remove_tree(workdir->path, &error))
		ro_warn("%s", error->message);
	free(workdir->path);
	g_free(workdir);
}

/* A directory that is being emptied; the stack of them is as deep as the tree. */
typedef struct {
	DIR *dir;
	char *name; /* in the directory above */
} level;

static void level_close(level *l)
{
	closedir(l->dir);
	g_free(l->name);
}

/* Opens name below parent_fd if it is a directory of the device, never through a symlink. NULL with
 * errno. */
static DIR *open_dir(int parent_fd, const char *name, dev_t device)
{
	struct stat st;
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || st.st_dev != device) {
		close(fd);
		errno = EXDEV;
		return NULL;
	}
	/* unpacked trees have directories without w or x */
	fchmod(fd, 0700);
	return fdopendir(fd);
}

/* Handles one entry of the topmost level; returns a level to descend into or NULL. */
static level *remove_entry(const level *top, const char *name, dev_t device, int *first_errno)
{
	int fd = dirfd(top->dir);

	if (unlinkat(fd, name, 0) == 0)
		return NULL;
	int saved = errno;
	DIR *dir = saved == EISDIR || saved == EPERM ? open_dir(fd, name, device) : NULL;
	if (!dir) {
		if (*first_errno == 0)
			*first_errno = saved == EISDIR ? errno : saved;
		return NULL;
	}
	level *below = g_new(level, 1);
	*below = (level){dir, g_strdup(name)};
	return below;
}

static void level_free(gpointer data)
{
	level_close(data);
	g_free(data);
}

static void empty_levels(GPtrArray *stack, dev_t device, int *first_errno)
{
	while (stack->len > 0) {
		level *top = g_ptr_array_index(stack, stack->len - 1);
		struct dirent *entry = readdir(top->dir);
		if (!entry) {
			g_autofree char *name = g_strdup(top->name);
			g_ptr_array_remove_index(stack, stack->len - 1);
			if (stack->len == 0)
				return;
			level *above = g_ptr_array_index(stack, stack->len - 1);
			if (unlinkat(dirfd(above->dir), name, AT_REMOVEDIR) < 0 &&
				*first_errno == 0)
				*first_errno = errno;
			continue;
		}
		if (g_str_equal(entry->d_name, ".") || g_str_equal(entry->d_name, ".."))
			continue;
		level *below = remove_entry(top, entry->d_name, device, first_errno);
		if (below)
			g_ptr_array_add(stack, below);
	}
}

gboolean ro_remove_tree(const char *path, GError **error)
{
	g_autoptr(GPtrArray) stack = g_ptr_array_new_with_free_func(level_free);
	int first_errno = 0;
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? TRUE
				       : ro_fail_errno(error, errno, "%s: cannot be removed", path);
	DIR *dir = open_dir(AT_FDCWD, path, st.st_dev);
	if (!dir)
		return ro_fail_errno(error, errno, "%s: cannot be removed", path);
	level *first = g_new(level, 1);
	*first = (level){dir, g_strdup(path)};
	g_ptr_array_add(stack, first);
	empty_levels(stack, st.st_dev, &first_errno);
	if (rmdir(path) < 0)
		return ro_fail_errno(
			error, first_errno ? first_errno : errno, "%s: cannot be removed", path);
	return TRUE;
}

gboolean ro_need_space(const char *dir, guint64 bytes, const char *what, GError **error)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) < 0)
		return ro_fail_errno(error, errno, "%s: free space is not known", dir);
	guint64 available = (guint64)fs.f_bavail * fs.f_frsize;
	if (available >= bytes)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: %" G_GUINT64_FORMAT " MB free, %" G_GUINT64_FORMAT
		" MB needed for %s; make room or use --work-dir",
		dir, available / 1000000, (bytes + 999999) / 1000000, what);
}
