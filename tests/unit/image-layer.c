/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which layer of an overlay a path is of. */
#include "layers-fixture.h"

#include "trace/agent/protocol.h"
#include "trace/events.h"
#include "trace/guest_mounts.h"

static img_layer_answer ask(const stack *st, guint layer, const char *path)
{
	guint32 inode, wanted = img_tree_resolve(st->layers[layer].tree, path, FALSE);
	g_autofree char *below = NULL;
	img_layer_answer answer = img_layer_find(&st->layers[layer], path, 0, &inode, &below);

	g_assert_cmpint(below != NULL, ==, answer == IMG_LAYER_PASSES);
	g_assert_cmpuint(inode, ==, answer == IMG_LAYER_HAS ? wanted : IMG_NONE);
	return answer;
}

static void test_one_layer(void)
{
	static const struct {
		const char *path;
		img_layer_answer answer;
	} cases[] = {
		{"/", IMG_LAYER_HAS},
		{"/etc/both", IMG_LAYER_HAS},
		{"/etc/base", IMG_LAYER_PASSES},
		{"/etc/gone", IMG_LAYER_HIDES},
		{"/away", IMG_LAYER_HIDES},
		{"/away/inner/x", IMG_LAYER_HIDES},
		{"/awayward", IMG_LAYER_PASSES},
		{"/null", IMG_LAYER_HAS}, /* any other device is none */
		{"/covered", IMG_LAYER_HAS},
		{"/covered/x", IMG_LAYER_HIDES}, /* a file where there was a directory */
		{"/linked/new", IMG_LAYER_HAS},  /* a symlink, too */
		{"/linked/x", IMG_LAYER_HIDES},
		{"/merged/old", IMG_LAYER_PASSES},
		{"/opaque", IMG_LAYER_HAS},
		{"/opaque/new", IMG_LAYER_HAS},
	};
	g_auto(stack) st;

	st_init(&st);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].path);
		g_assert_cmpint(ask(&st, MIDDLE, cases[i].path), ==, cases[i].answer);
	}
}

static void test_attributes(void)
{
	g_auto(stack) st;

	st_init(&st);
	if (!st.attributes) {
		g_test_skip("trusted attributes cannot be set");
		return;
	}
	g_assert_cmpint(ask(&st, MIDDLE, "/opaque/old"), ==, IMG_LAYER_HIDES);
	g_assert_cmpint(ask(&st, MIDDLE, "/opaque/below/old"), ==, IMG_LAYER_HIDES);
	g_assert_cmpint(ask(&st, MIDDLE, "/merged/old"), ==, IMG_LAYER_PASSES);
	g_assert_cmpint(ask(&st, MIDDLE, "/etc/blank"), ==, IMG_LAYER_HIDES);
	g_assert_cmpint(ask(&st, BASE, "/etc/blank"), ==, IMG_LAYER_HAS);
}

/* Directories that a layer has renamed; a path may begin above the root of the overlay. */
static void test_renamed_directories(void)
{
	static const struct {
		const char *path;
		gsize root;
		const char *below;
	} cases[] = {
		{"/merged/x/y", 0, "/merged/x/y"},
		{"/renamed/x", 0, "/covered/x"},
		{"/renamed/inner/x", 0, "/covered/inner/x"},
		{"/renamed/moved/x", 0, "/away/inner/x"},
		{"/renamed/moved/on/x", 0, "/away/inner/on/x"},
		{"/renamed/x", 8, "/x"},
		{"/renamed/moved/x", 8, "/away/inner/x"},
	};
	g_auto(stack) st;

	st_init(&st);
	if (!st.attributes) {
		g_test_skip("trusted attributes cannot be set");
		return;
	}
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *below = NULL;
		guint32 inode;

		g_test_message("%s", cases[i].path);
		g_assert_cmpint(img_layer_find(&st.layers[MIDDLE], cases[i].path, cases[i].root,
					&inode, &below),
			==, IMG_LAYER_PASSES);
		g_assert_cmpstr(below, ==, cases[i].below);
	}
}

static void test_by_name(void)
{
	g_auto(stack) st;

	st_init(&st);
	g_assert_true(img_layer_named(st.layers, LAYERS, layer_names[BASE]) == &st.layers[BASE]);
	g_assert_null(img_layer_named(st.layers, LAYERS, "/casper/a"));
	g_assert_null(img_layer_named(st.layers, BASE, layer_names[BASE]));
}

/* The image that an access to a path of the overlay is booked on; NULL: on none. */
static char *image_of(const stack *st, const char *path)
{
	g_autoptr(tr_events) events = tr_events_new(st->layers, LAYERS);
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(tr_place));
	tr_place foreign = {.image = "/casper/other.squashfs", .path = (char *)path};

	g_array_append_val(places, foreign);
	for (guint i = 0; i < LAYERS; i++) {
		tr_place place = {.image = layer_names[i], .path = (char *)path};
		g_array_append_val(places, place);
	}
	gboolean added = tr_events_add(events, 0, 1, TR_HOW_OPEN, places);
	g_assert_cmpuint(tr_events_get_counts(events)->unplaced, ==, 0);
	g_assert_cmpuint(tr_events_get_counts(events)->unmatched, ==, added ? 0 : 1);
	g_autoptr(GPtrArray) list = tr_events_steal(events);
	return added ? g_strdup(((tr_event *)g_ptr_array_index(list, 0))->image) : NULL;
}

static void test_whole_stack(void)
{
	static const struct {
		const char *path;
		int layer; /* -1: none */
	} cases[] = {
		{"/etc/base", BASE},
		{"/etc/both", MIDDLE},
		{"/etc/gone", -1},
		{"/etc/back", TOP}, /* there again, above the whiteout */
		{"/away/inner/x", -1},
		{"/covered", MIDDLE},
		{"/covered/x", -1},
		{"/merged", TOP},
		{"/merged/old", BASE},
		{"/merged/new", MIDDLE},
		{"/opaque/new", MIDDLE},
		{"/", TOP},
		{"/nowhere", -1},
	};
	g_auto(stack) st;

	st_init(&st);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *image = image_of(&st, cases[i].path);

		g_test_message("%s", cases[i].path);
		g_assert_cmpstr(image, ==, cases[i].layer < 0 ? NULL : layer_names[cases[i].layer]);
	}
	if (!st.attributes)
		return;
	g_autofree char *renamed = image_of(&st, "/renamed/x");
	g_autofree char *moved = image_of(&st, "/renamed/moved/x");
	g_assert_cmpstr(renamed, ==, layer_names[BASE]);
	g_assert_cmpstr(moved, ==, layer_names[BASE]);
	g_assert_null(image_of(&st, "/opaque/old"));
	g_assert_null(image_of(&st, "/etc/blank"));
}

/* A layer is also seen by itself: opened through the overlay, or mounted elsewhere. */
static void test_same_object_twice(void)
{
	g_auto(stack) st;

	st_init(&st);
	g_autoptr(tr_events) events = tr_events_new(st.layers, LAYERS);
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(tr_place));
	tr_place low = {.image = layer_names[BASE], .path = (char *)"/etc/both"};
	tr_place high = {.image = layer_names[MIDDLE], .path = (char *)"/etc/both"};

	g_array_append_val(places, high);
	g_array_append_val(places, low);
	g_assert_true(tr_events_add(events, 0, 1, TR_HOW_OPEN, places));
	g_assert_false(tr_events_add(events, 1, 2, TR_HOW_READ, places));
	g_array_remove_index(places, 0);
	g_assert_true(tr_events_add(events, 2, 3, TR_HOW_OPEN, places));
	tr_events_more(events, 2, TR_HOW_EXEC);
	g_autoptr(GPtrArray) list = tr_events_steal(events);
	g_assert_cmpuint(list->len, ==, 2);
	const tr_event *first = g_ptr_array_index(list, 0), *second = g_ptr_array_index(list, 1);
	g_assert_cmpstr(first->image, ==, layer_names[MIDDLE]);
	g_assert_cmpint(first->how, ==, TR_READ);
	g_assert_cmpstr(second->image, ==, layer_names[BASE]);
	g_assert_cmpint(second->how, ==, TR_EXEC);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/layer/one", test_one_layer);
	g_test_add_func("/layer/attributes", test_attributes);
	g_test_add_func("/layer/renamed-directories", test_renamed_directories);
	g_test_add_func("/layer/by-name", test_by_name);
	g_test_add_func("/layer/whole-stack", test_whole_stack);
	g_test_add_func("/layer/same-object-twice", test_same_object_twice);
	return g_test_run();
}
