/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/hardware_group.h"

#include <string.h>

#include "trace/path_class.h"

/* A group is the directory one below; the first row counts. "*": one component. */
static const char *const parents[] = {
	"lib/modules/*/kernel/drivers/net/",
	"lib/modules/*/kernel/drivers/",
	"lib/modules/*/kernel/",
	"lib/modules/*/",
	"lib/firmware/",
	"lib/xorg/modules/",
};

/* Bytes of path that a row covers; 0: not of it. */
static gsize covered(const char *path, const char *row)
{
	const char *at = path;

	for (; *row; row++) {
		if (*row == '*')
			at += strcspn(at, "/");
		else if (*at++ != *row)
			return 0;
	}
	return (gsize)(at - path);
}

/* A file that is not in a directory below is of the group of the parent itself. */
static gsize group_length(const char *path)
{
	const char *inner = g_str_has_prefix(path, "usr/") ? path + strlen("usr/") : path;
	const char *last = strrchr(path, '/');
	gsize own = last ? (gsize)(last - path) : 0;

	for (guint i = 0; i < G_N_ELEMENTS(parents); i++) {
		gsize parent = covered(inner, parents[i]);
		gsize length = (gsize)(inner - path) + parent;

		if (parent)
			return MIN(length + strcspn(path + length, "/"), own);
	}
	return own;
}

char *ro_hardware_group_of(const char *path)
{
	if (!tr_path_class_is_hardware(tr_path_class_of(TR_FILE, path)))
		return NULL;
	return g_strndup(path, group_length(path));
}

static void group_clear(gpointer group)
{
	g_free(((ro_hardware_group *)group)->directory);
}

static void count(GArray *groups, GTree *known, char *directory)
{
	ro_hardware_group new = {directory, 1};
	gpointer index;

	if (g_tree_lookup_extended(known, directory, NULL, &index)) {
		g_array_index(groups, ro_hardware_group, GPOINTER_TO_UINT(index)).differing++;
		g_free(directory);
		return;
	}
	g_tree_insert(known, directory, GUINT_TO_POINTER(groups->len));
	g_array_append_val(groups, new);
}

GArray *ro_hardware_groups(const img_tree *tree, const GArray *inodes)
{
	GArray *groups = g_array_new(FALSE, FALSE, sizeof(ro_hardware_group));
	/* no hash: the image could make all collide */
	g_autoptr(GTree) known = g_tree_new((GCompareFunc)strcmp);

	g_array_set_clear_func(groups, group_clear);
	for (guint i = 0; i < inodes->len; i++) {
		g_autofree char *path =
			img_tree_inode_path(tree, g_array_index(inodes, guint32, i));
		char *directory = ro_hardware_group_of(path);

		if (directory)
			count(groups, known, directory);
	}
	return groups;
}
