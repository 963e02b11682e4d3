/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tests/unit/squashfs-fixture.h"
#include "trace/block_tracer.h"

/*
 * The image: nothing is compressed, blocks of 128 KiB; in the order in which it lies:
 *   a/one    three blocks
 *   a/two    a block and a tail in the fragment block
 *   b/first  two blocks
 *   b/next   a block
 *   a fragment block: the tail of a/two, small/0 … small/4, of 1,000 bytes each
 *   another: the tail of b/void, 5,000 bytes; before it are only zeros, which take no room
 *   empty, link
 */
enum { BLOCK = 131072, PAGE = 4096, OFFSET = 8192 };

static sq_image image;

/* It, under several names. */
static img_layer layer = {.name = "/live/i"}, layer_1 = {.name = "/live/1"},
		 layer_2 = {.name = "/live/2"};

static void make_image(void)
{
	sq_run("mkdir -p t/a t/b t/small; cd t; text() { yes \"$1\" | head -c \"$2\" >\"$1\"; };"
	       "text a/one 393216; text a/two 132072; text b/first 262144; text b/next 131072;"
	       "truncate -s 131072 b/void; yes end | head -c 5000 >>b/void;"
	       "for i in 0 1 2 3 4; do text small/$i 1000; done; : >empty; ln -s a/one link; cd ..;"
	       "mksquashfs t image -noappend -quiet -no-progress -noD -noF -b 128K -no-duplicates "
	       "-always-use-fragments -no-xattrs -all-root -processors 1");
	sq_open(&image, "image");
	layer.tree = layer_1.tree = layer_2.tree = image.tree;
}

static const img_inode *inode_of(const char *path)
{
	return img_tree_inode(image.tree, sq_inode(&image, path));
}

/* Position of a block of a file. */
static guint64 block_at(const char *path, guint block)
{
	return inode_of(path)->data_start + block * (guint64)BLOCK;
}

static guint64 fragment_at(void)
{
	return img_tree_fragment(image.tree, inode_of("small/0")->fragment)->start;
}

static GArray *no_reads(void)
{
	return g_array_new(FALSE, FALSE, sizeof(tr_read));
}

/* Whole pages of the image with all of [from, to), a second after the read before. */
static void add_read(GArray *reads, guint64 from, guint64 to)
{
	guint64 start = from / PAGE * PAGE, end = (to + PAGE - 1) / PAGE * PAGE;
	tr_read read = {10 + reads->len, OFFSET + start, end - start, 0};

	g_array_append_val(reads, read);
}

static void add_block(GArray *reads, guint64 at)
{
	add_read(reads, at, at + BLOCK);
}

/* The paths that were found, in order: "TIME PATH …"; a directory has a slash behind it, "| " comes
 * before what was only read ahead. */
static char *text_of(const GPtrArray *events, const tr_block_counts *counts)
{
	GString *text = g_string_new(NULL);
	guint files = 0;

	for (guint i = 0; i < events->len; i++) {
		const tr_event *event = g_ptr_array_index(events, i);
		gboolean dir = event->kind == TR_DIR;
		if (files == counts->wanted && counts->ahead > 0 && !strchr(text->str, '|'))
			g_string_append(text, "| ");
		g_string_append_printf(text, "%g %s%s ", event->time, event->path, dir ? "/" : "");
		g_assert_cmpint(event->how, ==, TR_BLOCKS);
		files += !dir;
	}
	g_assert_cmpuint(files, ==, counts->wanted + counts->ahead);
	return g_string_free(text, FALSE);
}

static void add_image(tr_block_tracer *tracer, const img_layer *of, guint64 offset)
{
	g_autoptr(GError) error = NULL;

	tr_block_tracer_add(tracer, of, offset, &error);
	g_assert_no_error(error);
}

/* Takes the reads over. */
static void finds(GArray *reads, const char *wanted)
{
	g_autoptr(tr_block_tracer) tracer = tr_block_tracer_new(reads);
	tr_block_counts counts;

	add_image(tracer, &layer, OFFSET);
	g_autoptr(GPtrArray) events = tr_block_tracer_events(tracer, 10, &counts);
	g_autofree char *text = text_of(events, &counts);
	g_assert_cmpstr(text, ==, wanted);
	g_array_unref(reads);
}

static void nothing(void)
{
	GArray *reads = no_reads();

	finds(no_reads(), "");
	/* The superblock, the tables, and what is not of the image. */
	add_read(reads, 0, 96);
	add_read(reads, img_tree_metadata_start(image.tree), image.source.size);
	add_read(reads, image.source.size + PAGE, image.source.size + BLOCK);
	finds(reads, "");
}

static void in_order_of_reads(void)
{
	GArray *reads = no_reads();

	add_block(reads, block_at("b/next", 0));
	add_block(reads, block_at("a/one", 0));
	add_block(reads, block_at("b/next", 0));
	finds(reads, "0 / 0 b/ 0 b/next 1 a/ 1 a/one ");
}

/* Half a block is of no use to anybody; its rest may come later. */
static void whole_blocks_only(void)
{
	GArray *reads = no_reads();

	add_read(reads, block_at("b/next", 0), block_at("b/next", 0) + BLOCK / 2);
	finds(reads, "");
	reads = no_reads();
	add_read(reads, block_at("b/next", 0), block_at("b/next", 0) + BLOCK / 2);
	add_block(reads, block_at("a/one", 0));
	add_read(reads, block_at("b/next", 0) + BLOCK / 2, block_at("b/next", 1));
	finds(reads, "1 / 1 a/ 1 a/one 2 b/ 2 b/next ");
}

/* Any of its blocks will do. */
static void a_later_block(void)
{
	GArray *reads = no_reads();

	add_block(reads, block_at("a/one", 1));
	finds(reads, "0 / 0 a/ 0 a/one ");
}

static void files_of_a_fragment_block(void)
{
	GArray *reads = no_reads();
	guint64 at = fragment_at();

	/* a/two has data of its own, of which nothing was read; b/void has none. */
	add_read(reads, at, at + 6000);
	add_read(reads, at + 6000 + PAGE, at + 6000 + 5000);
	finds(reads,
		"0 / 0 small/ 0 small/0 0 small/1 0 small/2 0 small/3 0 small/4 | 1 b/ 1 b/void ");
}

/* A window that nothing follows is the kernel's guess, all before it was wanted. */
static void read_ahead(void)
{
	GArray *reads = no_reads();
	guint64 two = block_at("a/two", 0), first = block_at("b/first", 0);

	g_assert_cmpuint(first, ==, two + BLOCK);
	add_block(reads, two);
	add_read(reads, first + PAGE, first + 2 * BLOCK);
	add_block(reads, block_at("a/one", 0));
	finds(reads, "0 / 0 a/ 0 a/two 2 a/one | 2 b/ 2 b/first ");

	reads = no_reads();
	add_block(reads, two);
	add_read(reads, first + PAGE, first + 2 * BLOCK);
	add_read(reads, first + 2 * BLOCK + PAGE, first + 3 * BLOCK);
	finds(reads, "0 / 0 a/ 0 a/two 1 b/ 1 b/first | 2 b/next ");
}

/* What a run passes on its way was wanted too. */
static void a_run(void)
{
	guint64 one = block_at("a/one", 0), two = block_at("a/two", 0);
	guint64 next = block_at("b/next", 0), end = fragment_at();

	for (guint reads_count = 3; reads_count <= 4; reads_count++) {
		GArray *reads = no_reads();

		add_read(reads, one, two + PAGE);
		add_read(reads, two + 2 * PAGE, next + PAGE);
		add_read(reads, next + 2 * PAGE, end);
		if (reads_count == 4)
			add_read(reads, end + PAGE, end + PAGE + 1);
		finds(reads,
			reads_count == 3
				? "0 / 0 a/ 0 a/one 1 a/two | 2 b/ 2 b/first 2 b/next "
				: "0 / 0 a/ 0 a/one 1 a/two 1 b/ 1 b/first 2 b/next | "
				  "3 small/ 3 small/0 3 small/1 3 small/2 3 small/3 3 small/4 ");
	}
}

/* A page that has the end of one block and the start of another: the jump was for the latter. */
static void a_page_of_two(void)
{
	GArray *reads = no_reads();
	guint64 two = block_at("a/two", 0), first = block_at("b/first", 0);

	add_read(reads, first, first + 2 * BLOCK);
	add_read(reads, two - PAGE, two + PAGE);
	add_read(reads, two + 2 * PAGE, first - PAGE);
	finds(reads, "0 / 0 b/ 0 b/first | 2 a/ 2 a/two ");
}

/* A read that starts before the image says nothing about what of it was wanted. */
static void from_outside(void)
{
	GArray *reads = no_reads();
	tr_read read = {10, 0, OFFSET + BLOCK + PAGE, 0};

	g_array_append_val(reads, read);
	finds(reads, "| 0 / 0 a/ 0 a/one ");
}

static void two_images(void)
{
	g_autoptr(GArray) reads = no_reads();
	g_autoptr(tr_block_tracer) tracer = tr_block_tracer_new(reads);
	guint64 behind = OFFSET + (image.source.size / PAGE + 1) * PAGE;
	g_autoptr(GString) names = g_string_new(NULL);
	tr_block_counts counts;

	add_block(reads, behind - OFFSET + block_at("b/next", 0));
	add_block(reads, block_at("a/two", 0));
	add_image(tracer, &layer_1, OFFSET);
	add_image(tracer, &layer_2, behind);
	g_autoptr(GPtrArray) events = tr_block_tracer_events(tracer, 0, &counts);
	for (guint i = 0; i < events->len; i++) {
		const tr_event *event = g_ptr_array_index(events, i);
		g_string_append_printf(names, "%s %s ", event->image, event->path);
	}
	g_assert_cmpstr(names->str, ==,
		"/live/2  /live/2 b /live/2 b/next /live/1  /live/1 a /live/1 a/two ");
}

/* Times before the kernel's start are its start. */
static void times(void)
{
	g_autoptr(GArray) reads = no_reads();
	g_autoptr(tr_block_tracer) tracer = tr_block_tracer_new(reads);
	tr_block_counts counts;

	add_block(reads, block_at("a/two", 0));
	add_image(tracer, &layer_1, OFFSET);
	g_autoptr(GPtrArray) early = tr_block_tracer_events(tracer, 7.5, &counts);
	g_autoptr(GPtrArray) late = tr_block_tracer_events(tracer, 20, &counts);
	g_assert_cmpfloat(((tr_event *)g_ptr_array_index(early, 2))->time, ==, 2.5);
	g_assert_cmpfloat(((tr_event *)g_ptr_array_index(late, 2))->time, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (!sq_start(FALSE))
		return 0;
	make_image();
	g_test_add_func("/block-tracer/nothing", nothing);
	g_test_add_func("/block-tracer/in-order-of-reads", in_order_of_reads);
	g_test_add_func("/block-tracer/whole-blocks-only", whole_blocks_only);
	g_test_add_func("/block-tracer/a-later-block", a_later_block);
	g_test_add_func("/block-tracer/fragment-block", files_of_a_fragment_block);
	g_test_add_func("/block-tracer/read-ahead", read_ahead);
	g_test_add_func("/block-tracer/a-run", a_run);
	g_test_add_func("/block-tracer/a-page-of-two", a_page_of_two);
	g_test_add_func("/block-tracer/from-outside", from_outside);
	g_test_add_func("/block-tracer/two-images", two_images);
	g_test_add_func("/block-tracer/times", times);
	int status = g_test_run();
	sq_clear(&image);
	return sq_finish(status);
}
