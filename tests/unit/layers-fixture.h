/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Three images that are layers of one root, with everything that a layer can do to those below. */
#ifndef TESTS_LAYERS_FIXTURE_H
#define TESTS_LAYERS_FIXTURE_H

#include <sys/xattr.h>

#include "image-fixture.h"
#include "reorder/image/layer.h"

enum { TOP, MIDDLE, BASE, LAYERS };

static const char *const layer_names[] = {
	"/casper/a.b.c.squashfs", "/casper/a.b.squashfs", "/casper/a.squashfs"};

typedef struct {
	fixture images[LAYERS];
	img_layer layers[LAYERS];
	gboolean attributes; /* as root only */
} stack;

static void st_base(const fixture *fx)
{
	fx_file(fx, "etc/base", 100);
	fx_file(fx, "etc/both", 200);
	fx_file(fx, "etc/gone", 300);
	fx_file(fx, "etc/back", 300);
	fx_file(fx, "etc/blank", 300);
	fx_file(fx, "away/inner/x", 400);
	fx_file(fx, "opaque/old", 500);
	fx_file(fx, "opaque/below/old", 500);
	fx_file(fx, "merged/old", 500);
	fx_file(fx, "covered/x", 600);
	fx_file(fx, "linked/x", 600);
}

/* With whiteouts of etc/gone, etc/back and away. */
static void st_middle(const fixture *fx)
{
	fx_file(fx, "etc/both", 210);
	fx_file(fx, "etc/blank", 0);
	fx_file(fx, "opaque/new", 510);
	fx_file(fx, "merged/new", 510);
	fx_file(fx, "covered", 610);
	fx_symlink(fx, "linked", "merged");
	fx_dir(fx, "renamed/moved"); /* was covered, and away/inner */
}

static void st_top(const fixture *fx)
{
	fx_file(fx, "etc/back", 310);
	fx_file(fx, "merged/newest", 520);
	fx_file(fx, "usr/sbin/init", 4000);
}

static gboolean st_set(const fixture *fx, const char *path, const char *name, const char *value)
{
	g_autofree char *file = g_build_filename(fx->root, path, NULL);

	return setxattr(file, name, value, strlen(value), 0) == 0;
}

static void st_image(stack *st, guint i, const char *more)
{
	g_autoptr(GError) error = NULL;
	const img_tree *tree = fx_image(&st->images[i], more);

	img_layer_init(&st->layers[i], layer_names[i], tree, &error);
	g_assert_no_error(error);
}

G_GNUC_UNUSED static void st_init(stack *st)
{
	static const char whiteouts[] = "etc/gone c 0 0 0 0 0\netc/back c 0 0 0 0 0\n"
					"away c 0 0 0 0 0\nnull c 666 0 0 1 3\n";
	fixture *middle = &st->images[MIDDLE];

	for (guint i = 0; i < LAYERS; i++)
		fx_init(&st->images[i]);
	st_base(&st->images[BASE]);
	st_middle(middle);
	st_top(&st->images[TOP]);
	g_autofree char *pseudo = g_build_filename(middle->dir, "pseudo", NULL);
	g_autofree char *words = g_strconcat("-pf ", pseudo, NULL);
	g_assert_true(g_file_set_contents(pseudo, whiteouts, -1, NULL));
	st->attributes =
		st_set(middle, "opaque", "trusted.overlay.opaque", "y") &&
		st_set(middle, "merged", "trusted.overlay.opaque", "x") &&
		st_set(middle, "renamed", "trusted.overlay.redirect", "covered") &&
		st_set(middle, "renamed/moved", "trusted.overlay.redirect", "/away/inner") &&
		st_set(middle, "etc/blank", "trusted.overlay.whiteout", "y");
	st_image(st, TOP, "");
	st_image(st, MIDDLE, words);
	st_image(st, BASE, "");
}

G_GNUC_UNUSED static void st_clear(stack *st)
{
	for (guint i = 0; i < LAYERS; i++) {
		img_layer_clear(&st->layers[i]);
		fx_clear(&st->images[i]);
	}
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(stack, st_clear)

#endif
