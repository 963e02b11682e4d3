/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/ext4_wrapping.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/image/data_reader.h"
#include "reorder/mksquashfs_pack.h"
#include "reorder/util/child.h"
#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/interrupt.h"
#include "reorder/util/output.h"

/* In the work directory; the files of the outer image are beside them by their numbers. */
#define EMPTY_NAME "empty"
#define LIST_NAME "list"

guint32 ro_ext4_find_inside(const img_tree *outer)
{
	static const char *const paths[] = {"LiveOS/rootfs.img", "LiveOS/ext3fs.img"};

	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
		guint32 inode = img_tree_resolve(outer, paths[i], FALSE);

		if (inode != IMG_NONE && img_tree_inode(outer, inode)->type == IMG_FILE)
			return inode;
	}
	return IMG_NONE;
}

/* "/PATH" for messages; owned by the caller. */
static char *text_path(const img_tree *tree, guint32 inode)
{
	g_autofree char *path = img_tree_inode_path(tree, inode);
	g_autofree char *text = ro_escape_utf8(path);

	return g_strconcat("/", text, NULL);
}

/* ---- what can be packed ---- */

static gboolean is_plain(const char *text)
{
	return text[strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._+-")] == '\0';
}

static const char *obstacle(const img_tree *outer, guint32 index)
{
	const img_inode *inode = img_tree_inode(outer, index);
	g_autofree char *path = img_tree_inode_path(outer, index);

	if (inode->xattr != IMG_NONE)
		return "has extended attributes";
	if (inode->type != IMG_DIR && inode->nlink > 1)
		return "has hard links";
	if (inode->type != IMG_DIR && inode->type != IMG_FILE && inode->type != IMG_SYMLINK)
		return "is a device, fifo or socket";
	if (!is_plain(path) || (inode->target && !is_plain(inode->target)))
		return "has a name with special characters";
	return NULL;
}

gboolean ro_ext4_check_wrapping(const img_tree *outer, GError **error)
{
	for (guint32 i = 0; i < img_tree_inode_count(outer); i++) {
		const char *what = obstacle(outer, i);
		g_autofree char *path = what ? text_path(outer, i) : NULL;

		if (what)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: %s %s; not supported around an ext4 image",
				img_tree_source(outer)->label, path, what);
	}
	return TRUE;
}

/* ---- out of the image ---- */

static gboolean put(int fd, const char *path, const guint8 *data, gsize length, GError **error)
{
	while (length > 0) {
		ssize_t done = write(fd, data, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return ro_fail_errno(error, errno, "%s: write", path);
		data += done;
		length -= (gsize)done;
	}
	return TRUE;
}

static gboolean all_zero(const guint8 *data, gsize length)
{
	return data[0] == 0 && memcmp(data, data + 1, length - 1) == 0;
}

static gboolean put_or_skip(
	int fd, const char *path, const guint8 *data, gsize length, GError **error)
{
	if (!all_zero(data, length))
		return put(fd, path, data, length, error);
	return lseek(fd, (off_t)length, SEEK_CUR) >= 0 || ro_fail_errno(error, errno, "%s", path);
}

static gboolean copy_out(img_reader *reader, const img_inode *inode, int fd, const char *path,
	ro_progress *progress, GError **error)
{
	img_stream stream;

	img_stream_start(&stream, reader, inode);
	while (TRUE) {
		const guint8 *data;
		gsize length;

		if (ro_interrupted(error) || !img_stream_next(&stream, &data, &length, error))
			return FALSE;
		if (length == 0)
			return ftruncate(fd, (off_t)inode->size) == 0 ||
			       ro_fail_errno(error, errno, "%s", path);
		if (!put_or_skip(fd, path, data, length, error))
			return FALSE;
		ro_progress_update(
			progress, (double)lseek(fd, 0, SEEK_CUR), (double)inode->size, NULL);
	}
}

gboolean ro_ext4_unwrap(const img_tree *outer, guint32 inode, const char *path,
	ro_progress *progress, GError **error)
{
	g_autoptr(img_reader) reader = img_reader_new(outer, error);
	int fd = reader ? g_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	gboolean ok;

	if (reader && fd < 0)
		ro_fail_errno(error, errno, "%s", path);
	if (fd < 0)
		return FALSE;
	ok = copy_out(reader, img_tree_inode(outer, inode), fd, path, progress, error);
	if (close(fd) < 0 && ok)
		ok = ro_fail_errno(error, errno, "%s", path);
	if (!ok)
		g_unlink(path);
	return ok;
}

/* ---- into a new one ---- */

static char type_letter(img_type type)
{
	return type == IMG_DIR ? 'D' : type == IMG_SYMLINK ? 'S' : 'F';
}

/* A line of a pseudo file definition, and what it needs to be there. */
static gboolean add_line(
	const ro_ext4_wrap_job *job, const char *dir, guint32 index, GString *list, GError **error)
{
	const img_inode *inode = img_tree_inode(job->outer, index);
	g_autofree char *path = img_tree_inode_path(job->outer, index);
	g_autofree char *name = g_strdup_printf("%u", index);
	g_autofree char *file = g_build_filename(dir, name, NULL);
	g_autofree char *content = g_canonicalize_filename(job->content, NULL);

	g_string_append_printf(list, "/%s %c %u %o %u %u", path, type_letter(inode->type),
		inode->mtime, inode->mode, inode->uid, inode->gid);
	if (inode->type == IMG_SYMLINK)
		g_string_append_printf(list, " %s", inode->target);
	if (inode->type == IMG_FILE)
		g_string_append_printf(list, " cat %s", name);
	g_string_append_c(list, '\n');
	if (inode->type != IMG_FILE)
		return TRUE;
	if (index != job->inode)
		return ro_ext4_unwrap(job->outer, index, file, NULL, error);
	/* A link, because mksquashfs hands the name to a shell. */
	return symlink(content, file) == 0 || ro_fail_errno(error, errno, "%s", file);
}

static gboolean write_list(const ro_ext4_wrap_job *job, const char *dir, GError **error)
{
	g_autofree char *empty = g_build_filename(dir, EMPTY_NAME, NULL);
	g_autofree char *path = g_build_filename(dir, LIST_NAME, NULL);
	GString *list = g_string_new(NULL);
	gboolean ok = TRUE;

	for (guint32 i = 1; ok && i < img_tree_inode_count(job->outer); i++)
		ok = add_line(job, dir, i, list, error);
	if (ok && mkdir(empty, 0700) < 0)
		ok = ro_fail_errno(error, errno, "%s", empty);
	ok = ok && ro_output_write(path, FALSE, list->str, (gssize)list->len, error);
	g_string_free(list, TRUE);
	return ok;
}

/* mksquashfs takes the root directory from options. */
static void add_root(GPtrArray *argv, const img_inode *root)
{
	ro_argv_add_number(argv, "-root-uid", root->uid);
	ro_argv_add_number(argv, "-root-gid", root->gid);
	ro_argv_add_number(argv, "-root-time", root->mtime);
	ro_argv_add(argv, "-root-mode", NULL);
	g_ptr_array_add(argv, g_strdup_printf("%o", root->mode));
}

static void show_packed(gpointer data)
{
	const ro_ext4_wrap_job *job = data;
	struct stat st;

	if (stat(job->out_path, &st) == 0)
		ro_progress_update(job->progress, (double)st.st_size,
			(double)img_tree_super(job->outer)->bytes_used, NULL);
}

static gboolean pack(const ro_ext4_wrap_job *job, const char *dir, GError **error)
{
	const img_super *super = img_tree_super(job->outer);
	g_autofree char *out = g_canonicalize_filename(job->out_path, NULL);
	g_autoptr(GPtrArray) argv = ro_mksquashfs_command(
		EMPTY_NAME, out, super, img_tree_source(job->outer)->size, error);
	ro_child_spec spec = {.cwd = dir, .tick = show_packed, .data = (gpointer)job};

	if (!argv || !write_list(job, dir, error))
		return FALSE;
	add_root(argv, img_tree_inode(job->outer, 0));
	ro_argv_add(argv, "-pf", LIST_NAME, NULL);
	spec.argv = ro_argv_end(argv);
	return ro_child_run(&spec, NULL, error) && ro_mksquashfs_settle(out, super, error);
}

gboolean ro_ext4_wrap(const ro_ext4_wrap_job *job, GError **error)
{
	g_autofree char *dir = g_build_filename(job->workdir, "wrap-XXXXXX", NULL);
	gboolean ok;

	if (!ro_child_need("mksquashfs", "squashfs-tools", error) ||
		!ro_ext4_check_wrapping(job->outer, error))
		return FALSE;
	if (!g_mkdtemp(dir))
		return ro_fail_errno(error, errno, "%s", job->workdir);
	ro_progress_begin(job->progress, "pack");
	ok = pack(job, dir, error);
	ok = ro_remove_tree(dir, ok ? error : NULL) && ok;
	if (ok)
		ro_progress_end(job->progress, NULL);
	else
		g_unlink(job->out_path);
	return ok;
}

/* ---- verification ---- */

typedef struct {
	const ro_ext4_wrap_job *job;
	const img_tree *new;
	img_reader *old_reader, *new_reader;
	int content;
} comparison;

static gboolean differs(const comparison *c, guint32 index, const char *what, GError **error)
{
	g_autofree char *path = text_path(c->job->outer, index);

	return ro_fail(error, RO_ERROR_FAILED, "%s: %s differs in the new squashfs", path, what);
}

/* Reads the same from the file that was put in. */
static gboolean equals_content(const comparison *c, const guint8 *data, gsize length,
	guint64 position, gboolean *equal, GError **error)
{
	g_autofree guint8 *buffer = g_malloc(length);
	img_source source = {c->content, 0, position + length, c->job->content};

	if (!img_source_read(&source, position, buffer, length, error))
		return FALSE;
	*equal = memcmp(buffer, data, length) == 0;
	return TRUE;
}

static gboolean compare_replaced(
	const comparison *c, guint32 index, const img_inode *inode, GError **error)
{
	guint64 position = 0;
	img_stream stream;

	img_stream_start(&stream, c->new_reader, inode);
	while (TRUE) {
		const guint8 *data;
		gboolean equal;
		gsize length;

		if (ro_interrupted(error) || !img_stream_next(&stream, &data, &length, error))
			return FALSE;
		if (length == 0)
			return TRUE;
		if (!equals_content(c, data, length, position, &equal, error))
			return FALSE;
		if (!equal)
			return differs(c, index, "content", error);
		position += length;
	}
}

static gboolean compare_kept(const comparison *c, guint32 index, const img_inode *old,
	const img_inode *new, GError **error)
{
	img_stream a, b;

	img_stream_start(&a, c->old_reader, old);
	img_stream_start(&b, c->new_reader, new);
	while (TRUE) {
		const guint8 *x, *y;
		gsize n, m;

		if (ro_interrupted(error) || !img_stream_next(&a, &x, &n, error) ||
			!img_stream_next(&b, &y, &m, error))
			return FALSE;
		if (n == 0 && m == 0)
			return TRUE;
		if (n != m || memcmp(x, y, n) != 0)
			return differs(c, index, "content", error);
	}
}

static const char *difference(const img_inode *old, const img_inode *new)
{
	if (old->type != new->type)
		return "type";
	if (old->mode != new->mode)
		return "mode";
	if (old->uid != new->uid || old->gid != new->gid)
		return "owner";
	if (old->mtime != new->mtime)
		return "modification time";
	if (old->type != IMG_DIR && old->nlink != new->nlink)
		return "number of links";
	if (old->size != new->size)
		return "size";
	return g_strcmp0(old->target, new->target) == 0 ? NULL : "symlink target";
}

static gboolean compare_inode(const comparison *c, guint32 index, GError **error)
{
	const img_inode *old = img_tree_inode(c->job->outer, index), *new;
	g_autofree char *path = img_tree_inode_path(c->job->outer, index);
	guint32 other = img_tree_resolve(c->new, path, FALSE);
	const char *what;

	if (other == IMG_NONE)
		return differs(c, index, "its being there", error);
	new = img_tree_inode(c->new, other);
	what = difference(old, new);
	if (what)
		return differs(c, index, what, error);
	if (old->type != IMG_FILE)
		return TRUE;
	return index == c->job->inode ? compare_replaced(c, index, new, error)
				      : compare_kept(c, index, old, new, error);
}

static gboolean compare_trees(const comparison *c, GError **error)
{
	guint32 count = img_tree_inode_count(c->job->outer);

	if (count != img_tree_inode_count(c->new))
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: number of inodes differs: %u before, %u after",
			img_tree_source(c->new)->label, count, img_tree_inode_count(c->new));
	for (guint32 i = 0; i < count; i++)
		if (!compare_inode(c, i, error))
			return FALSE;
	return TRUE;
}

static gboolean open_source(const char *path, img_source *source, GError **error)
{
	struct stat st;

	source->label = path;
	source->fd = g_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (source->fd < 0 || fstat(source->fd, &st) < 0)
		return ro_fail_errno(error, errno, "%s", path);
	source->size = (guint64)st.st_size;
	return TRUE;
}

static gboolean compare_sources(const ro_ext4_wrap_job *job, const img_source *new,
	const img_source *content, GError **error)
{
	g_autoptr(img_tree) tree = img_tree_open(new, error);
	g_autoptr(img_reader) old_reader = tree ? img_reader_new(job->outer, error) : NULL;
	g_autoptr(img_reader) new_reader = old_reader ? img_reader_new(tree, error) : NULL;
	comparison c = {job, tree, old_reader, new_reader, content->fd};

	if (!new_reader)
		return FALSE;
	if (content->size != img_tree_inode(job->outer, job->inode)->size)
		return differs(&c, job->inode, "size", error);
	return compare_trees(&c, error);
}

gboolean ro_ext4_verify_wrapping(const ro_ext4_wrap_job *job, GError **error)
{
	img_source new = {.fd = -1}, content = {.fd = -1};
	gboolean ok = open_source(job->out_path, &new, error) &&
		      open_source(job->content, &content, error) &&
		      compare_sources(job, &new, &content, error);

	if (new.fd >= 0)
		close(new.fd);
	if (content.fd >= 0)
		close(content.fd);
	return ok;
}
