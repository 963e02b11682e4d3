/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both programs give each file a number. What they make of a line was read from their sources and
 * tried (squashfs-tools 4.5.1, squashfs-tools-ng 1.2.0).
 */
#include "reorder/sort_file.h"

#include <string.h>

#include "reorder/plan/file_data.h"

/* mksquashfs: higher is earlier. */
enum { LEVEL_MIN = -32768, LEVEL_MAX = 32767, LEVEL_COUNT = LEVEL_MAX - LEVEL_MIN + 1 };

/* mksquashfs puts the name of its source directory before a path that must stay below PATH_MAX. */
enum { PATH_LIMIT = 4096 - 1024 };

typedef struct {
	guint32 inode;
	guint32 rank;
} sort_line;

/* The names of each inode, as lists in arrays. */
typedef struct {
	guint32 *head; /* of an inode: an entry or IMG_NONE */
	guint32 *next; /* of an entry */
} name_lists;

static void name_lists_clear(name_lists *names)
{
	g_free(names->head);
	g_free(names->next);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(name_lists, name_lists_clear)

static void name_lists_fill(name_lists *names, const img_tree *tree)
{
	guint32 inodes = img_tree_inode_count(tree), entries = img_tree_entry_count(tree);

	names->head = g_new(guint32, inodes);
	names->next = g_new(guint32, entries);
	memset(names->head, 0xff, inodes * sizeof(*names->head)); /* IMG_NONE */
	for (guint32 e = entries; e > 0; e--) {
		guint32 inode = img_tree_entry(tree, e - 1)->inode;

		names->next[e - 1] = names->head[inode];
		names->head[inode] = e - 1;
	}
}

static void add_planned(GArray *lines, const ro_plan *plan, const img_tree *tree, GHashTable *ranks)
{
	for (guint i = 0; i < plan->files->len; i++) {
		guint32 inode = g_array_index(plan->files, ro_plan_item, i).inode;
		gpointer data = (gpointer)img_tree_inode(tree, inode);
		sort_line line = {inode, i};

		g_array_append_val(lines, line);
		if (!g_hash_table_contains(ranks, data))
			g_hash_table_insert(ranks, data, GUINT_TO_POINTER(i));
	}
}

/*
 * Of identical files the one that is written first has the data. One that nobody reads must not
 * draw the data of one that is planned to where it lies itself: it gets the same rank.
 */
static void add_twins(GArray *lines, const ro_plan *plan, const img_tree *tree, GHashTable *ranks)
{
	guint32 count = img_tree_inode_count(tree);
	g_autofree gboolean *planned = g_new0(gboolean, count);

	for (guint i = 0; i < plan->files->len; i++)
		planned[g_array_index(plan->files, ro_plan_item, i).inode] = TRUE;
	for (guint32 i = 0; i < count; i++) {
		const img_inode *inode = img_tree_inode(tree, i);
		gpointer rank;

		if (planned[i] || !ro_has_data(inode))
			continue;
		if (!g_hash_table_lookup_extended(ranks, inode, NULL, &rank))
			continue;
		g_array_append_val(lines, ((sort_line){i, GPOINTER_TO_UINT(rank)}));
	}
}

static GArray *make_lines(const ro_plan *plan, const img_tree *tree)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(sort_line));
	g_autoptr(GHashTable) ranks = g_hash_table_new(ro_data_hash, ro_data_equal);

	add_planned(lines, plan, tree, ranks);
	add_twins(lines, plan, tree, ranks);
	return lines;
}

/* Comments, which both programs take only as whole lines. */
static void prepend_header(GString *out, const ro_plan *plan, const char *option, guint skipped)
{
	g_autoptr(GString) header = g_string_new(NULL);

	g_string_append_printf(header, "# %u files in the order of their use at boot, for %s\n",
		plan->files->len, option);
	if (skipped)
		g_string_append_printf(header,
			"# %u more are left out: their names cannot be written here\n", skipped);
	g_string_prepend(out, header->str);
}

/* The level of files that are not listed, and the first one below it or, in front, of all. */
typedef struct {
	int cold, first;
	guint32 count; /* levels for listed files */
} level_range;

static level_range find_range(ro_layout layout, guint32 files)
{
	gboolean end = layout == RO_LAYOUT_END;
	guint32 half = end ? -LEVEL_MIN : LEVEL_MAX;

	if (files <= half)
		return (level_range){0, end ? -1 : LEVEL_MAX, half};
	/* All levels but one, for the cold files. */
	return (level_range){
		end ? LEVEL_MAX : LEVEL_MIN, end ? LEVEL_MAX - 1 : LEVEL_MAX, LEVEL_COUNT - 1};
}

/* Where levels do not suffice, neighbours share one (and come out in reversed order of the tree).
 */
static int level_of(const level_range *range, guint32 rank, guint32 files)
{
	if (files <= range->count)
		return range->first - (int)rank;
	return range->first - (int)((guint64)rank * range->count / files);
}

/* A name "*" at the end is taken for the directory that it is in. */
static gboolean mksquashfs_can_name(const char *path)
{
	return strlen(path) < PATH_LIMIT && !strchr(path, '\n') && !g_str_has_suffix(path, "/*");
}

static void append_mksquashfs(GString *out, const char *path, int level)
{
	for (; *path; path++) {
		if (strchr(" \t\v\f\r\\#", *path))
			g_string_append_c(out, '\\');
		g_string_append_c(out, *path);
	}
	g_string_append_printf(out, " %d\n", level);
}

/* Any name of the inode that can be written; NULL if there is none. */
static char *mksquashfs_name(const img_tree *tree, const name_lists *names, guint32 inode)
{
	for (guint32 e = names->head[inode]; e != IMG_NONE; e = names->next[e]) {
		g_autofree char *path = img_tree_entry_path(tree, e);

		if (mksquashfs_can_name(path))
			return g_steal_pointer(&path);
	}
	return NULL;
}

static char *alias_name(const char *alias_dir, GArray *aliases, guint32 inode)
{
	char *path = g_strdup_printf("%s/%u", alias_dir, aliases->len);

	g_array_append_val(aliases, inode);
	return path;
}

/*
 * The root comes first, with the level of all that is not listed. It exists: at a first line whose
 * file does not, while the current directory has one of that name, mksquashfs would take all lines
 * as relative to the current directory.
 */
static void append_root(GString *out, const level_range *range)
{
	append_mksquashfs(out, ".", range->cold);
}

GString *ro_sort_file_mksquashfs(const ro_plan *plan, const img_tree *tree, const char *alias_dir,
	GArray *aliases, guint *skipped)
{
	g_autoptr(GArray) lines = make_lines(plan, tree);
	g_autoptr(GArray) aliased =
		aliases ? g_array_ref(aliases) : g_array_new(FALSE, FALSE, sizeof(guint32));
	g_auto(name_lists) names = {0};
	level_range range = find_range(plan->layout, plan->files->len);
	GString *out = g_string_new(NULL);

	*skipped = 0;
	name_lists_fill(&names, tree);
	append_root(out, &range);
	for (guint i = 0; i < lines->len; i++) {
		const sort_line *line = &g_array_index(lines, sort_line, i);
		int level = level_of(&range, line->rank, plan->files->len);
		g_autofree char *path = mksquashfs_name(tree, &names, line->inode);

		if (!path && alias_dir)
			path = alias_name(alias_dir, aliased, line->inode);
		if (path)
			append_mksquashfs(out, path, level);
		else
			++*skipped;
	}
	prepend_header(out, plan, "mksquashfs -sort", *skipped);
	return out;
}

/*
 * Lower is earlier, 0 is what is not listed. Quotes are broken in 1.2.0. Without them a name is
 * taken as it is, from the first byte that is not blank to the last one: the slashes, which the
 * program drops, protect both ends.
 */
static void append_gensquashfs(GString *out, const char *path, gint64 priority)
{
	gboolean blank_end =
		g_ascii_isspace(path[strlen(path) - 1]) || g_str_has_suffix(path, "\v");

	g_string_append_printf(
		out, "%" G_GINT64_FORMAT " /%s%s\n", priority, path, blank_end ? "/" : "");
}

/* All names of a file: which of them the program takes for the file is its own affair. */
static guint append_names(
	GString *out, const img_tree *tree, guint32 entry, const name_lists *names, gint64 priority)
{
	guint written = 0;

	for (; entry != IMG_NONE; entry = names->next[entry]) {
		g_autofree char *path = img_tree_entry_path(tree, entry);

		if (strchr(path, '\n'))
			continue;
		append_gensquashfs(out, path, priority);
		written++;
	}
	return written;
}

GString *ro_sort_file_gensquashfs(const ro_plan *plan, const img_tree *tree, guint *skipped)
{
	g_autoptr(GArray) lines = make_lines(plan, tree);
	g_auto(name_lists) names = {0};
	gint64 first = plan->layout == RO_LAYOUT_END ? 1 : -(gint64)plan->files->len;
	GString *out = g_string_new(NULL);

	*skipped = 0;
	name_lists_fill(&names, tree);
	for (guint i = 0; i < lines->len; i++) {
		const sort_line *line = &g_array_index(lines, sort_line, i);

		if (append_names(out, tree, names.head[line->inode], &names, first + line->rank) ==
			0)
			++*skipped;
	}
	prepend_header(out, plan, "gensquashfs --sort-file", *skipped);
	return out;
}
