/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The orders in which files can lie. */
#ifndef RO_ORDER_H
#define RO_ORDER_H

#include "reorder/plan/plan.h"

const char *ro_order_name(ro_order order);
const char *ro_layout_name(ro_layout layout);

/* Everything that an order can go by; a struct that is sorted has it first. */
typedef struct {
	guint32 inode;
	guint32 access;   /* position in the order of first accesses */
	guint32 position; /* of its first name in the walk of the tree */
	guint64 size;     /* bytes, unpacked */
} ro_order_key;

/*
 * Sorts items (an array of structs that start with a ro_order_key). access: by access; size:
 * smallest first, then by access; path: as a walk of the tree meets them; random: a permutation
 * that depends on the set of files and the seed alone, and is the same on every machine.
 */
void ro_order_sort(GArray *items, ro_order order, guint64 seed);

/*
 * For every entry of the tree its position in a walk that goes through each directory in the order
 * of strcmp(3) and into a subdirectory where it meets it, as mksquashfs does. Owned by the caller.
 */
guint32 *ro_order_walk(const img_tree *tree);

/* splitmix64 (Steele, Lea, Flood 2014): the next number, and the next state. */
guint64 ro_random_next(guint64 *state);
/* Uniform in [0, bound); bound > 0. */
guint64 ro_random_below(guint64 *state, guint64 bound);

#endif
