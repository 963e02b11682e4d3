/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/plan.h"

#include <string.h>

#include "reorder/plan/also.h"
#include "reorder/plan/file_data.h"
#include "reorder/plan/order.h"
#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/interrupt.h"

/* A file larger than this, of which less than a quarter was read, must not part small files from
 * each other. */
enum { PARTLY_MIN_SIZE = 1 << 20, PARTLY_SHARE = 4 };

enum { HOW_LOOKUP = -1 }; /* a directory on the way to something */

/* An inode that the boot accessed, or that --also adds; in the order of first accesses. */
typedef struct {
	guint32 inode;
	int how; /* tr_how, HOW_LOOKUP */
	guint64 bytes;
	guint traces;     /* that have it; 0: not merged, or not accessed itself */
	const char *also; /* reason of an added one, or NULL */
} access_note;

typedef struct {
	const img_tree *tree;
	const ro_plan_options *options;
	ro_plan *plan;
	guint32 *note_of; /* for every inode its note or IMG_NONE */
	GArray *notes;
	guint32 *positions; /* of every inode, that of its first name in ro_order_walk */
} planner;

typedef struct {
	ro_order_key key;
	const access_note *note;
} hot_file;

void ro_plan_free(ro_plan *plan)
{
	if (!plan)
		return;
	g_array_unref(plan->files);
	g_array_unref(plan->dirs);
	g_array_unref(plan->symlinks);
	g_free(plan->first_unmatched);
	g_array_unref(plan->also_names);
	ro_differences_clear(&plan->differences);
	g_string_chunk_free(plan->strings);
	g_free(plan);
}

static ro_plan *plan_alloc(const ro_plan_options *options)
{
	ro_plan *plan = g_new0(ro_plan, 1);

	plan->order = options->order;
	plan->layout = options->layout;
	plan->files = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	plan->dirs = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	plan->symlinks = g_array_new(FALSE, FALSE, sizeof(ro_plan_item));
	plan->also_names = g_array_new(FALSE, FALSE, sizeof(guint));
	plan->strings = g_string_chunk_new(256);
	return plan;
}

static void planner_clear(planner *p)
{
	ro_plan_free(p->plan);
	g_free(p->note_of);
	g_free(p->positions);
	g_clear_pointer(&p->notes, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(planner, planner_clear)

/* Hard links and other names of an inode are one: the earliest access counts, and the most that was
 * read. */
static void note(planner *p, const access_note *new)
{
	guint32 index = p->note_of[new->inode];
	access_note *old;

	if (index == IMG_NONE) {
		p->note_of[new->inode] = p->notes->len;
		g_array_append_val(p->notes, *new);
		return;
	}
	old = &g_array_index(p->notes, access_note, index);
	old->how = MAX(old->how, new->how);
	old->bytes = MAX(old->bytes, new->bytes);
	old->traces = MAX(old->traces, new->traces);
}

/* The directories on the way to an inode, the root first. */
static void note_parents(planner *p, guint32 inode, const char *also)
{
	g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(guint32));
	guint32 entry = img_tree_inode(p->tree, inode)->first_entry;

	while (entry != IMG_NONE) {
		guint32 parent = img_tree_entry(p->tree, entry)->parent;
		guint32 directory = parent == IMG_NONE ? 0 : img_tree_entry(p->tree, parent)->inode;

		if (p->note_of[directory] != IMG_NONE)
			break;
		g_array_append_val(parents, directory);
		entry = parent;
	}
	for (guint i = parents->len; i > 0; i--) {
		access_note n = {.inode = g_array_index(parents, guint32, i - 1),
			.how = HOW_LOOKUP,
			.also = also};

		note(p, &n);
	}
}

/* FALSE if the image has no such path. */
static gboolean note_event(planner *p, const tr_event *event)
{
	access_note n = {.how = event->how, .bytes = event->bytes, .traces = event->traces};

	n.inode = img_tree_resolve(p->tree, event->path, event->kind != TR_SYMLINK);
	if (n.inode == IMG_NONE)
		return FALSE;
	note_parents(p, n.inode, NULL);
	note(p, &n);
	return TRUE;
}

static gboolean is_ours(const planner *p, const tr_event *event)
{
	return !p->options->image || g_strcmp0(event->image, p->options->image) == 0;
}

static gboolean note_trace(planner *p, const tr_trace *trace, guint *total, GError **error)
{
	for (guint i = 0; i < trace->events->len; i++) {
		const tr_event *event = g_ptr_array_index(trace->events, i);

		if (ro_interrupted(error))
			return FALSE;
		if (!is_ours(p, event))
			continue;
		++*total;
		if (note_event(p, event))
			continue;
		if (p->plan->unmatched++ == 0)
			p->plan->first_unmatched = g_strdup(event->path);
	}
	return TRUE;
}

static gboolean check_match(const planner *p, guint total, GError **error)
{
	const char *label = img_tree_source(p->tree)->label;
	g_autofree char *example = NULL;

	if (total == 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: the trace has no event of this image; record one of this ISO", label);
	if (p->plan->unmatched <= total / 2)
		return TRUE;
	example = ro_escape_utf8(p->plan->first_unmatched);
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: only %u of the %u traced paths are in it (%s is not), the trace is of another build; record a new one",
		label, total - p->plan->unmatched, total, example);
}

static gboolean add_trace(planner *p, const tr_trace *trace, GError **error)
{
	guint total = 0;

	if (!trace)
		return TRUE;
	return note_trace(p, trace, &total, error) && check_match(p, total, error);
}

static gboolean in_some_only(const planner *p, const access_note *n)
{
	return n->traces > 0 && n->traces < p->plan->differences.traces;
}

static void find_differences(planner *p, const tr_trace *trace)
{
	ro_differences *differences = &p->plan->differences;
	g_autoptr(GArray) inodes = g_array_new(FALSE, FALSE, sizeof(guint32));

	differences->traces = trace ? trace->merged : 0;
	for (guint i = 0; i < p->notes->len; i++) {
		const access_note *n = &g_array_index(p->notes, access_note, i);

		if (in_some_only(p, n))
			g_array_append_val(inodes, n->inode);
		else if (n->traces > 0)
			differences->in_all++;
	}
	ro_differences_find(differences, p->tree, inodes);
}

static gboolean add_also(planner *p, const char *kernel, GError **error)
{
	const char *const *values = p->options->also;
	g_autoptr(GArray) files = NULL;

	if (!values || !values[0])
		return TRUE;
	files = ro_also_find(
		p->tree, values, kernel, p->plan->differences.groups, p->plan->also_names, error);
	for (guint i = 0; files && i < files->len; i++) {
		const ro_also_file *file = &g_array_index(files, ro_also_file, i);
		g_autofree char *value = ro_escape(values[file->value]);
		g_autofree char *reason = g_strconcat("also ", value, NULL);
		const char *kept = g_string_chunk_insert_const(p->plan->strings, reason);
		access_note n = {.inode = file->inode,
			.how = TR_OPEN,
			.bytes = TR_BYTES_UNKNOWN,
			.also = kept};

		if (p->note_of[file->inode] != IMG_NONE)
			continue;
		note_parents(p, n.inode, kept);
		note(p, &n);
	}
	return files != NULL;
}

static gboolean partly_read(const img_inode *inode, const access_note *n)
{
	if (inode->size <= PARTLY_MIN_SIZE || n->bytes == TR_BYTES_UNKNOWN)
		return FALSE;
	return n->bytes < inode->size / PARTLY_SHARE;
}

static const char *reason_of(const planner *p, const access_note *n, const char *reason)
{
	g_autofree char *text = NULL;

	if (n->also)
		return n->also;
	if (!reason)
		reason = n->how == HOW_LOOKUP ? "lookup" : tr_how_name((tr_how)n->how);
	if (!in_some_only(p, n))
		return reason;
	text = g_strdup_printf(
		"%s, %u of %u traces", reason, n->traces, p->plan->differences.traces);
	return g_string_chunk_insert_const(p->plan->strings, text);
}

static void append_item(GArray *items, const access_note *n, const char *reason, gboolean partly)
{
	ro_plan_item item = {
		.inode = n->inode,
		.group = n->also ? RO_GROUP_CLASS : RO_GROUP_HOT,
		.rank = items->len,
		.reason = reason,
		.partly = partly,
	};

	g_array_append_val(items, item);
}

/* Sorts one part of the files and puts it behind the parts before. */
static void append_files(planner *p, GArray *part, gboolean partly)
{
	const char *reason = partly ? "partly read" : NULL;

	ro_order_sort(part, p->options->order, p->options->seed);
	for (guint i = 0; i < part->len; i++) {
		const access_note *n = g_array_index(part, hot_file, i).note;

		append_item(p->plan->files, n, reason_of(p, n, reason), partly);
	}
}

static hot_file make_file(const planner *p, guint index)
{
	const access_note *n = &g_array_index(p->notes, access_note, index);
	const img_inode *inode = img_tree_inode(p->tree, n->inode);
	ro_order_key key = {n->inode, index, p->positions[n->inode], inode->size};

	return (hot_file){key, n};
}

/* Three parts: read, partly read, added. */
static void plan_files(planner *p)
{
	g_autoptr(GArray) whole = g_array_new(FALSE, FALSE, sizeof(hot_file));
	g_autoptr(GArray) partly = g_array_new(FALSE, FALSE, sizeof(hot_file));
	g_autoptr(GArray) added = g_array_new(FALSE, FALSE, sizeof(hot_file));

	for (guint i = 0; i < p->notes->len; i++) {
		const access_note *n = &g_array_index(p->notes, access_note, i);
		const img_inode *inode = img_tree_inode(p->tree, n->inode);
		hot_file file;

		if (!ro_has_data(inode))
			continue;
		file = make_file(p, i);
		if (n->also)
			g_array_append_val(added, file);
		else if (partly_read(inode, n))
			g_array_append_val(partly, file);
		else
			g_array_append_val(whole, file);
	}
	p->plan->hot_files = whole->len + partly->len;
	append_files(p, whole, FALSE);
	append_files(p, partly, TRUE);
	append_files(p, added, FALSE);
}

static void plan_others(planner *p)
{
	for (guint i = 0; i < p->notes->len; i++) {
		const access_note *n = &g_array_index(p->notes, access_note, i);
		img_type type = img_tree_inode(p->tree, n->inode)->type;

		if (type == IMG_DIR)
			append_item(p->plan->dirs, n, reason_of(p, n, NULL), FALSE);
		else if (type == IMG_SYMLINK)
			append_item(p->plan->symlinks, n, reason_of(p, n, NULL), FALSE);
	}
}

static void count_bytes(ro_plan *plan, const img_tree *tree)
{
	g_autofree guint32 *fill = ro_fragment_fill(tree);
	g_autoptr(GHashTable) counted = g_hash_table_new(ro_data_hash, ro_data_equal);

	for (guint i = 0; i < plan->hot_files; i++) {
		guint32 index = g_array_index(plan->files, ro_plan_item, i).inode;
		const img_inode *inode = img_tree_inode(tree, index);

		plan->hot_bytes += inode->size;
		if (g_hash_table_add(counted, (gpointer)inode))
			plan->hot_stored += ro_stored_bytes(tree, inode, fill);
	}
}

static guint32 *inode_positions(const img_tree *tree)
{
	g_autofree guint32 *walk = ro_order_walk(tree);
	guint32 count = img_tree_inode_count(tree);
	guint32 *positions = g_new(guint32, count);

	memset(positions, 0xff, count * sizeof(*positions));
	for (guint32 e = 0; e < img_tree_entry_count(tree); e++) {
		guint32 inode = img_tree_entry(tree, e)->inode;

		positions[inode] = MIN(positions[inode], walk[e]);
	}
	return positions;
}

ro_plan *ro_plan_new(
	const img_tree *tree, const tr_trace *trace, const ro_plan_options *options, GError **error)
{
	g_auto(planner) p = {.tree = tree, .options = options};
	guint32 inodes = img_tree_inode_count(tree);

	p.plan = plan_alloc(options);
	p.notes = g_array_new(FALSE, FALSE, sizeof(access_note));
	p.note_of = g_new(guint32, inodes);
	memset(p.note_of, 0xff, inodes * sizeof(*p.note_of)); /* IMG_NONE */
	if (!add_trace(&p, trace, error))
		return NULL;
	find_differences(&p, trace);
	if (!add_also(&p, trace ? trace->kernel_version : NULL, error))
		return NULL;
	p.positions = inode_positions(tree);
	plan_files(&p);
	plan_others(&p);
	count_bytes(p.plan, tree);
	return g_steal_pointer(&p.plan);
}
