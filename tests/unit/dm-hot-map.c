/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/hot_map.h"

#include <fcntl.h>

#include "iso/live_iso.h"
#include "reorder/util/error.h"
#include "tests/unit/iso-fixture.h"
#include "trace/read_log.h"

/*
 * Data that do not compress, no fragments: a file lies where the sizes before it say, behind the
 * superblock's 96 bytes. The old image has a to f in that order, the new one c a e b d f.
 */
enum { KIB = 1024, MIB = 1024 * KIB, PAGE = 4096, BLOCK = 128 * KIB };
enum { A = 300000, B = 3 * MIB, C = 200000, D = 3 * MIB, E = 2 * MIB, F = 3 * MIB };
enum { OLD_A = 96, OLD_C = 96 + A + B, OLD_D = OLD_C + C, OLD_E = OLD_D + D };
enum { NEW_C = 96, NEW_A = NEW_C + C, NEW_E = NEW_A + A };

static const char script[] =
	"mkdir -p tree iso/live iso/.disk iso/other/deep/er\n"
	"noise() { openssl enc -aes-128-ctr -nosalt -K 0 -iv $1 </dev/zero 2>/dev/null | head -c $2; }\n"
	"noise 1 300000 >tree/a; noise 2 3M >tree/b; noise 3 200000 >tree/c\n"
	"noise 4 3M >tree/d; noise 5 2M >tree/e; noise 6 3M >tree/f\n"
	"printf 'a 5\\nb 3\\nc 6\\nd 2\\ne 4\\nf 1\\n' >order\n"
	"make() { mksquashfs tree $1 -noappend -quiet -no-progress -no-fragments -no-xattrs -all-root "
	"-b 128K -mkfs-time 0 -all-time 0 \"${@:2}\" >/dev/null; }\n"
	"make old; make new -sort order\n"
	"echo info >iso/.disk/info; head -c 2M /dev/zero >iso/other/zeros; touch iso/other/deep/er/x\n"
	"iso() { cp $1 iso/live/fs; xorriso -report_about SORRY -as mkisofs -quiet -r -V HOT "
	"-o $1.iso iso 2>/dev/null; }\n"
	"iso old; iso new\n";

static char *dir;

typedef struct {
	li_iso *iso;
	const li_file *image;
	img_tree *tree;
} side;

static side open_side(const char *name)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = g_build_filename(dir, name, NULL);
	side s = {.iso = li_iso_open(path, &error)};
	img_source source;

	g_assert_no_error(error);
	s.image = li_iso_find(s.iso, "/live/fs");
	g_assert_true(li_iso_source(s.iso, s.image, &source, &error));
	s.tree = img_tree_open(&source, &error);
	g_assert_no_error(error);
	return s;
}

static void close_side(side *s)
{
	img_tree_free(s->tree);
	li_iso_free(s->iso);
}

static guint64 start_of(const side *s, const char *file)
{
	return img_tree_inode(s->tree, img_tree_resolve(s->tree, file, FALSE))->data_start;
}

static void add_hot_file(GArray *files, const side *s, const char *path, gboolean partly)
{
	dmx_hot_file file = {img_tree_resolve(s->tree, path, FALSE), partly};

	g_array_append_val(files, file);
}

static void trace_file(tr_trace *trace, const char *path, guint64 bytes)
{
	tr_event *event = g_new0(tr_event, 1);

	event->kind = TR_FILE;
	event->bytes = bytes;
	event->image = g_strdup("/live/fs");
	event->path = g_strdup(path);
	g_ptr_array_add(trace->events, event);
}

/* A map in pages, put together in another way: a flag for each page. */
typedef struct {
	guint8 *pages;
	guint64 count, size;
} bitmap;

static void mark(bitmap *b, guint64 start, guint64 end)
{
	for (guint64 page = start / PAGE; page * PAGE < MIN(end, b->size); page++)
		b->pages[page] = 1;
}

/* Gaps of 36 pages and less are closed. */
static void close_gaps(bitmap *b)
{
	guint64 last = G_MAXUINT64;

	for (guint64 i = 0; i < b->count; i++) {
		if (!b->pages[i])
			continue;
		if (last != G_MAXUINT64 && i - last - 1 <= 36)
			memset(b->pages + last, 1, i - last);
		last = i;
	}
}

/* What goes in whatever was read: fixed places, volume, superblock and tables. */
static void mark_always(bitmap *b, const side *new)
{
	static const guint64 places[] = {256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB};
	guint64 base = new->image->extents[0].offset, end = base + new->image->size;

	mark(b, 0, 516 * KIB);
	mark(b, base, base + 68 * KIB);
	for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
		mark(b, places[i], places[i] + PAGE);
		mark(b, base + places[i], base + places[i] + PAGE);
	}
	mark(b, end - 64 * KIB, end);
	mark(b, b->size - 516 * KIB, b->size);
	mark(b, base + img_tree_metadata_start(new->tree),
		base + img_tree_super(new->tree)->bytes_used);
}

static void compare(const dmx_hot_map *map, bitmap *b)
{
	guint n = 0;
	guint64 bytes = 0;

	close_gaps(b);
	for (guint64 i = 0; i < b->count; i++) {
		guint64 start = i;

		if (!b->pages[i])
			continue;
		while (i < b->count && b->pages[i])
			i++;
		g_assert_cmpuint(n, <, map->extents->len);
		const struct dmx_extent *e = &g_array_index(map->extents, struct dmx_extent, n++);
		g_assert_cmpuint(e->offset, ==, start * PAGE);
		g_assert_cmpuint(e->offset + e->length, ==, MIN(i * PAGE, b->size));
		bytes += e->length;
	}
	g_assert_cmpuint(n, ==, map->extents->len);
	g_assert_cmpuint(map->bytes, ==, bytes);
}

typedef struct {
	side old, new;
	GArray *files;
	tr_trace *trace;
	GArray *reads;
	bitmap wanted;
	dmx_hot_map_job job;
} fixture;

static void set_up(fixture *f, gconstpointer data)
{
	(void)data;
	f->old = open_side("old.iso");
	f->new = open_side("new.iso");
	f->files = g_array_new(FALSE, FALSE, sizeof(dmx_hot_file));
	add_hot_file(f->files, &f->old, "c", FALSE);
	add_hot_file(f->files, &f->old, "a", FALSE);
	add_hot_file(f->files, &f->old, "e", TRUE);
	f->trace = tr_trace_new();
	f->trace->image = g_strdup("/live/fs");
	trace_file(f->trace, "c", C);
	trace_file(f->trace, "a", TR_BYTES_UNKNOWN);
	trace_file(f->trace, "e", BLOCK + 1);
	f->reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	f->wanted.size = f->new.iso->volume.size;
	f->wanted.count = (f->wanted.size + PAGE - 1) / PAGE;
	f->wanted.pages = g_malloc0(f->wanted.count);
	mark_always(&f->wanted, &f->new);
	f->job = (dmx_hot_map_job){f->old.iso, f->new.iso, "/live/fs", f->old.tree, f->new.tree,
		f->files, f->trace, NULL, 0};
}

static void tear_down(fixture *f, gconstpointer data)
{
	(void)data;
	close_side(&f->old);
	close_side(&f->new);
	g_array_unref(f->files);
	tr_trace_free(f->trace);
	g_array_unref(f->reads);
	g_free(f->wanted.pages);
}

static guint64 base_of(const side *s)
{
	return s->image->extents[0].offset;
}

/* A read of the old ISO; returns its bytes. */
static guint64 add_read(fixture *f, guint64 offset, guint64 length)
{
	tr_read read = {0, offset, length, 0};

	g_array_append_val(f->reads, read);
	f->job.reads = f->reads;
	return length;
}

static void mark_new(fixture *f, guint64 start, guint64 length)
{
	mark(&f->wanted, base_of(&f->new) + start, base_of(&f->new) + start + length);
}

static void make(fixture *f, dmx_hot_map *map)
{
	g_autoptr(GError) error = NULL;

	g_assert_true(dmx_hot_map_make(&f->job, map, &error));
	g_assert_no_error(error);
}

static void test_positions(fixture *f, gconstpointer data)
{
	(void)data;
	g_assert_cmpuint(start_of(&f->old, "a"), ==, OLD_A);
	g_assert_cmpuint(start_of(&f->old, "e"), ==, OLD_E);
	g_assert_cmpuint(start_of(&f->new, "c"), ==, NEW_C);
	g_assert_cmpuint(start_of(&f->new, "a"), ==, NEW_A);
	g_assert_cmpuint(start_of(&f->new, "e"), ==, NEW_E);
}

static void test_without_log(fixture *f, gconstpointer data)
{
	g_auto(dmx_hot_map) map = {0};

	(void)data;
	make(f, &map);
	mark_new(f, NEW_C, C + A);
	mark_new(f, NEW_E, 2 * BLOCK); /* one block and a byte were read */
	compare(&map, &f->wanted);
	g_assert_cmpuint(map.reads, ==, 0);
}

static void test_with_log(fixture *f, gconstpointer data)
{
	g_auto(dmx_hot_map) map = {0};
	guint64 old = base_of(&f->old), bytes = 0;
	guint64 info = li_iso_find(f->old.iso, "/.disk/info")->extents[0].offset;
	guint64 new_info = li_iso_find(f->new.iso, "/.disk/info")->extents[0].offset;
	guint64 in_d = (OLD_D + MIB) / PAGE * PAGE;

	(void)data;
	/* Of the partly read file the blocks 0 and 15, of a whole one a page. */
	bytes += add_read(f, old + OLD_E / PAGE * PAGE, BLOCK + PAGE);
	bytes += add_read(f, old + (OLD_E + 15 * BLOCK) / PAGE * PAGE, BLOCK + PAGE);
	bytes += add_read(f, old + (OLD_A + 8192) / PAGE * PAGE, PAGE);
	/* Probing: in a file that was not opened, and near the image's end, which is a table. */
	bytes += add_read(f, old + in_d, PAGE);
	bytes += add_read(f, old + (img_tree_metadata_start(f->old.tree) / PAGE) * PAGE, PAGE);
	/* A small file, and a place of the medium. */
	bytes += add_read(f, info / PAGE * PAGE, PAGE);
	bytes += add_read(f, 20 * KIB, PAGE);
	make(f, &map);

	mark_new(f, NEW_C, C + A);
	mark_new(f, NEW_E, BLOCK);
	mark_new(f, NEW_E + 15 * BLOCK, BLOCK);
	mark_new(f, in_d, PAGE);
	mark(&f->wanted, old + in_d, old + in_d + PAGE);
	mark(&f->wanted, new_info, new_info + 5);
	mark(&f->wanted, info / PAGE * PAGE, info / PAGE * PAGE + PAGE);
	compare(&map, &f->wanted);
	g_assert_cmpuint(map.covered, ==, map.reads);
	g_assert_cmpuint(map.reads, ==, bytes);
}

/* A run of 2 MiB in a file that was not opened is no probing, and what is read ahead is none. */
static void test_no_probing(fixture *f, gconstpointer data)
{
	g_auto(dmx_hot_map) map = {0};
	guint64 old = base_of(&f->old);

	(void)data;
	add_read(f, old + (OLD_D + 256 * KIB) / PAGE * PAGE, 2 * MIB);
	add_read(f, old + OLD_A / PAGE * PAGE, PAGE);
	make(f, &map);
	mark_new(f, NEW_C, C + A);
	compare(&map, &f->wanted);
	g_assert_cmpuint(map.reads, ==, 2 * MIB + PAGE);
	g_assert_cmpuint(map.covered, ==, PAGE);
}

/* Little room: larger gaps are read through, and nothing is left out. */
static void test_little_room(fixture *f, gconstpointer data)
{
	g_auto(dmx_hot_map) all = {0}, few = {0};

	(void)data;
	make(f, &all);
	f->job.max_bytes = 60; /* of lines of 25 */
	make(f, &few);
	g_assert_cmpuint(all.extents->len, >, 2);
	g_assert_cmpuint(few.extents->len, <=, 2);
	g_assert_cmpuint(few.bytes, >, all.bytes);
}

static void test_no_map(fixture *f, gconstpointer data)
{
	g_autoptr(GError) error = NULL;
	struct dmx_map map;

	(void)data;
	g_assert_false(dmx_hot_map_of_iso(f->new.iso, &map, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	dmx_map_clear(&map);
}

#define ADD(path, test) g_test_add(path, fixture, NULL, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	dir = fixture_dir();
	fixture_script(dir, script);
	ADD("/hot-map/positions", test_positions);
	ADD("/hot-map/without-log", test_without_log);
	ADD("/hot-map/with-log", test_with_log);
	ADD("/hot-map/no-probing", test_no_probing);
	ADD("/hot-map/little-room", test_little_room);
	ADD("/hot-map/no-map", test_no_map);

	int status = g_test_run();
	fixture_remove(dir);
	return status;
}
