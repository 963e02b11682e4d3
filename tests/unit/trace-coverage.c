/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/coverage.h"

/*
 * The image: gzip, blocks of 128 KiB, data that don't compress. In the order in which it lies:
 *   a-big    300,000 bytes, two blocks and a tail in a fragment; "a-link" is a hard link to it
 *   b-other  1 MiB, eight blocks
 *   c-exact  256 KiB, two blocks
 *   d-hole   a block of zeros, a block of data
 *   small/0 … small/9  1,000 bytes each, in fragments
 */
enum { BLOCK = 131072, BIG = 300000, KIB = 1024 };

/* Where it lies on the medium. */
#define IMAGE_OFFSET 1048576

static char *dir, *image_path;
static int image_fd = -1;
static img_tree *tree;
static guint64 seed = 1;

static void make_file(const char *name, gsize zeros, gsize random)
{
	g_autofree char *path = g_build_filename(dir, "tree", name, NULL);
	g_autofree char *data = g_malloc0(zeros + random);

	for (gsize i = zeros; i < zeros + random; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		data[i] = (char)(seed >> 56);
	}
	g_assert_true(g_file_set_contents(path, data, (gssize)(zeros + random), NULL));
}

static void make_tree(void)
{
	g_autofree char *small = g_build_filename(dir, "tree", "small", NULL);
	g_autofree char *big = g_build_filename(dir, "tree", "a-big", NULL);
	g_autofree char *link_path = g_build_filename(dir, "tree", "a-link", NULL);
	g_autofree char *sym = g_build_filename(dir, "tree", "sym", NULL);

	g_assert_cmpint(g_mkdir_with_parents(small, 0755), ==, 0);
	make_file("a-big", 0, BIG);
	make_file("b-other", 0, 8 * BLOCK);
	make_file("c-exact", 0, 2 * BLOCK);
	make_file("d-hole", BLOCK, BLOCK);
	g_assert_cmpint(link(big, link_path), ==, 0);
	g_assert_cmpint(symlink("a-big", sym), ==, 0);
	for (guint i = 0; i < 10; i++) {
		g_autofree char *name = g_strdup_printf("small/%u", i);
		make_file(name, 0, 1000);
	}
}

static void make_image(void)
{
	g_autofree char *source = g_build_filename(dir, "tree", NULL);
	const char *argv[] = {"mksquashfs", source, image_path, "-comp", "gzip", "-b", "128K",
		"-noappend", "-no-progress", "-no-xattrs", "-always-use-fragments", "-processors",
		"1", NULL};
	g_autoptr(GError) error = NULL;
	int status;

	g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL,
		NULL, NULL, NULL, NULL, &status, &error);
	g_assert_no_error(error);
	g_assert_true(g_spawn_check_wait_status(status, NULL));
	image_fd = open(image_path, O_RDONLY | O_CLOEXEC);
	img_source s = {image_fd, 0, (guint64)lseek(image_fd, 0, SEEK_END), image_path};
	tree = img_tree_open(&s, &error);
	g_assert_no_error(error);
}

static const img_inode *inode_of(const char *path)
{
	guint32 index = img_tree_resolve(tree, path, FALSE);

	g_assert_cmpuint(index, !=, IMG_NONE);
	return img_tree_inode(tree, index);
}

/* Position of a block of a file; the block past the last one is where the file's data end. */
static guint64 block_at(const char *path, guint block)
{
	const img_inode *inode = inode_of(path);
	guint64 at = inode->data_start;

	for (guint i = 0; i < block; i++)
		at += IMG_BLOCK_STORED_SIZE(inode->blocks[i]);
	return at;
}

static tr_event *add_event(tr_trace *trace, const char *image, const char *path)
{
	tr_event *event = g_new0(tr_event, 1);

	event->kind = TR_FILE;
	event->bytes = TR_BYTES_UNKNOWN;
	event->image = g_strdup(image);
	event->path = g_strdup(path);
	g_ptr_array_add(trace->events, event);
	return event;
}

static tr_trace *empty_trace(void)
{
	tr_trace *trace = tr_trace_new();

	trace->image = g_strdup("/live/i");
	return trace;
}

static tr_trace *trace_of(const char *first, ...) G_GNUC_NULL_TERMINATED;
static tr_trace *trace_of(const char *first, ...)
{
	tr_trace *trace = empty_trace();
	va_list args;

	va_start(args, first);
	for (const char *path = first; path; path = va_arg(args, const char *))
		add_event(trace, "/live/i", path);
	va_end(args);
	return trace;
}

static guint64 bytes_of(const tr_trace *trace, guint i)
{
	return ((const tr_event *)g_ptr_array_index(trace->events, i))->bytes;
}

static GArray *no_reads(void)
{
	return g_array_new(FALSE, FALSE, sizeof(tr_read));
}

/* A read of [from, to) of the image, widened to whole units of the medium, as a guest's kernel
 * does. */
static void add_read(GArray *reads, guint64 from, guint64 to)
{
	from = from / 4096 * 4096;
	to = (to + 4095) / 4096 * 4096;
	tr_read r = {0, IMAGE_OFFSET + from, to - from, 0};
	g_array_append_val(reads, r);
}

static guint64 units(guint64 from, guint64 to)
{
	return ((to + 4095) / 4096 - from / 4096) * 4096;
}

static tr_coverage check(tr_trace *trace, const GArray *reads)
{
	const img_layer layer = {.name = "/live/i", .tree = tree};
	tr_coverage c;

	tr_coverage_check(trace, &layer, IMAGE_OFFSET, reads, &c);
	return c;
}

static void the_image_is_as_planned(void)
{
	g_assert_cmpuint(inode_of("a-big")->block_count, ==, 2);
	g_assert_cmpuint(inode_of("a-big")->fragment, !=, IMG_NONE);
	g_assert_cmpuint(inode_of("b-other")->block_count, ==, 8);
	g_assert_cmpuint(inode_of("c-exact")->fragment, ==, IMG_NONE);
	g_assert_cmpuint(inode_of("d-hole")->blocks[0], ==, 0);
	g_assert_cmpuint(inode_of("small/0")->block_count, ==, 0);
	g_assert_cmpuint(block_at("a-big", 2), ==, block_at("b-other", 0));
	g_assert_cmpuint(block_at("b-other", 8), ==, block_at("c-exact", 0));
}

static void nothing_read_is_all_explained(void)
{
	g_autoptr(tr_trace) trace = trace_of("a-big", "c-exact", "small/1", NULL);
	g_autoptr(GArray) reads = no_reads();
	tr_coverage c = check(trace, reads);

	g_assert_cmpuint(c.image_bytes, ==, 0);
	g_assert_cmpfloat(c.coverage, ==, 1);
	g_assert_cmpuint(bytes_of(trace, 0), ==, 0);
	g_assert_cmpuint(bytes_of(trace, 1), ==, 0);
	g_assert_cmpuint(bytes_of(trace, 2), ==, TR_BYTES_UNKNOWN);
}

static void blocks_of_traced_files_are_explained(void)
{
	g_autoptr(tr_trace) trace = trace_of("c-exact", NULL);
	g_autoptr(GArray) reads = no_reads();
	guint64 from = block_at("c-exact", 0), to = block_at("c-exact", 2);

	add_read(reads, from, to);
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.image_bytes, ==, units(from, to));
	g_assert_cmpuint(c.explained_bytes, ==, units(from, to));
	g_assert_cmpuint(c.metadata_bytes, ==, 0);
	g_assert_cmpuint(bytes_of(trace, 0), ==, 2 * BLOCK);
}

static void other_files_are_not(void)
{
	g_autoptr(tr_trace) trace = trace_of("c-exact", NULL);
	g_autoptr(GArray) reads = no_reads();

	/* The third block of b-other, far in front of c-exact. */
	add_read(reads, block_at("b-other", 2), block_at("b-other", 3));
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.image_bytes, >=, BLOCK);
	g_assert_cmpuint(c.explained_bytes, ==, 0);
	g_assert_cmpfloat(c.coverage, ==, 0);
}

static void the_window_is_128_kib_behind_what_was_read(void)
{
	g_autoptr(tr_trace) trace = trace_of("a-big", NULL);
	g_autoptr(GArray) reads = no_reads();
	guint64 end = block_at("a-big", 2);

	/* a-big's second block, and half a MiB on: b-other isn't traced. */
	add_read(reads, block_at("a-big", 1), end + 512 * KIB);
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.explained_bytes, ==, units(block_at("a-big", 1), end) + 128 * KIB);
	g_assert_cmpuint(c.image_bytes, ==, units(block_at("a-big", 1), end + 512 * KIB));
	g_assert_cmpfloat_with_epsilon(
		c.coverage, (double)c.explained_bytes / (double)c.image_bytes, 1e-12);
}

static void the_window_may_have_a_gap_before_it(void)
{
	g_autoptr(tr_trace) trace = trace_of("a-big", NULL);
	g_autoptr(GArray) reads = no_reads();
	guint64 end = (block_at("a-big", 2) + 4095) / 4096 * 4096;

	add_read(reads, block_at("a-big", 1), end);
	add_read(reads, end + 100 * KIB, end + 124 * KIB);
	add_read(reads, end + 132 * KIB, end + 144 * KIB);
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.image_bytes - c.explained_bytes, ==, 12 * KIB);
}

/* As soon as a reader enters the last window read ahead, the kernel reads the next one. */
static void a_request_that_starts_in_the_window_is_read_ahead_whole(void)
{
	g_autoptr(tr_trace) trace = trace_of("a-big", NULL);
	g_autoptr(GArray) reads = no_reads();
	guint64 end = (block_at("a-big", 2) + 4095) / 4096 * 4096;

	add_read(reads, block_at("a-big", 1), end);
	add_read(reads, end + 64 * KIB, end + 192 * KIB);
	add_read(reads, end + 192 * KIB, end + 200 * KIB);
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.image_bytes - c.explained_bytes, ==, 8 * KIB);
}

static void an_unread_block_has_no_window(void)
{
	g_autoptr(tr_trace) trace = trace_of("a-big", NULL);
	g_autoptr(GArray) reads = no_reads();
	guint64 end = (block_at("a-big", 2) + 4095) / 4096 * 4096;

	add_read(reads, end + 4 * KIB, end + 8 * KIB);
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.explained_bytes, ==, 0);
}

static void metadata_are_explained(void)
{
	g_autoptr(tr_trace) trace = empty_trace();
	g_autoptr(GArray) reads = no_reads();
	guint64 start = img_tree_metadata_start(tree), end = img_tree_super(tree)->bytes_used;

	add_read(reads, 0, 96);
	add_read(reads, start, end);
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.metadata_bytes, ==, 4096 + units(start, end));
	g_assert_cmpuint(c.explained_bytes, ==, c.image_bytes);
	g_assert_cmpfloat(c.coverage, ==, 1);
}

static void fragments_of_traced_files_are_explained(void)
{
	g_autoptr(tr_trace) trace = trace_of("small/3", NULL);
	g_autoptr(GArray) reads = no_reads();
	const img_fragment *f = img_tree_fragment(tree, inode_of("small/3")->fragment);

	add_read(reads, f->start, f->start + IMG_BLOCK_STORED_SIZE(f->size_word));
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.image_bytes, >, 0);
	g_assert_cmpuint(c.explained_bytes, ==, c.image_bytes);
	/* No data block of its own: nobody knows. */
	g_assert_cmpuint(bytes_of(trace, 0), ==, TR_BYTES_UNKNOWN);
}

static void only_blocks_that_were_read_count(void)
{
	g_autoptr(tr_trace) trace = trace_of("b-other", "a-big", NULL);
	g_autoptr(GArray) reads = no_reads();

	add_read(reads, block_at("b-other", 1), block_at("b-other", 2));
	add_read(reads, block_at("b-other", 6), block_at("b-other", 8));
	/* Half a block is none. */
	add_read(reads, block_at("b-other", 4), block_at("b-other", 4) + BLOCK / 2);
	check(trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, 3 * BLOCK);
	g_assert_cmpuint(bytes_of(trace, 1), ==, 0);
}

static void the_tail_counts_with_its_fragment(void)
{
	g_autoptr(tr_trace) trace = trace_of("a-big", NULL);
	g_autoptr(GArray) reads = no_reads();
	const img_fragment *f = img_tree_fragment(tree, inode_of("a-big")->fragment);

	add_read(reads, f->start, f->start + IMG_BLOCK_STORED_SIZE(f->size_word));
	check(trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, BIG - 2 * BLOCK);
	add_read(reads, block_at("a-big", 0), block_at("a-big", 2));
	check(trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, BIG);
}

static void holes_are_never_read(void)
{
	g_autoptr(tr_trace) trace = trace_of("d-hole", NULL);
	g_autoptr(GArray) reads = no_reads();

	add_read(reads, 0, img_tree_super(tree)->bytes_used);
	check(trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, BLOCK);
}

static void names_of_one_inode_agree(void)
{
	g_autoptr(tr_trace) trace = trace_of("a-big", "a-link", NULL);
	g_autoptr(GArray) reads = no_reads();

	add_read(reads, block_at("a-big", 0), block_at("a-big", 1));
	check(trace, reads);
	g_assert_cmpuint(bytes_of(trace, 0), ==, BLOCK);
	g_assert_cmpuint(bytes_of(trace, 1), ==, BLOCK);
}

static void reads_count_once_and_only_inside_the_image(void)
{
	g_autoptr(tr_trace) trace = trace_of("c-exact", NULL);
	g_autoptr(GArray) reads = no_reads();
	guint64 size = img_tree_source(tree)->size;
	tr_read around[] = {
		{0, 0, IMAGE_OFFSET, 0},
		{0, IMAGE_OFFSET - 4096, 8192, 0},
		{0, IMAGE_OFFSET, 4096, 0},
		{0, IMAGE_OFFSET + 2048, 2048, 0},
		{0, IMAGE_OFFSET + size, 1 << 20, 0},
		{0, G_MAXINT64, 0, 0},
	};

	g_array_append_vals(reads, around, G_N_ELEMENTS(around));
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.image_bytes, ==, 4096);
}

static void what_is_no_file_here_is_left_alone(void)
{
	g_autoptr(tr_trace) trace = trace_of("gone", "small", "sym", NULL);
	g_autoptr(GArray) reads = no_reads();

	add_event(trace, "/live/other", "b-other");
	((tr_event *)g_ptr_array_index(trace->events, 1))->kind = TR_DIR;
	((tr_event *)g_ptr_array_index(trace->events, 2))->kind = TR_SYMLINK;
	add_read(reads, block_at("b-other", 2), block_at("b-other", 3));
	tr_coverage c = check(trace, reads);
	g_assert_cmpuint(c.explained_bytes, ==, 0);
	for (guint i = 0; i < trace->events->len; i++)
		g_assert_cmpuint(bytes_of(trace, i), ==, TR_BYTES_UNKNOWN);
}

static void many_reads_and_events(void)
{
	g_autoptr(tr_trace) trace = empty_trace();
	g_autoptr(GArray) reads = no_reads();

	for (guint i = 0; i < 200000; i++) {
		add_event(trace, "/live/i", i % 2 ? "a-big" : "b-other");
		guint64 at = (guint64)(i * 7919ull % 400) * 4096;
		add_read(reads, at, at + 2048);
	}
	g_test_timer_start();
	tr_coverage c = check(trace, reads);
	g_test_message("200,000 reads and events in %.3f s", g_test_timer_elapsed());
	g_assert_cmpfloat(g_test_timer_last(), <, 30);
	g_assert_cmpuint(c.image_bytes, ==, 400 * 4096);
}

static void remove_all(void)
{
	g_autofree char *command = g_strdup_printf("rm -rf '%s'", dir);

	img_tree_free(tree);
	close(image_fd);
	g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
	g_free(dir);
	g_free(image_path);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_autofree char *tool = g_find_program_in_path("mksquashfs");
	if (!tool) {
		g_print("1..0 # SKIP mksquashfs is not installed\n");
		return 0;
	}
	dir = g_dir_make_tmp("coverage-XXXXXX", NULL);
	image_path = g_build_filename(dir, "image", NULL);
	make_tree();
	make_image();
#define TEST(f) g_test_add_func("/coverage/" #f, f)
	TEST(the_image_is_as_planned);
	TEST(nothing_read_is_all_explained);
	TEST(blocks_of_traced_files_are_explained);
	TEST(other_files_are_not);
	TEST(the_window_is_128_kib_behind_what_was_read);
	TEST(the_window_may_have_a_gap_before_it);
	TEST(a_request_that_starts_in_the_window_is_read_ahead_whole);
	TEST(an_unread_block_has_no_window);
	TEST(metadata_are_explained);
	TEST(fragments_of_traced_files_are_explained);
	TEST(only_blocks_that_were_read_count);
	TEST(the_tail_counts_with_its_fragment);
	TEST(holes_are_never_read);
	TEST(names_of_one_inode_agree);
	TEST(reads_count_once_and_only_inside_the_image);
	TEST(what_is_no_file_here_is_left_alone);
	TEST(many_reads_and_events);
	int status = g_test_run();
	remove_all();
	return status;
}
