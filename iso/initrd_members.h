/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is in an initrd: the members of its cpio archives, packed or not. */
#ifndef LI_INITRD_MEMBERS_H
#define LI_INITRD_MEMBERS_H

#include "iso/initrd.h"

/* A member as it goes by; valid during the call. */
typedef struct {
	const char *path; /* without leading "/" and "./" */
	guint32 mode;     /* with the type bits */
	guint32 size;
	const guint8 *data; /* NULL unless it was wanted */
	guint segment;      /* index of the segment it is in */
} li_member;

typedef struct {
	/* NULL: none. Whether the data are wanted: of regular files only. */
	gboolean (*wants)(const li_member *member, gpointer user);
	/* FALSE: that was enough. */
	gboolean (*take)(const li_member *member, gpointer user);
	gpointer user;
	gsize limit; /* a wanted member has at most so many bytes; a larger one comes without data
		      */
} li_member_visitor;

/*
 * Walks the members of segments from first on, in the order in which the kernel unpacks them, one
 * after the other: memory is bounded by the visitor's limit and the decompressors'. segments is of
 * li_initrd_segments. RO_ERROR_UNSUITABLE if a segment holds something else than cpio archives
 * (newc).
 */
gboolean li_initrd_visit(const guint8 *data, const GArray *segments, guint first,
	const li_member_visitor *visitor, GError **error);

#endif
