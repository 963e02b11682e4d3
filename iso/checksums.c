/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/checksums.h"

#include <string.h>
#include <sys/stat.h>

#include "iso/checksum_line.h"
#include "iso/boot_config.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/error.h"
#include "reorder/util/hash.h"
#include "reorder/util/interrupt.h"
#include "reorder/util/pair.h"

#define MAX_LIST (16u << 20)      /* bytes of a list */
#define MAX_ALL_LISTS (64u << 20) /* bytes of all lists */

enum { CHUNK = 1 << 20, MAX_LISTS = 4096, MAX_ROUNDS = 16, MAX_SYMLINKS = 8 };

/* Bytes of a name; no path in a tree is longer. */
enum { MAX_NAME = 8192 };

static const char *const signature_suffixes[] = {".gpg", ".asc", ".sig", ".sign"};

/* A line of a list of the ISO, and the file it is about. */
typedef struct {
	guint64 position; /* of the digest, bytes into the list */
	guint digits;     /* hex */
	ro_hash_type type;
	gboolean supported;
	const li_node *target;
} entry;

typedef struct {
	const li_node *node; /* in the new tree */
	GArray *entries;     /* of entry */
	gboolean done;
} list;

/* The digests of one file, before and after. */
typedef struct {
	char *before[RO_HASH_COUNT], *after[RO_HASH_COUNT];
} digests;

typedef struct {
	li_overlay *old_iso, *new_iso;
	const li_tree *old_tree, *new_tree;
	GPtrArray *lists;
	GHashTable *changed;
	GHashTable *wanted;  /* path → GUINT of the types that lines need, as bits */
	GHashTable *hashes;  /* path → digests */
	GHashTable *at_list; /* path of a list → list */
	li_write_result *result;
	ro_progress *progress;
} update;

static void list_free(gpointer data)
{
	list *l = data;

	g_array_unref(l->entries);
	g_free(l);
}

static void digests_free(gpointer data)
{
	digests *d = data;

	for (guint i = 0; i < RO_HASH_COUNT; i++) {
		g_free(d->before[i]);
		g_free(d->after[i]);
	}
	g_free(d);
}

static const li_node *follow(const li_tree *tree, const li_node *node)
{
	for (guint i = 0; i < MAX_SYMLINKS && node && node->target; i++) {
		g_autofree char *dir = g_path_get_dirname(node->path);
		g_autofree char *path = li_config_path(dir, node->target);

		node = li_tree_find(tree, path);
	}
	return node;
}

/* Names are relative to the list's directory or to the root of the ISO; a digest alone is of the
 * file without the suffix. */
static const li_node *find_target(const li_tree *tree, const char *list_path, const char *name)
{
	g_autofree char *dir = g_path_get_dirname(list_path);
	g_autofree char *beside = NULL, *below_root = NULL;
	const li_node *node;

	if (name && strlen(name) > MAX_NAME)
		return NULL;
	if (!name) {
		const char *dot = strrchr(list_path, '.');

		beside = g_strndup(list_path, dot ? (gsize)(dot - list_path) : 0);
		return li_tree_find(tree, beside);
	}
	/* g_canonicalize_filename takes quadratic time. */
	beside = li_config_path(dir, *name == '/' ? name + 1 : name);
	below_root = li_config_path("/", name);
	node = li_tree_find(tree, beside);
	return follow(tree, node ? node : li_tree_find(tree, below_root));
}

static void take_line(const li_tree *tree, list *l, const char *text, gsize at, gsize length)
{
	li_sum_line sum;
	entry e = {0};

	if (!li_sum_parse(text + at, length, l->node->path, &sum))
		return;
	e.target = find_target(tree, l->node->path, sum.name);
	g_free(sum.name);
	if (!e.target || !S_ISREG(e.target->mode) || e.target == l->node)
		return;
	e.position = at + sum.offset;
	e.digits = sum.digits;
	e.supported = sum.supported;
	e.type = sum.type;
	g_array_append_val(l->entries, e);
}

/* NULL, without an error, if the node is no list after all. */
static list *list_read(
	const li_overlay *iso, const li_tree *tree, const li_node *node, GError **error)
{
	g_autofree char *text = g_malloc(node->size + 1);
	list *l;

	if (!li_overlay_read_node(iso, node, 0, text, node->size, error))
		return NULL;
	text[node->size] = '\0';
	l = g_new0(list, 1);
	l->node = node;
	l->entries = g_array_new(FALSE, FALSE, sizeof(entry));
	for (gsize at = 0; at < node->size;) {
		const char *end = memchr(text + at, '\n', node->size - at);
		gsize length = end ? (gsize)(end - text) - at : node->size - at;

		take_line(tree, l, text, at, length);
		at += length + 1;
	}
	if (l->entries->len)
		return l;
	list_free(l);
	return NULL;
}

static gboolean may_be_list(const li_node *node)
{
	return S_ISREG(node->mode) && node->size && node->size <= MAX_LIST &&
	       li_sums_is_list(node->path);
}

/* All lists of a tree; another name of the same file counts once. */
static GPtrArray *lists_read(const li_overlay *iso, const li_tree *tree, GError **error)
{
	g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(list_free);
	g_autoptr(GHashTable) seen =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	guint64 bytes = 0;

	for (guint i = 0; i < tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(tree->nodes, i);
		guint64 start = li_node_start(node);
		GError *failure = NULL;
		list *l;

		if (!may_be_list(node) || !g_hash_table_add(seen, g_memdup2(&start, sizeof(start))))
			continue;
		bytes += node->size;
		if (bytes > MAX_ALL_LISTS)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				       "%s: more than %u MiB of checksum lists", node->path,
				       MAX_ALL_LISTS >> 20),
			       NULL;
		l = list_read(iso, tree, node, &failure);
		if (failure) {
			g_propagate_error(error, failure);
			return NULL;
		}
		if (l)
			g_ptr_array_add(lists, l);
		if (lists->len > MAX_LISTS)
			return ro_fail(error, RO_ERROR_UNSUITABLE, "more than %d checksum lists",
				       MAX_LISTS),
			       NULL;
	}
	return g_steal_pointer(&lists);
}

static gboolean is_clearsigned(int fd, const li_node *node)
{
	static const char mark[] = "-----BEGIN PGP SIGNED MESSAGE-----";
	char start[sizeof(mark) - 1];

	return node->size >= sizeof(start) &&
	       li_node_read(fd, node, 0, start, sizeof(start), NULL) &&
	       !memcmp(start, mark, sizeof(start));
}

static gboolean list_has(const list *l, const li_node *target)
{
	for (guint i = 0; i < l->entries->len; i++)
		if (g_array_index(l->entries, entry, i).target == target)
			return TRUE;
	return FALSE;
}

gboolean li_sums_check(int fd, const li_tree *tree, const char *path, GError **error)
{
	g_autoptr(li_overlay) iso = li_overlay_new(fd, G_MAXINT64);
	g_autoptr(GPtrArray) lists = lists_read(iso, tree, error);
	const li_node *target = li_tree_find(tree, path);

	for (guint i = 0; lists && i < lists->len; i++) {
		const list *l = g_ptr_array_index(lists, i);

		if (!list_has(l, target))
			continue;
		if (is_clearsigned(fd, l->node))
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: a signed checksum list, which would be wrong afterwards; make the ISO without it",
				l->node->path);
		for (guint k = 0; k < G_N_ELEMENTS(signature_suffixes); k++) {
			g_autofree char *signature =
				g_strconcat(l->node->path, signature_suffixes[k], NULL);

			if (li_tree_find(tree, signature))
				return ro_fail(error, RO_ERROR_UNSUITABLE,
					"%s: the signature of a checksum list, which would be wrong afterwards; "
					"make the ISO without it",
					signature);
		}
	}
	return lists != NULL;
}

/* One pass over a file with all the checksums that lines want. */
typedef struct {
	const li_overlay *iso;
	const li_node *node;
	guint mask;    /* types, as bits */
	char **digest; /* [RO_HASH_COUNT] */
	ro_progress *progress;
	GError *error;
} hashing;

static gboolean hash_chunks(hashing *h, ro_hash *sums[RO_HASH_COUNT])
{
	g_autofree guint8 *buffer = g_malloc(CHUNK);

	for (guint64 at = 0; at < h->node->size; at += CHUNK) {
		gsize size = MIN(CHUNK, h->node->size - at);

		if (ro_interrupted(&h->error) ||
			!li_overlay_read_node(h->iso, h->node, at, buffer, size, &h->error))
			return FALSE;
		for (guint i = 0; i < RO_HASH_COUNT; i++)
			if (sums[i])
				ro_hash_add(sums[i], buffer, size);
		ro_progress_update(h->progress, (double)at, (double)h->node->size, h->node->path);
	}
	return TRUE;
}

static gpointer hash(gpointer data)
{
	hashing *h = data;
	ro_hash *sums[RO_HASH_COUNT] = {0};
	gboolean fine;

	for (guint i = 0; i < RO_HASH_COUNT; i++)
		if (h->mask & (1u << i))
			sums[i] = ro_hash_new(i);
	fine = hash_chunks(h, sums);
	for (guint i = 0; i < RO_HASH_COUNT; i++) {
		if (fine && sums[i])
			h->digest[i] = ro_hash_hex(sums[i]);
		ro_hash_free(sums[i]);
	}
	return NULL;
}

static digests *digests_of(update *u, const char *path, GError **error)
{
	digests *d = g_hash_table_lookup(u->hashes, path);
	guint mask = GPOINTER_TO_UINT(g_hash_table_lookup(u->wanted, path));
	hashing before = {.iso = u->old_iso, .node = li_tree_find(u->old_tree, path), .mask = mask};
	hashing after = {.iso = u->new_iso,
		.node = li_tree_find(u->new_tree, path),
		.mask = mask,
		.progress = u->progress};

	if (d)
		return d;
	if (!before.node || !after.node)
		return ro_fail(error, RO_ERROR_FAILED, "new ISO:%s: missing; please report this",
			       path),
		       NULL;
	d = g_new0(digests, 1);
	before.digest = d->before;
	after.digest = d->after;
	g_hash_table_insert(u->hashes, (gpointer)after.node->path, d);
	/* At the same time: it is what writing takes longest for. */
	gboolean fine = ro_pair_run(
		hash, (ro_half){&before, &before.error}, (ro_half){&after, &after.error}, error);
	return fine ? d : NULL;
}

/* As many upper-case digits as the line had: none or all. */
static char *in_case_of(const char *digest, const char *line)
{
	for (const char *p = line; *p; p++)
		if (g_ascii_isupper(*p))
			return g_ascii_strup(digest, -1);
	return g_strdup(digest);
}

static gboolean update_entry(
	update *u, const list *l, const entry *e, gboolean *written, GError **error)
{
	g_autofree char *line = NULL, *digest = NULL;
	digests *d = digests_of(u, e->target->path, error);
	guint digits = e->digits;

	if (!d)
		return FALSE;
	line = g_malloc0(digits + 1);
	if (!li_overlay_read_node(u->new_iso, l->node, e->position, line, digits, error))
		return FALSE;
	if (g_ascii_strcasecmp(line, d->before[e->type])) {
		u->result->lines_left_wrong++;
		return TRUE;
	}
	u->result->lines_updated++;
	digest = in_case_of(d->after[e->type], line);
	*written = TRUE;
	return li_overlay_put_node(u->new_iso, l->node, e->position, digest, digits, error);
}

static gboolean update_list(update *u, list *l, GError **error)
{
	gboolean written = FALSE;

	l->done = TRUE;
	for (guint i = 0; i < l->entries->len; i++) {
		const entry *e = &g_array_index(l->entries, entry, i);

		if (!g_hash_table_contains(u->changed, e->target->path))
			continue;
		if (!e->supported) {
			ro_warn("%s: its line for %s is wrong now; this kind of checksum can't be renewed",
				l->node->path, e->target->path);
			u->result->lines_left_wrong++;
		} else if (!update_entry(u, l, e, &written, error)) {
			return FALSE;
		}
	}
	if (written)
		g_hash_table_add(u->changed, g_strdup(l->node->path));
	return TRUE;
}

/* A list has to wait for the lists that are listed in it. */
static gboolean must_wait(const update *u, const list *l)
{
	for (guint i = 0; i < l->entries->len; i++) {
		const entry *e = &g_array_index(l->entries, entry, i);
		const list *other = g_hash_table_lookup(u->at_list, e->target->path);

		if (other && !other->done)
			return TRUE;
	}
	return FALSE;
}

/* Of lists that list each other at most one can be right, so any order will do for the rest. */
static gboolean update_lists(update *u, GError **error)
{
	gboolean moved = TRUE;

	for (guint round = 0; moved && round < MAX_ROUNDS; round++) {
		moved = FALSE;
		for (guint i = 0; i < u->lists->len; i++) {
			list *l = g_ptr_array_index(u->lists, i);

			if (l->done || must_wait(u, l))
				continue;
			moved = TRUE;
			if (!update_list(u, l, error))
				return FALSE;
		}
	}
	for (guint i = 0; i < u->lists->len; i++) {
		list *l = g_ptr_array_index(u->lists, i);

		if (!l->done && !update_list(u, l, error))
			return FALSE;
	}
	return TRUE;
}

static void note_wanted(update *u)
{
	for (guint i = 0; i < u->lists->len; i++) {
		list *l = g_ptr_array_index(u->lists, i);

		g_hash_table_insert(u->at_list, (gpointer)l->node->path, l);
		for (guint k = 0; k < l->entries->len; k++) {
			const entry *e = &g_array_index(l->entries, entry, k);
			gpointer key = e->target->path;
			guint mask = GPOINTER_TO_UINT(g_hash_table_lookup(u->wanted, key));

			if (e->supported)
				mask |= 1u << e->type;
			g_hash_table_insert(u->wanted, key, GUINT_TO_POINTER(mask));
		}
	}
}

gboolean li_sums_update(int old_fd, const li_tree *old_tree, li_overlay *new_iso,
	const li_tree *new_tree, GHashTable *changed, li_write_result *result,
	ro_progress *progress, GError **error)
{
	g_autoptr(li_overlay) old_iso = li_overlay_new(old_fd, G_MAXINT64);
	g_autoptr(GPtrArray) lists = lists_read(new_iso, new_tree, error);
	g_autoptr(GHashTable) wanted = g_hash_table_new(ro_bytes_hash, g_str_equal);
	g_autoptr(GHashTable) at_list = g_hash_table_new(ro_bytes_hash, g_str_equal);
	g_autoptr(GHashTable) hashes =
		g_hash_table_new_full(ro_bytes_hash, g_str_equal, NULL, digests_free);
	update u = {.old_iso = old_iso,
		.new_iso = new_iso,
		.old_tree = old_tree,
		.new_tree = new_tree,
		.lists = lists,
		.changed = changed,
		.wanted = wanted,
		.hashes = hashes,
		.at_list = at_list,
		.result = result,
		.progress = progress};

	if (!lists)
		return FALSE;
	result->lists += lists->len;
	note_wanted(&u);
	return update_lists(&u, error);
}
