/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tests/unit/squashfs-fixture.h"
#include "trace/atimes.h"
#include "trace/guest_mounts.h"

static sq_image image;

/* What the sweep found at a place of that image. */
static void add(tr_atimes *atimes, double time, const char *name, const char *path)
{
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(tr_place));
	g_autofree char *copy = g_strdup(path);
	tr_place place = {.image = name, .path = copy};

	g_array_append_val(places, place);
	tr_atimes_add(atimes, time, places);
}

static void add_event(GPtrArray *events, double time, const char *path)
{
	tr_event *event = g_new0(tr_event, 1);

	event->time = time;
	event->kind = TR_FILE;
	event->how = TR_READ;
	event->image = g_strdup("/i");
	event->path = g_strdup(path);
	g_ptr_array_add(events, event);
}

static void free_event(gpointer event)
{
	tr_event_free(event);
}

static GPtrArray *no_events(void)
{
	return g_ptr_array_new_with_free_func(free_event);
}

static void gives(tr_atimes *atimes, GPtrArray *early, double since, const char *wanted)
{
	g_autoptr(GPtrArray) events = tr_atimes_join(atimes, early, since);
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < events->len; i++) {
		const tr_event *event = g_ptr_array_index(events, i);
		g_string_append_printf(text, "%g %c %s %s; ", event->time, (char)event->kind,
			tr_how_name(event->how), event->path);
	}
	g_assert_cmpstr(text->str, ==, wanted);
}

static void by_time_of_access(void)
{
	const img_layer layer = {.name = "/i", .tree = image.tree};
	g_autoptr(tr_atimes) atimes = tr_atimes_new(&layer, 1);

	add(atimes, 9, "/i", "/b");
	add(atimes, 5, "/i", "/d");
	add(atimes, 7, "/i", "/d/link");
	add(atimes, 6, "/i", "/a");
	/* Of another image, made at run time, and seen a second time. */
	add(atimes, 6, "/j", "/c");
	add(atimes, 6, "/i", "/made");
	add(atimes, 6, "/i", "/b");
	g_assert_cmpuint(tr_atimes_count(atimes), ==, 4);
	gives(atimes, no_events(), 4, "5 d atime d; 6 f atime a; 7 l atime d/link; 9 f atime b; ");
}

/* Before the times were kept only fanotify knows; afterwards it is left to them. */
static void what_came_before(void)
{
	const img_layer layer = {.name = "/i", .tree = image.tree};
	g_autoptr(tr_atimes) atimes = tr_atimes_new(&layer, 1);
	GPtrArray *early = no_events();

	add_event(early, 1, "c");
	add_event(early, 2, "b");
	add_event(early, 5, "a");
	add(atimes, 8, "/i", "/b");
	add(atimes, 6, "/i", "/d");
	/* The clock was set: earlier than can be. */
	add(atimes, 0.5, "/i", "/d/link");
	gives(atimes, early, 3, "1 f read c; 2 f read b; 3 l atime d/link; 6 d atime d; ");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (!sq_start(FALSE))
		return 0;
	sq_run("mkdir -p t/d; for i in a b c; do echo $i >t/$i; done; ln -s ../a t/d/link;"
	       "mksquashfs t image -noappend -quiet -no-progress -no-xattrs -all-root");
	sq_open(&image, "image");
	g_test_add_func("/atimes/by-time-of-access", by_time_of_access);
	g_test_add_func("/atimes/what-came-before", what_came_before);
	int status = g_test_run();
	sq_clear(&image);
	return sq_finish(status);
}
