/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/splice/repack.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "reorder/image/codec.h"
#include "reorder/image/data_reader.h"
#include "reorder/splice/compressor.h"
#include "reorder/splice/workers.h"
#include "reorder/util/error.h"

/* A new order makes the tables grow, by about a 90th (measured). */
enum { TABLES_GROWTH = 64, BATCH = 16 };

struct ro_splice_repack {
	ro_splice_fragments *fragments;
	int fd; /* the scratch file: pack number i is at i * block size, stored or unpacked */
	char *workdir;
	GArray *broken_up; /* of guint32: fragment blocks that are taken apart */
	guint tightened;   /* packs that are packed more tightly by now */
	ro_splice_workers *workers;
};

/* What a thread has for itself. */
typedef struct {
	ro_splice_repack *repack;
	img_reader *reader;               /* of those that unpack */
	ro_splice_compressor *compressor; /* of those that pack; NULL: nothing is packed */
	guint8 *block;                    /* likewise */
	img_codec *codec;                 /* of those that pack again more tightly */
	guint8 *stored;                   /* likewise */
} own_state;

static void own_end(gpointer data)
{
	own_state *own = data;

	img_reader_free(own->reader);
	ro_splice_compressor_free(own->compressor);
	img_codec_free(own->codec);
	g_free(own->block);
	g_free(own->stored);
	g_free(own);
}

static guint64 slot(const ro_splice_repack *repack, guint pack)
{
	return (guint64)pack * img_tree_super(repack->fragments->tree)->block_size;
}

static gboolean scratch_write(
	ro_splice_repack *repack, guint64 position, const guint8 *data, gsize size, GError **error)
{
	while (size > 0) {
		ssize_t done = pwrite(repack->fd, data, size, (off_t)position);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return ro_fail_errno(error, done < 0 ? errno : ENOSPC,
				"%s: write scratch file", repack->workdir);
		data += done;
		position += (guint64)done;
		size -= (gsize)done;
	}
	return TRUE;
}

static gboolean scratch_read(
	ro_splice_repack *repack, guint64 position, guint8 *data, gsize size, GError **error)
{
	while (size > 0) {
		ssize_t done = pread(repack->fd, data, size, (off_t)position);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return ro_fail_errno(error, done < 0 ? errno : EIO, "%s: read scratch file",
				repack->workdir);
		data += done;
		position += (guint64)done;
		size -= (gsize)done;
	}
	return TRUE;
}

static gpointer unpack_start(gpointer shared, GError **error)
{
	ro_splice_repack *repack = shared;
	own_state *own = g_new0(own_state, 1);

	own->repack = repack;
	own->reader = img_reader_new(repack->fragments->tree, error);
	if (own->reader)
		return own;
	own_end(own);
	return NULL;
}

static gboolean scatter_tail(ro_splice_repack *repack, const ro_splice_tail *tail,
	const guint8 *data, gsize length, GError **error)
{
	guint32 offset = (guint32)tail->span.start;
	gsize size = tail->span.end - tail->span.start;

	if (offset > length || size > length - offset)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: the tail of a file is not inside its fragment block; the image is damaged",
			img_tree_source(repack->fragments->tree)->label);
	return scratch_write(
		repack, slot(repack, tail->pack) + tail->offset, data + offset, size, error);
}

static gboolean unpack_work(gpointer data, guint item, GError **error)
{
	own_state *own = data;
	ro_splice_repack *repack = own->repack;
	const ro_splice_fragments *fragments = repack->fragments;
	guint32 fragment = g_array_index(repack->broken_up, guint32, item);
	const guint8 *block;
	guint first, end;
	gsize length;

	block = img_reader_fragment(own->reader, fragment, &length, error);
	if (!block)
		return FALSE;
	ro_splice_fragments_members(fragments, fragment, &first, &end);
	for (guint i = first; i < end; i++) {
		const ro_splice_tail *tail = &g_array_index(fragments->tails, ro_splice_tail, i);

		if (!scatter_tail(repack, tail, block, length, error))
			return FALSE;
	}
	return TRUE;
}

static gpointer pack_start(gpointer shared, GError **error)
{
	ro_splice_repack *repack = shared;
	const img_super *super = img_tree_super(repack->fragments->tree);
	own_state *own = g_new0(own_state, 1);

	own->repack = repack;
	own->block = g_malloc(super->block_size);
	if (super->flags & IMG_FLAG_NO_FRAGMENT_COMPRESSION)
		return own;
	own->compressor = ro_splice_compressor_new(super, super->block_size, error);
	if (own->compressor)
		return own;
	own_end(own);
	return NULL;
}

static gboolean pack_work(gpointer data, guint item, GError **error)
{
	own_state *own = data;
	ro_splice_repack *repack = own->repack;
	ro_splice_pack *pack = &g_array_index(repack->fragments->packs, ro_splice_pack, item);
	const guint8 *packed;
	gsize size;

	pack->size_word = pack->size | IMG_BLOCK_UNCOMPRESSED;
	if (!own->compressor)
		return TRUE;
	if (!scratch_read(repack, slot(repack, item), own->block, pack->size, error) ||
		!ro_splice_compress(own->compressor, own->block, pack->size, &packed, &size, error))
		return FALSE;
	if (size == 0)
		return TRUE;
	pack->size_word = (guint32)size;
	return scratch_write(repack, slot(repack, item), packed, size, error);
}

static gpointer tighten_start(gpointer shared, GError **error)
{
	ro_splice_repack *repack = shared;
	const img_super *super = img_tree_super(repack->fragments->tree);
	own_state *own = g_new0(own_state, 1);

	own->repack = repack;
	own->block = g_malloc(super->block_size);
	own->stored = g_malloc(super->block_size);
	own->codec = img_codec_new(super, error);
	if (own->codec)
		own->compressor = ro_splice_compressor_new_tight(super, super->block_size, error);
	if (own->compressor)
		return own;
	own_end(own);
	return NULL;
}

/* What was packed lies over what it was made from. */
static gboolean read_unpacked(
	own_state *own, guint item, const ro_splice_pack *pack, GError **error)
{
	ro_splice_repack *repack = own->repack;
	gsize size = IMG_BLOCK_STORED_SIZE(pack->size_word);

	if (size == pack->size)
		return scratch_read(repack, slot(repack, item), own->block, size, error);
	if (!scratch_read(repack, slot(repack, item), own->stored, size, error))
		return FALSE;
	if (img_codec_unpack(own->codec, own->stored, size, own->block, pack->size) == pack->size)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED, "%s: a packed block is broken", repack->workdir);
}

static gboolean tighten_work(gpointer data, guint item, GError **error)
{
	own_state *own = data;
	ro_splice_repack *repack = own->repack;
	guint index = repack->tightened + item;
	ro_splice_pack *pack = &g_array_index(repack->fragments->packs, ro_splice_pack, index);
	const guint8 *packed;
	gsize size;

	if (!read_unpacked(own, index, pack, error) ||
		!ro_splice_compress(own->compressor, own->block, pack->size, &packed, &size, error))
		return FALSE;
	if (size == 0 || size >= IMG_BLOCK_STORED_SIZE(pack->size_word))
		return TRUE;
	pack->size_word = (guint32)size;
	return scratch_write(repack, slot(repack, index), packed, size, error);
}

static const ro_splice_task unpack_task = {unpack_start, unpack_work, own_end};
static const ro_splice_task pack_task = {pack_start, pack_work, own_end};
static const ro_splice_task tighten_task = {tighten_start, tighten_work, own_end};

static void find_broken_up(ro_splice_repack *repack)
{
	const ro_splice_fragments *fragments = repack->fragments;

	for (guint32 i = 0; i < img_tree_fragment_count(fragments->tree); i++) {
		guint first, end;

		ro_splice_fragments_members(fragments, i, &first, &end);
		if (!fragments->kept[i] && end > first)
			g_array_append_val(repack->broken_up, i);
	}
}

/* A file that has no name any more, so that it goes away by itself. */
static gboolean open_scratch(ro_splice_repack *repack, GError **error)
{
	g_autofree char *path = g_build_filename(repack->workdir, "fragments", NULL);

	repack->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (repack->fd < 0)
		return ro_fail_errno(error, errno, "%s: create", path);
	if (unlink(path) < 0)
		return ro_fail_errno(error, errno, "%s: unlink", path);
	return TRUE;
}

ro_splice_repack *ro_splice_repack_start(
	ro_splice_fragments *fragments, const char *workdir, GError **error)
{
	g_autoptr(ro_splice_repack) repack = g_new0(ro_splice_repack, 1);
	ro_splice_workers *unpackers;

	repack->fragments = fragments;
	repack->workdir = g_strdup(workdir);
	repack->broken_up = g_array_new(FALSE, FALSE, sizeof(guint32));
	repack->fd = -1;
	if (!open_scratch(repack, error))
		return NULL;
	find_broken_up(repack);
	unpackers = ro_splice_workers_start(&unpack_task, repack, repack->broken_up->len);
	if (!ro_splice_workers_join(unpackers, error))
		return NULL;
	repack->workers = ro_splice_workers_start(&pack_task, repack, fragments->packs->len);
	return g_steal_pointer(&repack);
}

/* What all packs together should not exceed: what they replace, less what tables in a new order
 * may grow by. */
static guint64 wanted_size(const ro_splice_repack *repack)
{
	const img_tree *tree = repack->fragments->tree;
	const img_super *super = img_tree_super(tree);
	guint64 tables = (super->bytes_used - super->inode_table) / TABLES_GROWTH, size = 0;

	for (guint i = 0; i < repack->broken_up->len; i++) {
		guint32 fragment = g_array_index(repack->broken_up, guint32, i);

		size += IMG_BLOCK_STORED_SIZE(img_tree_fragment(tree, fragment)->size_word);
	}
	return size > tables ? size - tables : 0;
}

static guint64 packed_size(const ro_splice_repack *repack)
{
	const GArray *packs = repack->fragments->packs;
	guint64 size = 0;

	for (guint i = 0; i < packs->len; i++)
		size += IMG_BLOCK_STORED_SIZE(g_array_index(packs, ro_splice_pack, i).size_word);
	return size;
}

static gboolean can_be_tighter(const ro_splice_repack *repack)
{
	const img_super *super = img_tree_super(repack->fragments->tree);
	g_autoptr(ro_splice_compressor) compressor =
		super->flags & IMG_FLAG_NO_FRAGMENT_COMPRESSION
			? NULL
			: ro_splice_compressor_new_tight(super, super->block_size, NULL);

	return compressor != NULL;
}

/*
 * Tails that come together from all over the image pack a little worse than those of one directory.
 * An image that grows has no room in the place of the old one, so as many blocks as that takes are
 * packed again more tightly; in batches, so that it does not depend on the number of threads which
 * ones.
 */
static gboolean tighten(ro_splice_repack *repack, GError **error)
{
	guint count = repack->fragments->packs->len;
	guint64 wanted = wanted_size(repack);

	if (!can_be_tighter(repack))
		return TRUE;
	while (repack->tightened < count && packed_size(repack) > wanted) {
		guint batch = MIN(count - repack->tightened, BATCH);

		if (!ro_splice_workers_join(
			    ro_splice_workers_start(&tighten_task, repack, batch), error))
			return FALSE;
		repack->tightened += batch;
	}
	return TRUE;
}

gboolean ro_splice_repack_wait(ro_splice_repack *repack, GError **error)
{
	if (!repack->workers)
		return TRUE;
	return ro_splice_workers_join(g_steal_pointer(&repack->workers), error) &&
	       tighten(repack, error);
}

gboolean ro_splice_repack_read(ro_splice_repack *repack, guint pack, guint8 *buffer, GError **error)
{
	guint32 word = g_array_index(repack->fragments->packs, ro_splice_pack, pack).size_word;

	return scratch_read(repack, slot(repack, pack), buffer, IMG_BLOCK_STORED_SIZE(word), error);
}

void ro_splice_repack_free(ro_splice_repack *repack)
{
	if (!repack)
		return;
	ro_splice_workers_cancel(repack->workers);
	if (repack->fd >= 0)
		close(repack->fd);
	g_array_unref(repack->broken_up);
	g_free(repack->workdir);
	g_free(repack);
}
