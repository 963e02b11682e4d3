/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/volume_tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/image/le.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum {
	FIRST_DESCRIPTOR = 16,
	MAX_DESCRIPTORS = 64,
	RECORD_MIN = 34, /* ECMA-119 9.1 */
	MAX_NODES = 1 << 20,
	MAX_DEPTH = 256,
	MAX_PATH = 8192,
	MAX_CONTINUATIONS = 32,
	CONTINUATION_MIN = 28, /* an entry that leads to the next one */
};

#define MAX_DIRECTORY (64u << 20)           /* bytes of one directory */
#define MAX_PATH_BYTES ((guint64)256 << 20) /* of all paths */

/* What is still to be read. */
typedef struct {
	guint64 offset;
	guint32 size;
	guint depth;
	const li_node *node;
} pending_dir;

typedef struct {
	int fd;
	const char *label;
	gboolean joliet;
	guint skip; /* SUSP: bytes to leave out before the entries */
	li_tree *tree;
	GHashTable *seen; /* offsets of directories */
	GQueue queue;     /* of pending_dir */
	/* Areas that overlap would make few bytes into many: no more is read than is there. */
	guint64 directory_bytes, continuation_bytes;
	guint64 path_bytes, file_size;
	gboolean root_done;
} reader;

/* What the System Use field of one record says. */
typedef struct {
	GString *name, *target;
	gboolean has_attributes, relocated, target_open;
	guint32 child_link; /* sector of a relocated directory, 0 if none */
	guint32 ce_sector, ce_offset, ce_size;
} susp;

static void node_free(gpointer data)
{
	li_node *node = data;

	g_free(node->path);
	g_free(node->record_name);
	g_free(node->target);
	if (node->extents)
		g_array_unref(node->extents);
	g_free(node);
}

void li_tree_free(li_tree *tree)
{
	if (!tree)
		return;
	g_hash_table_unref(tree->by_path);
	g_ptr_array_unref(tree->nodes);
	g_free(tree->relocations);
	g_free(tree);
}

const li_node *li_tree_find(const li_tree *tree, const char *path)
{
	return g_hash_table_lookup(tree->by_path, path);
}

static gboolean read_at(
	int fd, const char *label, guint64 offset, void *buffer, gsize size, GError **error)
{
	const img_source all = {.fd = fd, .offset = 0, .size = G_MAXINT64, .label = label};

	return img_source_read(&all, offset, buffer, size, error);
}

guint64 li_node_start(const li_node *node)
{
	return node->extents && node->extents->len
		       ? g_array_index(node->extents, li_extent, 0).offset
		       : 0;
}

gboolean li_node_place(const li_node *node, guint64 position, guint64 *offset, guint64 *length)
{
	for (guint i = 0; node->extents && i < node->extents->len; i++) {
		const li_extent *extent = &g_array_index(node->extents, li_extent, i);

		if (position < extent->length) {
			*offset = extent->offset + position;
			*length = extent->length - position;
			return TRUE;
		}
		position -= extent->length;
	}
	return FALSE;
}

gboolean li_node_read(
	int fd, const li_node *node, guint64 position, void *buffer, gsize size, GError **error)
{
	guint8 *at = buffer;
	guint64 offset, length;

	while (size) {
		if (!li_node_place(node, position, &offset, &length))
			return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: shorter than it should be",
				node->path);
		length = MIN(length, size);
		if (!read_at(fd, node->path, offset, at, length, error))
			return FALSE;
		at += length;
		position += length;
		size -= length;
	}
	return TRUE;
}

static gboolean is_kind(const guint8 *vd, li_vd_kind kind)
{
	gboolean escape =
		vd[88] == '%' && vd[89] == '/' && (vd[90] == '@' || vd[90] == 'C' || vd[90] == 'E');

	switch (kind) {
	case LI_VD_PRIMARY:
		return vd[0] == 1;
	case LI_VD_JOLIET:
		return vd[0] == 2 && vd[6] == 1 && escape;
	default:
		return vd[0] == 2 && vd[6] == 2;
	}
}

gboolean li_vd_find(int fd, guint64 base, li_vd_kind kind, guint64 *offset, GError **error)
{
	guint8 vd[LI_SECTOR];

	*offset = 0;
	for (guint i = FIRST_DESCRIPTOR; i < FIRST_DESCRIPTOR + MAX_DESCRIPTORS; i++) {
		guint64 at = base + (guint64)i * LI_SECTOR;

		if (!read_at(fd, "volume descriptors", at, vd, sizeof(vd), error))
			return FALSE;
		if (memcmp(vd + 1, "CD001", 5) || vd[0] == 255)
			return TRUE;
		if (is_kind(vd, kind)) {
			*offset = at;
			return TRUE;
		}
	}
	return TRUE;
}

static gint64 epoch(int year, int month, int day, int hour, int minute, int second, gint8 quarters)
{
	g_autoptr(GDateTime) time = g_date_time_new_utc(year, month, day, hour, minute, second);

	return time ? g_date_time_to_unix(time) - (gint64)quarters * 15 * 60 : LI_NO_TIME;
}

/* ECMA-119 9.1.5 */
static gint64 short_time(const guint8 *t)
{
	return epoch(1900 + t[0], t[1], t[2], t[3], t[4], t[5], (gint8)t[6]);
}

/* ECMA-119 8.4.26.1 */
static gint64 long_time(const guint8 *t)
{
	int v[6];
	static const guint8 widths[6] = {4, 2, 2, 2, 2, 2};

	for (int i = 0, at = 0; i < 6; i++) {
		v[i] = 0;
		for (int k = 0; k < widths[i]; k++, at++)
			v[i] = v[i] * 10 + (g_ascii_isdigit(t[at]) ? t[at] - '0' : 0);
	}
	return epoch(v[0], v[1], v[2], v[3], v[4], v[5], (gint8)t[16]);
}

/* RRIP 4.1.6; backup, expiration and effective times are not kept by anyone. */
static void take_times(li_node *node, const guint8 *e, guint size)
{
	gboolean is_long = size > 4 && (e[4] & 0x80);
	guint width = is_long ? 17 : 7, at = 5;

	for (guint i = 0; i < LI_TIME_COUNT && size > 4; i++) {
		if (!(e[4] & (1u << i)))
			continue;
		if (at + width > size)
			return;
		node->times[i] = is_long ? long_time(e + at) : short_time(e + at);
		at += width;
	}
}

/* RRIP 4.1.3.1: the components of a symlink. */
static void take_target(susp *s, const guint8 *e, guint size)
{
	for (guint at = 5; at + 2 <= size && at + 2 + e[at + 1] <= size; at += 2 + e[at + 1]) {
		guint8 flags = e[at];

		if (s->target->len && !s->target_open && s->target->str[s->target->len - 1] != '/')
			g_string_append_c(s->target, '/');
		s->target_open = flags & 1;
		if (flags & 2)
			g_string_append_c(s->target, '.');
		else if (flags & 4)
			g_string_append(s->target, "..");
		else if (flags & 8)
			g_string_append_c(s->target, '/');
		else
			g_string_append_len(s->target, (const char *)e + at + 2, e[at + 1]);
	}
}

static void take_attributes(reader *r, li_node *node, susp *s, const guint8 *e, guint size)
{
	r->tree->px_with_serial |= size >= 44;
	node->mode = img_le32(e + 4);
	node->uid = img_le32(e + 20);
	node->gid = img_le32(e + 28);
	s->has_attributes = TRUE;
}

static void take_entry(reader *r, li_node *node, susp *s, const guint8 *e, guint size)
{
	const guint16 tag = (guint16)(e[0] << 8 | e[1]);

#define TAG(a, b) ((guint16)((a) << 8 | (b)))
	if (tag == TAG('P', 'X') && size >= 36)
		take_attributes(r, node, s, e, size);
	else if (tag == TAG('N', 'M') && size >= 5 && !(e[4] & 6))
		g_string_append_len(s->name, (const char *)e + 5, size - 5);
	else if (tag == TAG('T', 'F'))
		take_times(node, e, size);
	else if (tag == TAG('S', 'L') && size >= 5)
		take_target(s, e, size);
	else if (tag == TAG('P', 'N') && size >= 20) {
		node->rdev_high = img_le32(e + 4);
		node->rdev_low = img_le32(e + 12);
	} else if (tag == TAG('C', 'L') && size >= 12)
		s->child_link = img_le32(e + 4);
	else if (tag == TAG('R', 'E'))
		s->relocated = TRUE;
	else if (tag == TAG('Z', 'F') || tag == TAG('Z', '2'))
		node->zisofs = TRUE;
	else if (tag == TAG('A', 'L') || tag == TAG('A', 'A'))
		node->aaip = TRUE;
	else if (tag == TAG('S', 'P') && size >= 7 && e[4] == 0xbe && e[5] == 0xef && !r->root_done)
		r->skip = e[6];
	else if (tag == TAG('C', 'E') && size >= 28) {
		s->ce_sector = img_le32(e + 4);
		s->ce_offset = img_le32(e + 12);
		s->ce_size = img_le32(e + 20);
	}
#undef TAG
}

static void take_area(reader *r, li_node *node, susp *s, const guint8 *area, gsize size)
{
	s->ce_size = 0;
	for (gsize at = 0; at + 4 <= size && area[at + 2] >= 4 && at + area[at + 2] <= size;
		at += area[at + 2]) {
		if (area[at] == 'S' && area[at + 1] == 'T')
			return;
		take_entry(r, node, s, area + at, area[at + 2]);
	}
}

static gboolean take_susp(
	reader *r, li_node *node, susp *s, const guint8 *record, gsize start, GError **error)
{
	guint8 block[LI_SECTOR];

	if (r->joliet || start > record[0])
		return TRUE;
	take_area(r, node, s, record + start, record[0] - start);
	for (guint i = 0; s->ce_size; i++) {
		guint64 offset = (guint64)s->ce_sector * LI_SECTOR + s->ce_offset;
		guint32 size = s->ce_size;

		r->continuation_bytes += MAX(size, CONTINUATION_MIN);
		if (i >= MAX_CONTINUATIONS || size > sizeof(block) ||
			r->continuation_bytes > r->file_size)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: broken Rock Ridge continuation; make the ISO again", r->label);
		if (!read_at(r->fd, r->label, offset, block, size, error))
			return FALSE;
		take_area(r, node, s, block, size);
	}
	return TRUE;
}

/* Joliet: UCS-2 or UTF-16, big-endian; each unit for itself, so that nothing is lost. */
static char *record_name(const reader *r, const guint8 *record)
{
	guint length = record[32];
	GString *name = g_string_new(NULL);

	if (!r->joliet)
		return g_string_free(
			g_string_append_len(name, (const char *)record + 33, length), FALSE);
	for (guint i = 0; i + 1 < length; i += 2)
		g_string_append_unichar(name, (gunichar)(record[33 + i] << 8 | record[34 + i]));
	return g_string_free(name, FALSE);
}

/* Without Rock Ridge the version is no part of the name. */
static char *plain_name(const char *record_name)
{
	gsize length = strlen(record_name);

	if (length > 2 && g_str_has_suffix(record_name, ";1"))
		length -= 2;
	if (length > 1 && record_name[length - 1] == '.')
		length--;
	return g_strndup(record_name, length);
}

static gboolean set_path(
	reader *r, li_node *node, const li_node *parent, const char *name, GError **error)
{
	if (!*name || strchr(name, '/') || g_str_equal(name, ".") || g_str_equal(name, ".."))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: a file has an impossible name; make the ISO again", r->label);
	node->path = g_strconcat(parent->path[1] ? parent->path : "", "/", name, NULL);
	r->path_bytes += strlen(node->path);
	if (strlen(node->path) > MAX_PATH || r->path_bytes > MAX_PATH_BYTES ||
		r->tree->nodes->len >= MAX_NODES)
		return ro_fail(
			error, RO_ERROR_UNSUITABLE, "%s: too many or too long paths", r->label);
	return TRUE;
}

static gboolean queue_dir(
	reader *r, const li_node *node, guint64 offset, guint32 size, guint depth, GError **error)
{
	pending_dir *dir;
	guint64 *key;

	if (depth > MAX_DEPTH || size > MAX_DIRECTORY)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: directory is too deep or too large", r->label, node->path);
	r->directory_bytes += size;
	key = g_memdup2(&offset, sizeof(offset));
	if (!g_hash_table_add(r->seen, key) || r->directory_bytes > r->file_size)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: directories that contain each other; make the ISO again", r->label,
			node->path);
	dir = g_new(pending_dir, 1);
	*dir = (pending_dir){offset, size, depth, node};
	g_queue_push_tail(&r->queue, dir);
	return TRUE;
}

static li_node *node_new(const guint8 *record)
{
	li_node *node = g_new0(li_node, 1);

	node->record_flags = record[25] & 5; /* hidden, associated */
	node->mode = (record[25] & 2) ? S_IFDIR : S_IFREG;
	for (guint i = 0; i < LI_TIME_COUNT; i++)
		node->times[i] = LI_NO_TIME;
	return node;
}

static void add_node(reader *r, li_node *node)
{
	g_ptr_array_add(r->tree->nodes, node);
	g_hash_table_insert(r->tree->by_path, node->path, node);
}

static void add_extent(li_node *node, const guint8 *record)
{
	li_extent extent = {
		.offset = ((guint64)img_le32(record + 2) + record[1]) * LI_SECTOR,
		.length = img_le32(record + 10),
	};

	if (!node->extents)
		node->extents = g_array_new(FALSE, FALSE, sizeof(li_extent));
	if (extent.length)
		g_array_append_val(node->extents, extent);
	node->size += extent.length;
}

/* A relocated directory: the record says only where it went; all else is in its own "." */
static gboolean queue_relocated(
	reader *r, li_node *node, guint32 sector, guint depth, GError **error)
{
	guint8 dot[256] = {0};
	guint64 offset = (guint64)sector * LI_SECTOR;
	g_autoptr(GString) name = g_string_new(NULL);
	g_autoptr(GString) target = g_string_new(NULL);
	susp s = {.name = name, .target = target};

	if (!read_at(r->fd, r->label, offset, dot, sizeof(dot) - 1, error))
		return FALSE;
	if (dot[0] < RECORD_MIN)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: broken directory record; make the ISO again", r->label, node->path);
	if (!take_susp(r, node, &s, dot, RECORD_MIN + r->skip, error))
		return FALSE;
	return queue_dir(r, node, offset, img_le32(dot + 10), depth, error);
}

static gboolean place_node(
	reader *r, li_node *node, const susp *s, const guint8 *record, guint depth, GError **error)
{
	guint64 offset = ((guint64)img_le32(record + 2) + record[1]) * LI_SECTOR;

	if (s->target->len)
		node->target = g_strdup(s->target->str);
	if (s->child_link) {
		node->mode = (node->mode & ~(guint32)S_IFMT) | S_IFDIR;
		return queue_relocated(r, node, s->child_link, depth + 1, error);
	}
	if (record[25] & 2)
		return queue_dir(r, node, offset, img_le32(record + 10), depth + 1, error);
	if (S_ISREG(node->mode))
		add_extent(node, record);
	return TRUE;
}

static gboolean take_record(reader *r, const pending_dir *dir, const guint8 *data, guint32 at,
	li_node **open, GError **error)
{
	const guint8 *record = data + at;
	g_autoptr(GString) name = g_string_new(NULL);
	g_autoptr(GString) target = g_string_new(NULL);
	g_autofree char *plain = NULL;
	susp s = {.name = name, .target = target};
	gsize start = (gsize)33 + record[32] + (record[32] % 2 ? 0 : 1) + r->skip;
	li_node *node;

	if (*open) { /* next extent of the same file */
		add_extent(*open, record);
		*open = record[25] & 0x80 ? *open : NULL;
		return TRUE;
	}
	node = node_new(record);
	node->record = dir->offset + at;
	node->record_name = record_name(r, record);
	plain = plain_name(node->record_name);
	if (!take_susp(r, node, &s, record, start, error) || s.relocated) {
		if (s.relocated && !dir->depth && !r->tree->relocations)
			r->tree->relocations =
				g_strconcat("/", name->len ? name->str : plain, NULL);
		node_free(node);
		return s.relocated;
	}
	if (!set_path(r, node, dir->node, name->len ? name->str : plain, error)) {
		node_free(node);
		return FALSE;
	}
	add_node(r, node);
	*open = record[25] & 0x80 ? node : NULL;
	return place_node(r, node, &s, record, dir->depth, error);
}

/* The root's attributes are in its own "." record, and so is the sign of SUSP. */
static gboolean take_root(reader *r, const guint8 *record, GError **error)
{
	g_autoptr(GString) name = g_string_new(NULL);
	g_autoptr(GString) target = g_string_new(NULL);
	susp s = {.name = name, .target = target};

	if (!take_susp(r, g_ptr_array_index(r->tree->nodes, 0), &s, record, 34, error))
		return FALSE;
	r->tree->rock_ridge = s.has_attributes;
	r->root_done = TRUE;
	return TRUE;
}

static gboolean take_records(reader *r, const pending_dir *dir, const guint8 *data, GError **error)
{
	li_node *open = NULL;

	for (guint32 at = 0; at + RECORD_MIN <= dir->size;) {
		const guint8 *record = data + at;

		if (!record[0]) { /* records do not cross sectors */
			at = (at / LI_SECTOR + 1) * LI_SECTOR;
			continue;
		}
		if (record[0] < RECORD_MIN || at + record[0] > dir->size ||
			33u + record[32] > record[0])
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s:%s: broken directory record; make the ISO again", r->label,
				dir->node->path);
		if (record[32] == 1 && record[33] <= 1) {
			if (!r->root_done && !take_root(r, record, error))
				return FALSE;
		} else if (!take_record(r, dir, data, at, &open, error)) {
			return FALSE;
		}
		at += record[0];
	}
	return TRUE;
}

static gboolean read_dir(reader *r, const pending_dir *dir, GError **error)
{
	g_autofree guint8 *data = NULL;

	if (ro_interrupted(error))
		return FALSE;
	if (dir->offset > r->file_size || dir->size > r->file_size - dir->offset)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: directory lies behind the end of the file; it is truncated",
			r->label, dir->node->path);
	data = g_malloc(dir->size + 1);
	return read_at(r->fd, r->label, dir->offset, data, dir->size, error) &&
	       take_records(r, dir, data, error);
}

static gboolean read_root(reader *r, GError **error)
{
	guint8 vd[LI_SECTOR];
	li_node *root;

	if (!read_at(r->fd, r->label, r->tree->vd_offset, vd, sizeof(vd), error))
		return FALSE;
	root = node_new(vd + 156);
	root->path = g_strdup("/");
	root->record_name = g_strdup("");
	root->mode = S_IFDIR;
	add_node(r, root);
	return queue_dir(r, root, ((guint64)img_le32(vd + 158) + vd[157]) * LI_SECTOR,
		img_le32(vd + 166), 0, error);
}

static gboolean read_all(reader *r, GError **error)
{
	pending_dir *dir;
	gboolean fine = read_root(r, error);

	while ((dir = g_queue_pop_head(&r->queue))) {
		fine = fine && read_dir(r, dir, error);
		g_free(dir);
	}
	return fine;
}

li_tree *li_tree_read(int fd, li_vd_kind kind, const char *label, GError **error)
{
	g_autoptr(li_tree) tree = g_new0(li_tree, 1);
	g_autoptr(GHashTable) seen =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	reader r = {.fd = fd,
		.label = label,
		.joliet = kind == LI_VD_JOLIET,
		.tree = tree,
		.seen = seen};
	/* Not st_size, which a block device does not have. */
	off_t size = lseek(fd, 0, SEEK_END);

	tree->nodes = g_ptr_array_new_with_free_func(node_free);
	tree->by_path = g_hash_table_new(ro_bytes_hash, g_str_equal);
	g_queue_init(&r.queue);
	if (size < 0)
		return ro_fail_errno(error, errno, "%s", label), NULL;
	r.file_size = (guint64)size;
	if (!li_vd_find(fd, 0, kind, &tree->vd_offset, error))
		return NULL;
	if (!tree->vd_offset)
		return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: not an ISO 9660 volume", label),
		       NULL;
	return read_all(&r, error) ? g_steal_pointer(&tree) : NULL;
}
