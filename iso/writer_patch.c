/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The input's bytes with the new file in the place of the old one, and the checksums that follow
 * from it. Nothing else is written, so nothing else has to be understood.
 */
#include "iso/writer_patch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/checksums.h"
#include "iso/file_copy.h"
#include "iso/isomd5.h"
#include "iso/journal.h"
#include "iso/place.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

enum { RECORD_SIZE = 10 }; /* ECMA-119 9.1.4: both byte orders */

typedef struct {
	const li_write_job *job;
	GPtrArray *trees;    /* of li_tree */
	li_tree *new_tree;   /* the first of them, with the new sizes */
	GHashTable *changed; /* paths */
	GArray *contents;    /* of int: descriptors of the new files */
	li_overlay *new_iso;
} patch;

static void close_all(GArray *fds)
{
	for (guint i = 0; i < fds->len; i++)
		close(g_array_index(fds, int, i));
	g_array_unref(fds);
}

static void patch_clear(patch *p)
{
	g_clear_pointer(&p->trees, g_ptr_array_unref);
	g_clear_pointer(&p->new_tree, li_tree_free);
	g_clear_pointer(&p->changed, g_hash_table_unref);
	g_clear_pointer(&p->contents, close_all);
	g_clear_pointer(&p->new_iso, li_overlay_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(patch, patch_clear)

/* --- before the work --- */

static gboolean patch_check(const li_iso *iso, GError **error)
{
	g_autoptr(GPtrArray) trees = li_trees_read(iso, error);

	for (guint i = 0; trees && i < iso->images->len; i++) {
		const li_image *image = g_ptr_array_index(iso->images, i);
		li_place place;

		if (image->refusal)
			continue;
		if (!li_sums_check(
			    iso->fd, g_ptr_array_index(trees, 0), image->file->path, error) ||
			!li_place_find(iso, trees, image->file, &place, error))
			return FALSE;
	}
	return trees != NULL;
}

static gboolean find_excess(const li_iso *iso, const GPtrArray *trees,
	const li_replacement *replacement, guint64 *excess, GError **error)
{
	struct stat st;
	li_place place;

	if (stat(replacement->content, &st) < 0)
		return ro_fail_errno(error, errno, "%s", replacement->content);
	if (!li_place_find(iso, trees, replacement->file, &place, error))
		return FALSE;
	guint64 size = (guint64)st.st_size;
	*excess = size - MIN(size, li_place_room(iso, trees, &place, size));
	return TRUE;
}

gboolean li_patch_misfit(const li_iso *iso, const li_replacement *replacements, guint count,
	const li_file **file, guint64 *excess, GError **error)
{
	g_autoptr(GPtrArray) trees = li_trees_read(iso, error);

	*file = NULL;
	*excess = 0;
	for (guint i = 0; trees && *excess == 0 && i < count; i++) {
		if (!find_excess(iso, trees, &replacements[i], excess, error))
			return FALSE;
		if (*excess > 0)
			*file = replacements[i].file;
	}
	return trees != NULL;
}

/* --- what will be --- */

/* The length in one directory record; trees may share theirs. */
static gboolean put_record(patch *p, const li_node *node, guint64 size, GError **error)
{
	guint32 little = GUINT32_TO_LE((guint32)size), big = GUINT32_TO_BE((guint32)size);
	guint32 both[2] = {little, big};

	return li_overlay_put(p->new_iso, node->record + RECORD_SIZE, both, sizeof(both), error);
}

static gboolean put_records(patch *p, const li_place *place, guint64 size, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (guint t = 0; t < p->trees->len; t++) {
		const li_tree *tree = g_ptr_array_index(p->trees, t);

		for (guint i = 0; i < tree->nodes->len; i++) {
			li_node *node = g_ptr_array_index(tree->nodes, i);

			if (li_place_holds(place, node) && g_hash_table_add(seen, &node->record) &&
				!put_record(p, node, size, error))
				return FALSE;
		}
	}
	return TRUE;
}

/* Other names of the file change with it. */
static void note_changed(patch *p, const li_place *place, guint64 size)
{
	for (guint i = 0; i < p->new_tree->nodes->len; i++) {
		li_node *node = g_ptr_array_index(p->new_tree->nodes, i);

		if (!li_place_holds(place, node))
			continue;
		g_hash_table_add(p->changed, g_strdup(node->path));
		if (node->size != size) /* then it is one extent */
			g_array_index(node->extents, li_extent, 0).length = size;
		node->size = size;
	}
}

static gboolean open_content(patch *p, const char *path, int *fd, guint64 *size, GError **error)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return ro_fail_errno(error, errno, "%s", path);
	g_array_append_val(p->contents, *fd);
	if (fstat(*fd, &st) < 0)
		return ro_fail_errno(error, errno, "%s", path);
	*size = (guint64)st.st_size;
	return TRUE;
}

/* A shorter file keeps the old length, with zeros behind it as squashfs images have them anyway:
 * then no directory record changes. */
static gboolean put_replacement(patch *p, const li_replacement *replacement, GError **error)
{
	const li_iso *iso = p->job->iso;
	guint64 size = 0, length, room;
	li_place place;
	int fd;

	if (!open_content(p, replacement->content, &fd, &size, error) ||
		!li_place_find(iso, p->trees, replacement->file, &place, error))
		return FALSE;
	room = li_place_room(iso, p->trees, &place, size);
	if (size > room)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: the new image is %" G_GUINT64_FORMAT
			" bytes too large for the place of the old one; use --writer rebuild",
			iso->path, replacement->file->path, size - room);
	length = MAX(size, place.length);
	if (length > place.length && !put_records(p, &place, length, error))
		return FALSE;
	note_changed(p, &place, length);
	return li_overlay_put_file(p->new_iso, place.start, length, fd, size, error);
}

static gboolean put_isomd5(patch *p, li_write_result *result, GError **error)
{
	const li_iso *iso = p->job->iso;
	guint8 blank[LI_APPLICATION_USE_SIZE];

	if (li_suse_digest_present(iso->fd)) {
		ro_warn("the ISO's own checksum (checkmedia) is left out; run tagmedia on the new one");
		memset(blank, ' ', sizeof(blank));
		return li_overlay_put(p->new_iso, 16 * LI_SECTOR + LI_APPLICATION_USE, blank,
			sizeof(blank), error);
	}
	return li_isomd5_renew(iso, p->new_iso, result, error);
}

static gboolean prepare(patch *p, const li_write_job *job, li_write_result *result, GError **error)
{
	const li_iso *iso = job->iso;
	const li_tree *tree;

	*result = (li_write_result){0};
	p->job = job;
	p->trees = li_trees_read(iso, error);
	if (!p->trees)
		return FALSE;
	tree = g_ptr_array_index(p->trees, 0);
	p->new_tree = li_tree_read(iso->fd, li_tree_kind(iso), iso->path, error);
	p->changed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	p->contents = g_array_new(FALSE, FALSE, sizeof(int));
	p->new_iso = li_overlay_new(iso->fd, iso->file_size);
	for (guint i = 0; p->new_tree && i < job->replacement_count; i++)
		if (!put_replacement(p, &job->replacements[i], error))
			return FALSE;
	return p->new_tree &&
	       li_sums_update(iso->fd, tree, p->new_iso, p->new_tree, p->changed, result,
		       job->progress, error) &&
	       put_isomd5(p, result, error);
}

/* --- a new file --- */

/* All but what will change anyway. */
static gboolean copy_around(const patch *p, int fd, GError **error)
{
	const GArray *changes = p->new_iso->changes;
	const char *name = p->job->out_path;
	guint64 at = 0;

	for (guint i = 0; i <= changes->len; i++) {
		const li_change *change =
			i < changes->len ? &g_array_index(changes, li_change, i) : NULL;
		guint64 end = change ? change->offset : p->new_iso->size;

		if (!li_file_copy(p->new_iso->fd, at, fd, at, end - at, name, error))
			return FALSE;
		at = change ? end + change->length : end;
	}
	return TRUE;
}

static gboolean fill(const patch *p, int fd, GError **error)
{
	const char *name = p->job->out_path;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ro_fail_errno(error, errno, "%s", name);
	if (!S_ISREG(st.st_mode) || st.st_size)
		return ro_fail(error, RO_ERROR_FAILED, "%s: not an empty file", name);
	if (!li_file_clone(p->new_iso->fd, fd) && !copy_around(p, fd, error))
		return FALSE;
	return li_overlay_write(p->new_iso, fd, name, error) &&
	       li_overlay_compare(p->new_iso, fd, name, FALSE, error);
}

static gboolean patch_write(const li_write_job *job, li_write_result *result, GError **error)
{
	g_auto(patch) p = {0};
	gboolean fine;
	int fd;

	if (!prepare(&p, job, result, error))
		return FALSE;
	fd = open(job->out_path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", job->out_path);
	fine = fill(&p, fd, error);
	if (close(fd) < 0 && fine)
		fine = ro_fail_errno(error, errno, "%s: write", job->out_path);
	return fine;
}

const li_writer li_writer_patch = {
	.name = "patch",
	.check = patch_check,
	.write = patch_write,
};

/* --- in place --- */

static gboolean write_in_place(const patch *p, int fd, GError **error)
{
	const char *path = p->job->iso->path;

	if (!li_overlay_write(p->new_iso, fd, path, error))
		return FALSE;
	if (fsync(fd) < 0)
		return ro_fail_errno(error, errno, "%s: sync", path);
	return li_overlay_compare(p->new_iso, fd, path, TRUE, error);
}

gboolean li_patch_in_place(const li_write_job *job, int fd, li_write_result *result, GError **error)
{
	const char *path = job->iso->path;
	g_autoptr(GError) failure = NULL;
	g_auto(patch) p = {0};

	if (!prepare(&p, job, result, error) || !li_journal_write(path, p.new_iso, error))
		return FALSE;
	if (write_in_place(&p, fd, error))
		return li_journal_remove(path, error);
	if (!li_journal_undo(path, fd, &failure))
		ro_warn("%s: is half changed and can't be changed back now (%s); run reorder-livecd recover on it",
			path, failure->message);
	return FALSE;
}
