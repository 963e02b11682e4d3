/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several traces of one image, of unlike machines, do not have in common. */
#ifndef RO_DIFFERENCES_H
#define RO_DIFFERENCES_H

#include "reorder/image/image_tree.h"
#include "reorder/util/json.h"
#include "trace/path_class.h"

typedef struct {
	guint traces;                  /* that were merged; 0: nothing to compare */
	guint in_all;                  /* files, directories and links that all of them have */
	guint classes[TR_CLASS_COUNT]; /* those that only some have */
	GArray *groups;                /* of ro_hardware_group: what hardware decides about; owned,
					  never NULL after ro_differences_find() */
} ro_differences;

/* inodes: of guint32, what only some of the traces have, by rank. */
void ro_differences_find(ro_differences *differences, const img_tree *tree, const GArray *inodes);
void ro_differences_clear(ro_differences *differences);

/* What only some have. */
guint ro_differences_in_some(const ro_differences *differences);

/* Header lines of a plan; none without several traces. */
void ro_differences_format(const ro_differences *differences, GString *out);

/* A member "merged" of the object; none without several traces. */
void ro_differences_json(const ro_differences *differences, JsonBuilder *builder);

#endif
