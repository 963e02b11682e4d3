/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the data of files of an ext4 lie on the medium, by itself and in a squashfs, and what that
 * says of the reads of a boot. Nothing is compressed: what a piece names are the file's own bytes.
 */
#include <string.h>

#include "reorder/ext4_wrapping.h"
#include "reorder/image/ext4_tree.h"
#include "tests/unit/squashfs-fixture.h"
#include "trace/coverage.h"
#include "trace/data_map.h"

/* Where the image lies on the medium. */
enum { OFFSET = 1048576, PAGE = 4096, BLOCK = 131072 };

#define NAME "/LiveOS/image"

/* An ext4 and, where it is in a squashfs, that one. */
typedef struct {
	sq_image ext4, outer;
	img_layer layer;
} stack;

static void stack_clear(stack *s)
{
	sq_clear(&s->ext4);
	sq_clear(&s->outer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(stack, stack_clear)

/*
 * Files: a, 40,000 bytes; d/big, 1 MiB; d/c, 9,000 bytes. In an ext4 with extents: empty; tiny,
 * whose data are in its inode; kept, a page and blocks that nobody wrote to. In an ext2, which is
 * full to its end, kept in a fragment block: last, 90,000 bytes; hole, a page far behind a hole.
 */
static void make_images(void)
{
	sq_run("noise() { openssl enc -aes-128-ctr -pass pass:$1 -nosalt -md sha256 </dev/zero "
	       "2>/dev/null | head -c $2 || true; }; mkdir -p tree/d;"
	       "noise a 40000 >tree/a; noise big 1048576 >tree/d/big; noise c 9000 >tree/d/c;"
	       ": >tree/empty; noise t 40 >tree/tiny; noise k 300 >tree/kept;"
	       "mke2fs -q -F -t ext4 -b 4096 -O inline_data -d tree ext4.img 8M;"
	       "debugfs -w -R 'fallocate kept 1 9' ext4.img; debugfs -w -R 'sif kept size 40960' "
	       "ext4.img; rm tree/tiny tree/empty tree/kept; noise l 90000 >tree/last;"
	       "noise h 4096 | dd of=tree/hole bs=1M seek=1 status=none;"
	       "mke2fs -q -F -t ext2 -b 1024 -m 0 -N 32 -O ^resize_inode -d tree ext2.img 1210K;"
	       "for i in ext4 ext2; do rm -rf outer; mkdir -p outer/LiveOS;"
	       "cp $i.img outer/LiveOS/rootfs.img; mksquashfs outer $i.squashfs -quiet -noappend "
	       "-no-progress -noD -noF -b 128K -always-use-fragments; done");
}

static void open_stack(stack *s, const char *name, gboolean wrapped)
{
	g_autofree char *image = g_strconcat(name, ".img", NULL);
	g_autofree char *outer = g_strconcat(name, ".squashfs", NULL);
	g_autoptr(GError) error = NULL;

	*s = (stack){0};
	sq_open_file(&s->ext4, image);
	s->ext4.tree = img_ext4_tree_open(&s->ext4.source, &error);
	g_assert_no_error(error);
	s->layer = (img_layer){.name = NAME, .tree = s->ext4.tree};
	if (!wrapped)
		return;
	sq_open(&s->outer, outer);
	s->layer.outer = s->outer.tree;
	s->layer.outer_inode = ro_ext4_find_inside(s->outer.tree);
}

static const img_source *medium(const stack *s)
{
	return s->layer.outer ? &s->outer.source : &s->ext4.source;
}

static GArray *pieces_of(const stack *s, tr_data_map *map, const char *path, gboolean own)
{
	GArray *pieces = g_array_new(FALSE, FALSE, sizeof(tr_piece));

	g_assert_cmpint(tr_data_map_pieces(map, sq_inode(&s->ext4, path), pieces), ==, own);
	return pieces;
}

static tr_data_map *new_map(const stack *s)
{
	g_autoptr(GError) error = NULL;
	tr_data_map *map = tr_data_map_new(&s->layer, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(tr_data_map_size(map), ==, medium(s)->size);
	return map;
}

/* What the pieces name, one after the other, is what the file has. */
static void has_content(const stack *s, tr_data_map *map, const char *path, const char *command)
{
	g_autoptr(GArray) pieces = pieces_of(s, map, path, TRUE);
	g_autoptr(GByteArray) found = g_byte_array_new();
	g_autofree char *wanted = sq_shell("%s | sha256sum", command), *got = NULL;

	for (guint i = 0; i < pieces->len; i++) {
		const tr_piece *piece = &g_array_index(pieces, tr_piece, i);
		g_autofree guint8 *bytes = g_malloc(piece->bytes);
		g_autoptr(GError) error = NULL;

		g_assert_cmpuint(piece->rest + piece->bytes, <=, piece->stored);
		img_source_read(medium(s), piece->start + piece->rest, bytes, piece->bytes, &error);
		g_assert_no_error(error);
		g_byte_array_append(found, bytes, (guint)piece->bytes);
	}
	got = g_compute_checksum_for_data(G_CHECKSUM_SHA256, found->data, found->len);
	wanted[strlen(got)] = '\0';
	if (!g_str_equal(got, wanted))
		g_error("%s: other bytes are named, %u of them", path, found->len);
}

static void check_extents(gboolean wrapped)
{
	g_auto(stack) s;

	open_stack(&s, "ext4", wrapped);
	g_autoptr(tr_data_map) map = new_map(&s);
	has_content(&s, map, "a", "debugfs -R 'cat a' ext4.img");
	has_content(&s, map, "d/big", "debugfs -R 'cat d/big' ext4.img");
	has_content(&s, map, "d/c", "debugfs -R 'cat d/c' ext4.img");
	has_content(&s, map, "kept", "debugfs -R 'cat kept' ext4.img | head -c 4096");
	g_autoptr(GArray) empty = pieces_of(&s, map, "empty", FALSE);
	g_autoptr(GArray) tiny = pieces_of(&s, map, "tiny", FALSE);
	g_assert_cmpuint(empty->len + tiny->len, ==, 0);
}

static void check_block_maps(gboolean wrapped)
{
	g_auto(stack) s;

	open_stack(&s, "ext2", wrapped);
	g_autoptr(tr_data_map) map = new_map(&s);
	has_content(&s, map, "d/big", "debugfs -R 'cat d/big' ext2.img");
	has_content(&s, map, "hole", "debugfs -R 'cat hole' ext2.img | tail -c 4096");
	has_content(&s, map, "last", "debugfs -R 'cat last' ext2.img");
}

static void files_of_an_ext4(void)
{
	check_extents(FALSE);
	check_block_maps(FALSE);
}

static void files_of_an_ext4_in_a_squashfs(void)
{
	check_extents(TRUE);
	check_block_maps(TRUE);
}

static void the_end_may_be_in_a_fragment_block(void)
{
	g_auto(stack) s;
	guint fragments = 0;

	open_stack(&s, "ext2", TRUE);
	g_autoptr(tr_data_map) map = new_map(&s);
	for (guint32 i = 0; i < img_tree_inode_count(s.ext4.tree); i++) {
		g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(tr_piece));

		if (img_tree_inode(s.ext4.tree, i)->type == IMG_FILE)
			tr_data_map_pieces(map, i, pieces);
		for (guint j = 0; j < pieces->len; j++)
			fragments += g_array_index(pieces, tr_piece, j).fragment;
	}
	g_assert_cmpuint(fragments, >, 0);
}

/* A file in one go is one piece for each block of the squashfs. */
static void blocks_together_are_one_piece(void)
{
	g_auto(stack) s;

	open_stack(&s, "ext4", TRUE);
	g_autoptr(tr_data_map) map = new_map(&s);
	g_autoptr(GArray) pieces = pieces_of(&s, map, "d/big", TRUE);
	g_assert_cmpuint(pieces->len, >=, 8);
	g_assert_cmpuint(pieces->len, <=, 10);
}

/* ---- reads ---- */

static void add_event(tr_trace *trace, const char *path)
{
	tr_event *event = g_new0(tr_event, 1);

	event->kind = TR_FILE;
	event->bytes = TR_BYTES_UNKNOWN;
	event->image = g_strdup(NAME);
	event->path = g_strdup(path);
	g_ptr_array_add(trace->events, event);
}

static guint64 bytes_of(const tr_trace *trace, guint i)
{
	return ((const tr_event *)g_ptr_array_index(trace->events, i))->bytes;
}

static void add_read(GArray *reads, guint64 from, guint64 to)
{
	guint64 start = from / PAGE * PAGE, end = (to + PAGE - 1) / PAGE * PAGE;
	tr_read read = {0, OFFSET + start, end - start, 0};

	g_array_append_val(reads, read);
}

/* Pieces [first, first + count) of a file. */
static void read_pieces(const stack *s, const char *path, guint first, guint count, GArray *reads)
{
	g_autoptr(tr_data_map) map = new_map(s);
	g_autoptr(GArray) pieces = pieces_of(s, map, path, TRUE);

	for (guint i = first; i < MIN(first + count, pieces->len); i++) {
		const tr_piece *piece = &g_array_index(pieces, tr_piece, i);

		add_read(reads, piece->start, piece->start + piece->stored);
	}
}

static tr_coverage check(const stack *s, tr_trace *trace, const GArray *reads)
{
	tr_coverage c;

	tr_coverage_check(trace, &s->layer, OFFSET, reads, &c);
	return c;
}

static void traced_files_explain_reads(gconstpointer wrapped)
{
	g_auto(stack) s;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));

	open_stack(&s, "ext4", wrapped != NULL);
	read_pieces(&s, "d/big", 1, G_MAXUINT16, reads);
	/* The first of its pieces may be next to other files. */
	tr_coverage c = check(&s, trace, reads);
	g_assert_cmpuint(c.image_bytes, >=, 7 * BLOCK);
	g_assert_cmpfloat(c.coverage, <, 0.4);
	add_event(trace, "d/big");
	add_event(trace, "a");
	c = check(&s, trace, reads);
	g_assert_cmpfloat(c.coverage, ==, 1);
	g_assert_cmpuint(bytes_of(trace, 0), <, 8 * BLOCK);
	g_assert_cmpuint(bytes_of(trace, 0), >=, 7 * BLOCK);
	read_pieces(&s, "d/big", 0, 1, reads);
	check(&s, trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, 8 * BLOCK);
}

/* Half of what is packed together is of no use. */
static void blocks_of_the_squashfs_count_whole(void)
{
	g_auto(stack) s;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));

	open_stack(&s, "ext4", TRUE);
	g_autoptr(tr_data_map) map = new_map(&s);
	g_autoptr(GArray) pieces = pieces_of(&s, map, "d/big", TRUE);
	const tr_piece *piece = &g_array_index(pieces, tr_piece, 3);
	add_event(trace, "d/big");
	add_read(reads, piece->start, piece->start + piece->stored / 2);
	check(&s, trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, 0);
	add_read(reads, piece->start + piece->stored / 2, piece->start + piece->stored);
	check(&s, trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, BLOCK);
}

static void unused_blocks_explain_nothing(void)
{
	g_auto(stack) s;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	g_autofree char *text = NULL;

	open_stack(&s, "ext4", FALSE);
	text = sq_shell("dumpe2fs ext4.img 2>/dev/null | sed -n 's/^  Free blocks: .*-//p'");
	guint64 last = g_ascii_strtoull(text, NULL, 10);
	g_assert_cmpuint(last, >, 0);
	add_read(reads, last * PAGE, (last + 1) * PAGE);
	g_assert_cmpfloat(check(&s, trace, reads).coverage, ==, 0);
}

/* Of both, the inner one's superblock and inodes, and the outer one's tables. */
static void metadata_explain_themselves(gconstpointer wrapped)
{
	g_auto(stack) s;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));

	open_stack(&s, "ext4", wrapped != NULL);
	add_read(reads, 0, PAGE);
	if (wrapped)
		add_read(reads, img_tree_metadata_start(s.outer.tree),
			img_tree_super(s.outer.tree)->bytes_used);
	tr_coverage c = check(&s, trace, reads);
	g_assert_cmpuint(c.metadata_bytes, ==, c.image_bytes);
	g_assert_cmpuint(c.metadata_bytes, >=, PAGE);
	g_assert_cmpfloat(c.coverage, ==, 1);
	g_autoptr(GArray) table = g_array_new(FALSE, FALSE, sizeof(tr_read));
	g_autofree char *text = sq_shell(
		"dumpe2fs ext4.img 2>/dev/null | sed -n 's/^  Inode table at \\([0-9]*\\).*/\\1/p'");
	guint64 at = g_ascii_strtoull(text, NULL, 10) * PAGE;
	guint64 start = wrapped ? img_tree_inode(s.outer.tree, s.layer.outer_inode)->data_start +
					  at / BLOCK * BLOCK
				: at;
	add_read(table, start, start + PAGE);
	c = check(&s, trace, table);
	g_assert_cmpuint(c.metadata_bytes, ==, c.image_bytes);
}

/* It was there when its tree was read. */
static void an_ext4_that_is_gone_is_unknown(void)
{
	g_auto(stack) s;
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	g_autoptr(GError) error = NULL;

	sq_run("cp ext4.img gone.img");
	open_stack(&s, "gone", FALSE);
	sq_run("truncate -s 5000 gone.img");
	g_assert_cmpfloat(check(&s, trace, reads).coverage, ==, -1);
	g_assert_null(tr_data_map_new(&s.layer, &error));
	g_assert_nonnull(error);
}

int main(int argc, char **argv)
{
	int status;

	g_test_init(&argc, &argv, NULL);
	sq_start(FALSE);
	make_images();
#define TEST(f) g_test_add_func("/data-map/" #f, f)
#define BOTH(f)                                                                                    \
	g_test_add_data_func("/data-map/plain/" #f, NULL, f);                                      \
	g_test_add_data_func("/data-map/wrapped/" #f, "", f)
	TEST(files_of_an_ext4);
	TEST(files_of_an_ext4_in_a_squashfs);
	TEST(the_end_may_be_in_a_fragment_block);
	TEST(blocks_together_are_one_piece);
	BOTH(traced_files_explain_reads);
	TEST(blocks_of_the_squashfs_count_whole);
	TEST(unused_blocks_explain_nothing);
	BOTH(metadata_explain_themselves);
	TEST(an_ext4_that_is_gone_is_unknown);
	status = g_test_run();
	return sq_finish(status);
}
