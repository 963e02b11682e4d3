/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts: Linux, fs/squashfs/squashfs_fs.h. */
#include "reorder/splice/tables.h"

#include "reorder/image/le.h"
#include "reorder/splice/metadata_writer.h"
#include "reorder/splice/put.h"
#include "reorder/splice/runs.h"
#include "reorder/util/error.h"

enum {
	POINTER = 8, /* an entry of the index of a table */
	ID_ENTRY = 4,
	XATTR_ENTRY = 16,
	XATTR_HEADER = 16,
	FRAGMENT_ENTRY = 16,
	EXPORT_ENTRY = 8,
	BLOCK_HEADER = 2,
	BLOCK_SIZE_MASK = 0x7fff,
};

static gboolean damaged(const img_tree *tree, const char *what, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s: broken; the image is damaged",
		img_tree_source(tree)->label, what);
}

static void append64(GByteArray *bytes, guint64 value)
{
	guint8 raw[8];

	ro_put64(raw, value);
	g_byte_array_append(bytes, raw, sizeof(raw));
}

static gsize block_count(gsize size)
{
	return (size + IMG_METADATA_BLOCK - 1) / IMG_METADATA_BLOCK;
}

/* Packs the entries of a table, appends them and the index of their blocks. */
static gboolean write_table(ro_splice_writer *writer, const GByteArray *entries,
	ro_splice_compressor *compressor, guint64 *position, GError **error)
{
	g_auto(ro_splice_metadata) metadata = {0};
	g_autoptr(GByteArray) index = g_byte_array_new();
	guint64 start = ro_splice_writer_position(writer);

	ro_splice_metadata_init(&metadata, compressor);
	for (guint done = 0; done < entries->len; done += IMG_METADATA_BLOCK) {
		append64(index, start + metadata.stored->len);
		if (!ro_splice_metadata_append(&metadata, entries->data + done,
			    MIN(entries->len - done, IMG_METADATA_BLOCK), error))
			return FALSE;
	}
	if (!ro_splice_metadata_finish(&metadata, error) ||
		!ro_splice_writer_append(
			writer, metadata.stored->data, metadata.stored->len, error))
		return FALSE;
	*position = ro_splice_writer_position(writer);
	return ro_splice_writer_append(writer, index->data, index->len, error);
}

/* A fragment block of the new image. */
typedef struct {
	guint64 position;
	guint32 *number; /* to be set */
} placed;

static int compare_placed(gconstpointer a, gconstpointer b)
{
	const placed *left = a, *right = b;

	return left->position < right->position ? -1 : left->position > right->position;
}

void ro_splice_number_fragments(ro_splice_fragments *fragments, const GArray *runs)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(placed));

	for (guint32 i = 0; i < img_tree_fragment_count(fragments->tree); i++) {
		placed next = {0, &fragments->new_kept[i]};

		if (!fragments->kept[i])
			continue;
		next.position =
			ro_splice_runs_move(runs, img_tree_fragment(fragments->tree, i)->start);
		g_array_append_val(all, next);
	}
	for (guint i = 0; i < fragments->packs->len; i++) {
		placed next = {g_array_index(fragments->packs, ro_splice_pack, i).position,
			&fragments->new_pack[i]};

		g_array_append_val(all, next);
	}
	g_array_sort(all, compare_placed);
	for (guint i = 0; i < all->len; i++)
		*g_array_index(all, placed, i).number = i;
	fragments->count = all->len;
}

static void put_fragment(GByteArray *entries, guint32 number, guint64 start, guint32 size_word)
{
	guint8 *raw = entries->data + (gsize)number * FRAGMENT_ENTRY;

	ro_put64(raw, start);
	ro_put32(raw + 8, size_word);
	ro_put32(raw + 12, 0);
}

gboolean ro_splice_write_fragments(ro_splice_writer *writer, const ro_splice_fragments *fragments,
	const GArray *runs, ro_splice_compressor *compressor, guint64 *position, GError **error)
{
	g_autoptr(GByteArray) entries = g_byte_array_new();

	g_byte_array_set_size(entries, fragments->count * FRAGMENT_ENTRY);
	for (guint32 i = 0; i < img_tree_fragment_count(fragments->tree); i++) {
		const img_fragment *old = img_tree_fragment(fragments->tree, i);

		if (fragments->kept[i])
			put_fragment(entries, fragments->new_kept[i],
				ro_splice_runs_move(runs, old->start), old->size_word);
	}
	for (guint i = 0; i < fragments->packs->len; i++) {
		const ro_splice_pack *pack = &g_array_index(fragments->packs, ro_splice_pack, i);

		put_fragment(entries, fragments->new_pack[i], pack->position, pack->size_word);
	}
	return write_table(writer, entries, compressor, position, error);
}

gboolean ro_splice_write_exports(ro_splice_writer *writer, const img_tree *tree,
	const guint64 *references, ro_splice_compressor *compressor, guint64 *position,
	GError **error)
{
	g_autoptr(GByteArray) entries = g_byte_array_new();

	g_byte_array_set_size(entries, img_tree_super(tree)->inode_count * EXPORT_ENTRY);
	memset(entries->data, 0, entries->len);
	for (guint32 i = 0; i < img_tree_inode_count(tree); i++)
		ro_put64(
			entries->data + ((gsize)img_tree_inode(tree, i)->number - 1) * EXPORT_ENTRY,
			references[i]);
	return write_table(writer, entries, compressor, position, error);
}

/* Appends the metadata block at an old position. */
static gboolean copy_block(
	ro_splice_writer *writer, const img_tree *tree, guint64 old, GError **error)
{
	const img_source *source = img_tree_source(tree);
	guint8 header[BLOCK_HEADER];

	return img_source_read(source, old, header, sizeof(header), error) &&
	       ro_splice_writer_copy(writer, source, old,
		       BLOCK_HEADER + (img_le16(header) & BLOCK_SIZE_MASK), error);
}

gboolean ro_splice_copy_ids(
	ro_splice_writer *writer, const img_tree *tree, guint64 *position, GError **error)
{
	const img_super *super = img_tree_super(tree);
	gsize blocks = block_count((gsize)super->id_count * ID_ENTRY);
	g_autofree guint8 *index = g_malloc(blocks * POINTER);

	if (!img_source_read(
		    img_tree_source(tree), super->id_table, index, blocks * POINTER, error))
		return FALSE;
	for (gsize i = 0; i < blocks; i++) {
		guint64 old = img_le64(index + i * POINTER);

		ro_put64(index + i * POINTER, ro_splice_writer_position(writer));
		if (!copy_block(writer, tree, old, error))
			return FALSE;
	}
	*position = ro_splice_writer_position(writer);
	return ro_splice_writer_append(writer, index, blocks * POINTER, error);
}

/* Reads the header of the table and the index behind it; *size is that of both. */
static guint8 *read_xattr_header(const img_tree *tree, gsize *size, GError **error)
{
	const img_super *super = img_tree_super(tree);
	guint8 header[XATTR_HEADER];
	g_autofree guint8 *raw = NULL;
	guint64 blocks;

	if (!img_source_read(
		    img_tree_source(tree), super->xattr_table, header, sizeof(header), error))
		return NULL;
	blocks = ((guint64)img_le32(header + 8) * XATTR_ENTRY + IMG_METADATA_BLOCK - 1) /
		 IMG_METADATA_BLOCK;
	*size = XATTR_HEADER + (gsize)blocks * POINTER;
	if (*size > super->bytes_used - super->xattr_table) {
		damaged(tree, "extended attributes", error);
		return NULL;
	}
	raw = g_malloc(*size);
	if (!img_source_read(img_tree_source(tree), super->xattr_table, raw, *size, error))
		return NULL;
	return g_steal_pointer(&raw);
}

/* All positions in these tables count from the start of the attributes, but for the header's. */
gboolean ro_splice_copy_xattrs(
	ro_splice_writer *writer, const img_tree *tree, guint64 *position, GError **error)
{
	guint64 start, end = img_tree_super(tree)->xattr_table;
	guint64 moved = ro_splice_writer_position(writer);
	gsize size;
	g_autofree guint8 *header = read_xattr_header(tree, &size, error);

	if (!header)
		return FALSE;
	start = img_le64(header);
	if (start < img_tree_metadata_start(tree) || start > end)
		return damaged(tree, "extended attributes", error);
	ro_put64(header, moved);
	for (gsize at = XATTR_HEADER; at < size; at += POINTER) {
		guint64 old = img_le64(header + at);

		if (old < start || old >= end)
			return damaged(tree, "extended attributes", error);
		ro_put64(header + at, moved + (old - start));
	}
	if (!ro_splice_writer_copy(writer, img_tree_source(tree), start, end - start, error))
		return FALSE;
	*position = ro_splice_writer_position(writer);
	return ro_splice_writer_append(writer, header, size, error);
}
