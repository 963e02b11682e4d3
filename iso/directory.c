/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/directory.h"

#include <string.h>

#include "iso/volume.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { MAX_DIRECTORIES = 1 << 20, MAX_DEPTH = 200, MAX_CONTINUATIONS = 32 };

/* All directories together; bytes. */
#define MAX_BYTES ((guint64)1 << 30)

/* Offsets in a directory record (ECMA-119 9.1). */
enum { AT_EXTENT = 2, AT_SIZE = 10, AT_FLAGS = 25, AT_NAME_LENGTH = 32, AT_NAME = 33 };

enum { FLAG_DIRECTORY = 0x02 };

typedef struct {
	guint32 block;
	guint32 size;
	guint depth;
} directory;

typedef struct {
	const img_source *disc;
	li_record_func func;
	gpointer data;
	GQueue *queue;    /* of directory */
	GHashTable *seen; /* blocks */
	guint64 bytes;
} walk;

/* What Rock Ridge says about relocation (RRIP 4.1.5). */
typedef struct {
	gboolean relocated;  /* RE: reached through a CL elsewhere */
	guint32 child_block; /* CL: the directory that belongs here; 0 if none */
} relocation;

/* Looks through one system use area (SUSP 4.1); returns the continuation (CE) in *area, if there is
 * one. */
static gboolean scan_fields(const guint8 *bytes, gsize size, relocation *found, guint32 area[3])
{
	gboolean more = FALSE;

	while (size >= 4 && bytes[2] >= 4 && bytes[2] <= size) {
		if (memcmp(bytes, "RE", 2) == 0)
			found->relocated = TRUE;
		else if (memcmp(bytes, "CL", 2) == 0 && bytes[2] >= 12)
			found->child_block = img_le32(bytes + 4);
		else if (memcmp(bytes, "ST", 2) == 0)
			return more;
		else if (memcmp(bytes, "CE", 2) == 0 && bytes[2] >= 28) {
			more = TRUE;
			for (guint i = 0; i < 3; i++)
				area[i] = img_le32(bytes + 4 + 8 * i);
		}
		size -= bytes[2];
		bytes += bytes[2];
	}
	return more;
}

static relocation find_relocation(const walk *w, const guint8 *record)
{
	relocation found = {0};
	guint8 sector[LI_BLOCK];
	guint32 area[3];
	gsize start = (AT_NAME + record[AT_NAME_LENGTH] + 1u) & ~1u;
	gboolean more =
		start < record[0] && scan_fields(record + start, record[0] - start, &found, area);

	for (guint i = 0; more && i < MAX_CONTINUATIONS; i++) {
		if (area[1] >= LI_BLOCK || area[2] > LI_BLOCK - area[1] ||
			!img_source_read(w->disc, (guint64)area[0] * LI_BLOCK, sector,
				sizeof(sector), NULL))
			break;
		more = scan_fields(sector + area[1], area[2], &found, area);
	}
	return found;
}

static gboolean add_directory(walk *w, guint32 block, guint32 size, guint depth, GError **error)
{
	directory *dir;

	w->bytes += size;
	if (!g_hash_table_add(w->seen, GUINT_TO_POINTER(block)))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: the directory in block %u is reached in two ways; the ISO is damaged",
			w->disc->label, block);
	if (depth > MAX_DEPTH || w->bytes > MAX_BYTES ||
		g_hash_table_size(w->seen) > MAX_DIRECTORIES)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: its directories are too many, too large or too deep", w->disc->label);
	dir = g_new(directory, 1);
	*dir = (directory){block, size, depth};
	g_queue_push_tail(w->queue, dir);
	return TRUE;
}

/* A relocated directory's size is in its own first record. */
static gboolean add_relocated(walk *w, guint32 block, guint depth, GError **error)
{
	guint8 record[AT_NAME + 1];

	return img_source_read(
		       w->disc, (guint64)block * LI_BLOCK, record, sizeof(record), error) &&
	       add_directory(w, block, img_le32(record + AT_SIZE), depth, error);
}

static gboolean is_dot(const guint8 *record)
{
	return record[AT_NAME_LENGTH] == 1 && record[AT_NAME] <= 1;
}

static gboolean take_record(walk *w, const guint8 *bytes, guint depth, GError **error)
{
	relocation moved;
	li_record record = {
		.name = bytes + AT_NAME,
		.name_length = bytes[AT_NAME_LENGTH],
		.is_directory = (bytes[AT_FLAGS] & FLAG_DIRECTORY) != 0,
		.offset = (guint64)img_le32(bytes + AT_EXTENT) * LI_BLOCK,
		.size = img_le32(bytes + AT_SIZE),
	};

	if (is_dot(bytes))
		return TRUE;
	if (w->func)
		w->func(&record, w->data);
	moved = find_relocation(w, bytes);
	if (moved.child_block)
		return add_relocated(w, moved.child_block, depth + 1, error);
	if (!record.is_directory || moved.relocated)
		return TRUE;
	return add_directory(
		w, img_le32(bytes + AT_EXTENT), img_le32(bytes + AT_SIZE), depth + 1, error);
}

static gboolean walk_sector(walk *w, const guint8 *sector, guint depth, GError **error)
{
	gsize at = 0;

	while (at + AT_NAME < LI_BLOCK && sector[at] != 0) {
		const guint8 *record = sector + at;

		if (record[0] < AT_NAME + 1 || at + record[0] > LI_BLOCK ||
			AT_NAME + record[AT_NAME_LENGTH] > record[0])
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: a directory record is broken; the ISO is damaged",
				w->disc->label);
		if (!take_record(w, record, depth, error))
			return FALSE;
		at += record[0];
	}
	return TRUE;
}

static gboolean walk_directory(walk *w, const directory *dir, GError **error)
{
	guint8 sector[LI_BLOCK];

	for (guint64 at = 0; at < dir->size; at += LI_BLOCK)
		if (ro_interrupted(error) ||
			!img_source_read(w->disc, (guint64)dir->block * LI_BLOCK + at, sector,
				sizeof(sector), error) ||
			!walk_sector(w, sector, dir->depth, error))
			return FALSE;
	return TRUE;
}

gboolean li_directory_walk(const img_source *disc, const guint8 *root_record, li_record_func func,
	gpointer data, GError **error)
{
	walk w = {disc, func, data, g_queue_new(), g_hash_table_new(NULL, NULL), 0};
	gboolean ok = add_directory(
		&w, img_le32(root_record + AT_EXTENT), img_le32(root_record + AT_SIZE), 0, error);

	while (ok && !g_queue_is_empty(w.queue)) {
		g_autofree directory *dir = g_queue_pop_head(w.queue);

		ok = walk_directory(&w, dir, error);
	}
	g_queue_free_full(w.queue, g_free);
	g_hash_table_destroy(w.seen);
	return ok;
}
