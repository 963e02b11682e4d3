/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine that unpacks the image with unsquashfs and packs it again with mksquashfs and a sort
 * file. It takes root, because the tree passes through a filesystem of the host.
 */
#include "reorder/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/image/data_reader.h"
#include "reorder/mksquashfs_options.h"
#include "reorder/mksquashfs_pack.h"
#include "reorder/sort_file.h"
#include "reorder/unpack_probe.h"
#include "reorder/util/child.h"
#include "reorder/util/error.h"
#include "reorder/util/host_limits.h"
#include "reorder/util/output.h"

enum {
	DISK_BLOCK = 4096,
	NAME_SPACE = 64, /* of a name in a directory, generously */
	/* No two times that a filesystem gives are equal that far apart. */
	CLOCK_TICK_US = 20000,
	UNPACK_QUEUE_MIN = 4,
	UNPACK_QUEUE_MAX = 256,
};

static gboolean has_holes(const img_tree *tree)
{
	for (guint32 i = 0; i < img_tree_inode_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, i);

		for (guint32 b = 0; b < inode->block_count; b++)
			if (inode->blocks[b] == 0)
				return TRUE;
	}
	return FALSE;
}

static gboolean check_version(const char *program, const img_tree *tree, GError **error)
{
	const char *const argv[] = {program, "-version", NULL};
	static const int codes[] = {0, 1, -1};
	g_autoptr(GString) out = g_string_new(NULL);
	ro_child_spec spec = {.argv = argv, .out = out, .ok_codes = codes};
	ro_tool_version version;

	if (!ro_child_need(program, "squashfs-tools", error) || !ro_child_run(&spec, NULL, error))
		return FALSE;
	if (!ro_tool_version_parse(out->str, &version))
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: its version cannot be found out; install squashfs-tools", program);
	return ro_mksquashfs_check_version(&version, img_tree_super(tree), has_holes(tree), error);
}

static GPtrArray *pack_command(const ro_engine_job *job, const char *from, const char *to,
	const char *sort_file, GError **error)
{
	GPtrArray *argv = ro_mksquashfs_command(
		from, to, img_tree_super(job->tree), img_tree_source(job->tree)->size, error);

	if (argv && sort_file)
		ro_argv_add(argv, "-sort", sort_file, NULL);
	return argv;
}

/* Packs an empty directory: shows all that could be wrong with the options before the long work. */
static gboolean try_pack(const ro_engine_job *job, GError **error)
{
	g_autofree char *directory = g_build_filename(job->workdir, "trial-XXXXXX", NULL);
	g_autofree char *image = NULL, *empty = NULL;
	g_autoptr(GPtrArray) argv = NULL;
	ro_child_spec spec = {0};
	gboolean ok;

	if (!g_mkdtemp(directory))
		return ro_fail_errno(error, errno, "%s", job->workdir);
	image = g_build_filename(directory, "image", NULL);
	empty = g_build_filename(directory, "empty", NULL);
	argv = pack_command(job, empty, image, NULL, error);
	ok = argv != NULL && (mkdir(empty, 0700) == 0 || ro_fail_errno(error, errno, "%s", empty));
	if (ok) {
		spec.argv = ro_argv_end(argv);
		ok = ro_child_run(&spec, NULL, error) &&
		     ro_mksquashfs_settle(image, img_tree_super(job->tree), error);
	}
	return ro_remove_tree(directory, ok ? error : NULL) && ok;
}

static gboolean check(const ro_engine_job *job, GError **error)
{
	if (geteuid() != 0)
		return ro_fail(error, RO_ERROR_FAILED,
			"engine mksquashfs: only root can unpack an image with its owners and devices; run as root");
	if (!check_version("mksquashfs", job->tree, error) ||
		!check_version("unsquashfs", job->tree, error))
		return FALSE;
	if (!job->workdir)
		return TRUE;
	return ro_unpack_probe(job->workdir, job->tree, error) && try_pack(job, error);
}

static guint64 disk_size(guint64 bytes)
{
	return (bytes + DISK_BLOCK - 1) / DISK_BLOCK * DISK_BLOCK;
}

/* Holes stay holes. */
static guint64 file_space(const img_super *super, const img_inode *inode)
{
	guint64 used = inode->fragment == IMG_NONE ? 0 : disk_size(inode->size % super->block_size);

	for (guint32 i = 0; i < inode->block_count; i++)
		if (inode->blocks[i] != 0)
			used += disk_size(img_block_length(super, inode, i));
	return used;
}

static guint64 space(const ro_engine_job *job)
{
	const img_super *super = img_tree_super(job->tree);
	guint64 bytes = disk_size(super->bytes_used) + super->bytes_used / 16 +
			(guint64)img_tree_entry_count(job->tree) * NAME_SPACE;

	for (guint32 i = 0; i < img_tree_inode_count(job->tree); i++) {
		const img_inode *inode = img_tree_inode(job->tree, i);

		bytes += inode->type == IMG_FILE ? file_space(super, inode) : DISK_BLOCK;
	}
	return bytes;
}

/* What a rebuild has in the work directory. */
typedef struct {
	const ro_engine_job *job;
	char *out, *tree, *aliases, *sort_file; /* absolute: the sort file is read elsewhere */
	guint lines;                            /* that unsquashfs has printed: one for each file */
} rebuild_state;

static void rebuild_state_clear(rebuild_state *state)
{
	g_free(state->out);
	g_free(state->tree);
	g_free(state->aliases);
	g_free(state->sort_file);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rebuild_state, rebuild_state_clear)

static void count_line(const char *line, gpointer data)
{
	rebuild_state *state = data;

	(void)line;
	state->lines++;
}

static void show_unpacked(gpointer data)
{
	const rebuild_state *state = data;

	ro_progress_update(state->job->progress, state->lines,
		img_tree_entry_count(state->job->tree) + 1, NULL);
}

static void show_packed(gpointer data)
{
	const ro_engine_job *job = ((const rebuild_state *)data)->job;
	struct stat st;

	if (stat(job->out_path, &st) == 0)
		ro_progress_update(job->progress, (double)st.st_size,
			(double)img_tree_super(job->tree)->bytes_used, NULL);
}

static gboolean unpack(rebuild_state *state, GError **error)
{
	const ro_engine_job *job = state->job;
	g_autofree char *iso = g_canonicalize_filename(job->iso_path, NULL);
	g_autoptr(GPtrArray) argv = ro_argv_new("unsquashfs");
	ro_child_spec spec = {.on_out = count_line, .tick = show_unpacked, .data = state};
	ro_host_limits limits;
	guint64 queue;

	ro_host_limits_read("", &limits);
	queue = CLAMP(limits.memory / 16 >> 20, UNPACK_QUEUE_MIN, UNPACK_QUEUE_MAX);
	ro_argv_add(argv, "-strict-errors", "-no-progress", "-info", NULL);
	ro_argv_add_number(argv, "-processors", limits.processors);
	ro_argv_add_number(argv, "-data-queue", queue);
	ro_argv_add_number(argv, "-frag-queue", queue);
	ro_argv_add_number(argv, "-offset", img_tree_source(job->tree)->offset);
	ro_argv_add(argv, "-dest", state->tree, iso, NULL);
	spec.argv = ro_argv_end(argv);
	ro_progress_begin(job->progress, "unpack");
	if (!ro_child_run(&spec, NULL, error))
		return FALSE;
	ro_progress_end(job->progress, NULL);
	return TRUE;
}

/*
 * mksquashfs tells hard links by all of lstat(2), times of access too, and reads each symlink in
 * between. With relatime only the first reading behind a change is noted: here it is.
 */
static void settle_symlinks(const rebuild_state *state)
{
	const img_tree *tree = state->job->tree;
	gboolean waited = FALSE;

	for (guint32 i = 0; i < img_tree_entry_count(tree); i++) {
		const img_inode *inode = img_tree_inode(tree, img_tree_entry(tree, i)->inode);
		g_autofree char *path = NULL, *full = NULL, *target = NULL;

		if (inode->type != IMG_SYMLINK || inode->first_entry == i)
			continue;
		if (!waited)
			g_usleep(CLOCK_TICK_US);
		waited = TRUE;
		path = img_tree_entry_path(tree, i);
		full = g_build_filename(state->tree, path, NULL);
		target = g_file_read_link(full, NULL);
	}
}

/* Second names, outside of the tree, for files whose own names cannot be written into a sort file.
 */
static gboolean make_aliases(const rebuild_state *state, const GArray *aliased, GError **error)
{
	for (guint i = 0; i < aliased->len; i++) {
		g_autofree char *path =
			img_tree_inode_path(state->job->tree, g_array_index(aliased, guint32, i));
		g_autofree char *from = g_build_filename(state->tree, path, NULL);
		g_autofree char *to = g_strdup_printf("%s/%u", state->aliases, i);

		if (link(from, to) < 0)
			return ro_fail_errno(error, errno, "%s: link", to);
	}
	return TRUE;
}

static gboolean write_sort_file(const rebuild_state *state, GError **error)
{
	const ro_engine_job *job = state->job;
	g_autoptr(GArray) aliased = g_array_new(FALSE, FALSE, sizeof(guint32));
	guint skipped;
	GString *text =
		ro_sort_file_mksquashfs(job->plan, job->tree, state->aliases, aliased, &skipped);
	gboolean ok = ro_output_write(state->sort_file, TRUE, text->str, (gssize)text->len, error);

	g_string_free(text, TRUE);
	if (skipped > 0)
		ro_warn("%u files stay where they are: their names cannot be sorted by", skipped);
	if (ok && mkdir(state->aliases, 0700) < 0)
		return ro_fail_errno(error, errno, "%s", state->aliases);
	return ok && make_aliases(state, aliased, error);
}

static gboolean pack(rebuild_state *state, GError **error)
{
	const ro_engine_job *job = state->job;
	/* Any sort file reverses what it does not list. */
	gboolean sorted = job->plan->files->len > 0;
	g_autoptr(GPtrArray) argv =
		pack_command(job, state->tree, state->out, sorted ? state->sort_file : NULL, error);
	ro_child_spec spec = {.cwd = job->workdir, .tick = show_packed, .data = state};

	if (!argv || !write_sort_file(state, error))
		return FALSE;
	settle_symlinks(state);
	spec.argv = ro_argv_end(argv);
	ro_progress_begin(job->progress, "pack");
	if (!ro_child_run(&spec, NULL, error) ||
		!ro_mksquashfs_settle(job->out_path, img_tree_super(job->tree), error))
		return FALSE;
	ro_progress_end(job->progress, NULL);
	return TRUE;
}

/* The tree is the greater part of the scratch space, and the ISO is still to be written. */
static gboolean remove_scratch(const rebuild_state *state, GError **error)
{
	return ro_remove_tree(state->tree, error) && ro_remove_tree(state->aliases, error);
}

static gboolean rebuild(const ro_engine_job *job, GError **error)
{
	g_auto(rebuild_state) state = {.job = job};
	g_autofree char *workdir = g_canonicalize_filename(job->workdir, NULL);

	state.out = g_canonicalize_filename(job->out_path, NULL);
	state.tree = g_canonicalize_filename("tree", workdir);
	state.aliases = g_canonicalize_filename("aliases", workdir);
	state.sort_file = g_canonicalize_filename("sort", workdir);
	if (unpack(&state, error) && pack(&state, error) && remove_scratch(&state, error))
		return TRUE;
	unlink(job->out_path);
	return FALSE;
}

const ro_engine ro_engine_mksquashfs = {"mksquashfs", check, space, rebuild};
