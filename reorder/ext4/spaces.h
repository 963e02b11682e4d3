/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stretches of blocks between the fixed ones, each filled from its start; finding one with room
 * takes logarithmic time.
 */
#ifndef RO_EXT4_SPACES_H
#define RO_EXT4_SPACES_H

#include <glib.h>

typedef struct {
	guint32 next, end; /* blocks */
} ro_ext4_space;

typedef struct {
	GArray *spaces; /* of ro_ext4_space, by position */
	/* A tree of maxima in an array: node n has the children 2n and 2n + 1; the leaves, from
	 * width on, are the free blocks of the spaces. */
	guint32 *most;
	guint width;
} ro_ext4_spaces;

/* fixed: for every block whether it can't be had. */
ro_ext4_spaces *ro_ext4_spaces_new(const guint8 *fixed, guint32 first, guint32 blocks);
void ro_ext4_spaces_free(ro_ext4_spaces *spaces);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_ext4_spaces, ro_ext4_spaces_free)

#define RO_EXT4_NO_SPACE G_MAXUINT

/* The first space from index on that has so many blocks (not 0); RO_EXT4_NO_SPACE if none has. */
guint ro_ext4_spaces_find(const ro_ext4_spaces *spaces, guint from, guint32 blocks);

/* Takes blocks, which there have to be; the first of them. */
guint32 ro_ext4_spaces_take(ro_ext4_spaces *spaces, guint index, guint32 blocks);

guint32 ro_ext4_spaces_left(const ro_ext4_spaces *spaces, guint index);

#endif
