/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine that moves the stored blocks of a squashfs image as they are and writes new tables.
 *
 * Only fragment blocks that hold tails of the plan's files are packed anew.
 */
#include "reorder/engine.h"

#include <string.h>
#include <unistd.h>

#include "reorder/image/le.h"
#include "reorder/splice/layout.h"
#include "reorder/splice/put.h"
#include "reorder/splice/repack.h"
#include "reorder/splice/runs.h"
#include "reorder/splice/tables.h"
#include "reorder/splice/tree_writer.h"
#include "reorder/splice/image_writer.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

/* mksquashfs and gensquashfs pad images to whole pages. */
enum { PADDING = 4096 };

/* Fields of the superblock that change (Linux: struct squashfs_super_block). */
enum {
	SUPER_FRAGMENTS = 16,
	SUPER_ROOT = 32,
	SUPER_BYTES_USED = 40,
	SUPER_IDS = 48,
	SUPER_XATTRS = 56,
	SUPER_INODES = 64,
	SUPER_DIRECTORIES = 72,
	SUPER_FRAGMENT_TABLE = 80,
	SUPER_EXPORTS = 88,
};

typedef struct {
	const ro_engine_job *job;
	const img_tree *tree;
	const img_super *super;
	ro_splice_fragments *fragments;
	GArray *runs;
	ro_splice_repack *repack;
	ro_splice_writer *writer;
	guint64 alignment;
	guint8 *block; /* room for one */
	guint8 head[IMG_SUPER_SIZE];
} splice;

static void splice_clear(splice *s)
{
	g_clear_pointer(&s->repack, ro_splice_repack_free);
	g_clear_pointer(&s->writer, ro_splice_writer_free);
	g_clear_pointer(&s->fragments, ro_splice_fragments_free);
	g_clear_pointer(&s->runs, g_array_unref);
	g_clear_pointer(&s->block, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(splice, splice_clear)

static gboolean all_zero(const guint8 *data, gsize size)
{
	return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

/* A hash tree or a signature behind the filesystem would be lost or wrong. */
static gboolean check_tail(const ro_engine_job *job, GError **error)
{
	const img_source *source = img_tree_source(job->tree);
	guint64 position = img_tree_super(job->tree)->bytes_used;
	g_autofree guint8 *buffer = g_malloc(1 << 16);

	while (position < source->size) {
		gsize step = (gsize)MIN(source->size - position, 1 << 16);

		if (ro_interrupted(error) ||
			!img_source_read(source, position, buffer, step, error))
			return FALSE;
		if (!all_zero(buffer, step))
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: there is data behind the filesystem (a hash tree or a signature?), which would no longer fit to it",
				source->label);
		position += step;
	}
	return TRUE;
}

static gboolean check(const ro_engine_job *job, GError **error)
{
	const img_super *super = img_tree_super(job->tree);
	g_autoptr(ro_splice_compressor) compressor =
		ro_splice_compressor_new(super, super->block_size, error);

	return compressor && check_tail(job, error);
}

/* The new image, tables a quarter larger, and all fragments unpacked. */
static guint64 space(const ro_engine_job *job)
{
	const img_super *super = img_tree_super(job->tree);
	guint64 tables = super->bytes_used - super->inode_table;

	return super->bytes_used + tables / 4 + PADDING +
	       (guint64)super->fragment_count * super->block_size;
}

static gboolean write_pack(splice *s, guint index, GError **error)
{
	ro_splice_pack *pack = &g_array_index(s->fragments->packs, ro_splice_pack, index);

	if (!ro_splice_repack_wait(s->repack, error) ||
		!ro_splice_repack_read(s->repack, index, s->block, error))
		return FALSE;
	pack->position = ro_splice_writer_position(s->writer);
	return ro_splice_writer_append(
		s->writer, s->block, IMG_BLOCK_STORED_SIZE(pack->size_word), error);
}

static gboolean write_run(splice *s, guint index, GError **error)
{
	ro_splice_run *run = &g_array_index(s->runs, ro_splice_run, index);

	run->position = ro_splice_writer_position(s->writer);
	return ro_splice_writer_copy(s->writer, img_tree_source(s->tree), run->span.start,
		run->span.end - run->span.start, error);
}

static gboolean write_data(splice *s, GError **error)
{
	g_autoptr(GArray) order = ro_splice_order(s->runs, s->fragments, s->job->plan);

	for (guint i = 0; i < order->len; i++) {
		const ro_splice_item *item = &g_array_index(order, ro_splice_item, i);
		gboolean ok;

		if (!ro_splice_writer_align(s->writer, s->alignment, error))
			return FALSE;
		if (item->kind == RO_SPLICE_PACK)
			ok = write_pack(s, item->index, error);
		else
			ok = write_run(s, item->index, error);
		if (!ok)
			return FALSE;
		ro_progress_update(s->job->progress, (double)ro_splice_writer_position(s->writer),
			(double)s->super->bytes_used, NULL);
	}
	ro_splice_number_fragments(s->fragments, s->runs);
	return TRUE;
}

static void set_position(splice *s, guint field)
{
	ro_put64(s->head + field, ro_splice_writer_position(s->writer));
}

static gboolean append_bytes(splice *s, const GByteArray *bytes, GError **error)
{
	return ro_splice_writer_append(s->writer, bytes->data, bytes->len, error);
}

static gboolean write_tree(
	splice *s, ro_splice_tables *tables, ro_splice_compressor *compressor, GError **error)
{
	ro_splice_inode_source source = {s->tree, s->runs, s->fragments, {0}};
	g_autoptr(img_codec) codec = img_codec_new(s->super, error);
	img_metadata_place place = {img_tree_source(s->tree), codec, "inode table"};
	gboolean ok;

	if (!codec || !img_metadata_load(&source.old, &place, s->super->inode_table,
			      s->super->directory_table, error))
		return FALSE;
	ok = ro_splice_tables_write(tables, &source, s->job->plan, compressor, error);
	img_metadata_clear(&source.old);
	if (!ok)
		return FALSE;
	ro_put64(s->head + SUPER_ROOT, tables->references[0]);
	set_position(s, SUPER_INODES);
	if (!append_bytes(s, tables->inodes.stored, error))
		return FALSE;
	set_position(s, SUPER_DIRECTORIES);
	return append_bytes(s, tables->directories.stored, error);
}

/* Which tables are packed: as mksquashfs does it. */
static gboolean write_side_tables(
	splice *s, const guint64 *references, ro_splice_compressor *compressor, GError **error)
{
	ro_splice_compressor *for_fragments =
		s->super->flags & IMG_FLAG_NO_FRAGMENT_COMPRESSION ? NULL : compressor;
	ro_splice_compressor *for_exports =
		s->super->flags & IMG_FLAG_NO_INODE_COMPRESSION ? NULL : compressor;
	guint64 position;

	ro_put32(s->head + SUPER_FRAGMENTS, s->fragments->count);
	if (img_le64(s->head + SUPER_FRAGMENT_TABLE) != G_MAXUINT64) {
		if (!ro_splice_write_fragments(
			    s->writer, s->fragments, s->runs, for_fragments, &position, error))
			return FALSE;
		ro_put64(s->head + SUPER_FRAGMENT_TABLE, position);
	}
	if (s->super->export_table != G_MAXUINT64) {
		if (!ro_splice_write_exports(
			    s->writer, s->tree, references, for_exports, &position, error))
			return FALSE;
		ro_put64(s->head + SUPER_EXPORTS, position);
	}
	if (!ro_splice_copy_ids(s->writer, s->tree, &position, error))
		return FALSE;
	ro_put64(s->head + SUPER_IDS, position);
	if (s->super->xattr_table == G_MAXUINT64)
		return TRUE;
	if (!ro_splice_copy_xattrs(s->writer, s->tree, &position, error))
		return FALSE;
	ro_put64(s->head + SUPER_XATTRS, position);
	return TRUE;
}

static gboolean write_metadata(splice *s, GError **error)
{
	g_autoptr(ro_splice_compressor) compressor =
		ro_splice_compressor_new(s->super, IMG_METADATA_BLOCK, error);
	g_auto(ro_splice_tables) tables = {0};
	gboolean packed = !(s->super->flags & IMG_FLAG_NO_INODE_COMPRESSION);

	return compressor && write_tree(s, &tables, packed ? compressor : NULL, error) &&
	       write_side_tables(s, tables.references, compressor, error);
}

/* Everything in front of the first block: the superblock, to be changed, and the compressor's
 * options. */
static gboolean write_head(splice *s, GError **error)
{
	const img_source *source = img_tree_source(s->tree);
	gsize options = s->super->options_size > 0 ? s->super->options_size + 2 : 0;

	return img_source_read(source, 0, s->head, sizeof(s->head), error) &&
	       ro_splice_writer_copy(s->writer, source, 0, IMG_SUPER_SIZE + options, error);
}

static gboolean write_end(splice *s, GError **error)
{
	set_position(s, SUPER_BYTES_USED);
	if (img_tree_source(s->tree)->size % PADDING == 0 &&
		!ro_splice_writer_align(s->writer, PADDING, error))
		return FALSE;
	return ro_splice_writer_finish(s->writer, s->head, sizeof(s->head), error);
}

/* No kernel reads a file whose tail is in an empty fragment block. */
static gboolean check_fragments(const splice *s, GError **error)
{
	for (guint32 i = 0; i < img_tree_fragment_count(s->tree); i++)
		if (IMG_BLOCK_STORED_SIZE(img_tree_fragment(s->tree, i)->size_word) == 0)
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s: fragment block %u is empty; the image is damaged",
				img_tree_source(s->tree)->label, i);
	return TRUE;
}

static gboolean rebuild(const ro_engine_job *job, GError **error)
{
	g_auto(splice) s = {.job = job, .tree = job->tree, .super = img_tree_super(job->tree)};

	ro_progress_begin(job->progress, "splice");
	if (!check_fragments(&s, error))
		return FALSE;
	s.fragments = ro_splice_fragments_new(s.tree, job->plan);
	s.runs = ro_splice_runs_new(s.fragments, job->plan);
	s.alignment = ro_splice_alignment(s.tree);
	s.block = g_malloc(s.super->block_size);
	s.writer = ro_splice_writer_new(job->out_path, error);
	if (!s.writer)
		return FALSE;
	s.repack = ro_splice_repack_start(s.fragments, job->workdir, error);
	if (!s.repack || !write_head(&s, error) || !write_data(&s, error) ||
		!write_metadata(&s, error) || !write_end(&s, error))
		return FALSE;
	ro_progress_end(job->progress, NULL);
	return TRUE;
}

const ro_engine ro_engine_splice = {
	.name = "splice",
	.check = check,
	.space = space,
	.rebuild = rebuild,
};
