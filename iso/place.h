/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a file lies on an ISO, and how much of what follows it is nobody's. What is not understood
 * counts as used. Offsets and sizes are bytes.
 */
#ifndef LI_PLACE_H
#define LI_PLACE_H

#include "iso/volume_tree.h"

/* The tree that iso->files was made from. */
li_vd_kind li_tree_kind(const li_iso *iso);

/* All directory trees of an ISO (of li_tree); the first is that of li_tree_kind. */
GPtrArray *li_trees_read(const li_iso *iso, GError **error);

typedef struct {
	guint64 start;
	guint64 length;  /* of the file, as its directory records say */
	guint64 sectors; /* the same in whole sectors */
} li_place;

/* RO_ERROR_UNSUITABLE if the file lies in pieces or something else lies there too. */
gboolean li_place_find(const li_iso *iso, const GPtrArray *trees, const li_file *file,
	li_place *place, GError **error);

/* How many bytes from place->start on a new content of the file may take, at most wanted. More than
 * place->length only where its directory records can be changed. */
guint64 li_place_room(
	const li_iso *iso, const GPtrArray *trees, const li_place *place, guint64 wanted);

/* Whether the node is a name of that file. */
gboolean li_place_holds(const li_place *place, const li_node *node);

#endif
