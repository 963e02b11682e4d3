/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The volume descriptors and the directory records of an ISO as they lie on the medium (ECMA-119;
 * SUSP 1.12, RRIP 1.12; Joliet): what two ISOs are compared by. Offsets and sizes are bytes. The
 * ISO is untrusted input.
 */
#ifndef LI_VOLUME_TREE_H
#define LI_VOLUME_TREE_H

#include "iso/live_iso.h"

enum { LI_SECTOR = 2048 };

typedef enum {
	LI_VD_PRIMARY,
	LI_VD_JOLIET,
	LI_VD_ENHANCED, /* ISO 9660:1999 */
} li_vd_kind;

/*
 * Position of the first descriptor of a kind, 0 if there is none; FALSE, with the error set, only
 * if it can't be read. base: where the volume begins: 0, or the offset of a partition that is a
 * volume for itself.
 */
gboolean li_vd_find(int fd, guint64 base, li_vd_kind kind, guint64 *offset, GError **error);

typedef enum {
	LI_TIME_CREATION,
	LI_TIME_MODIFY,
	LI_TIME_ACCESS,
	LI_TIME_ATTRIBUTES,
	LI_TIME_COUNT
} li_time;

#define LI_NO_TIME G_MININT64

typedef struct {
	char *path;        /* "/live/vmlinuz"; "/" for the root */
	guint64 record;    /* where its directory record lies; 0 for the root */
	char *record_name; /* the record's own identifier, Joliet: UTF-8 */
	guint32 mode;      /* with the type bits; without Rock Ridge only these */
	guint32 uid, gid;
	guint32 rdev_high, rdev_low;
	guint8 record_flags;         /* 1 hidden, 4 associated */
	guint64 size;                /* files */
	GArray *extents;             /* of li_extent, files with data */
	gint64 times[LI_TIME_COUNT]; /* Rock Ridge; seconds since 1970 */
	char *target;                /* symlinks */
	gboolean zisofs, aaip;
} li_node;

typedef struct {
	GPtrArray *nodes;    /* of li_node, as they were found */
	GHashTable *by_path; /* path → li_node */
	gboolean rock_ridge;
	gboolean px_with_serial; /* Rock Ridge 1.12 attributes */
	char *relocations; /* hidden directory in the root for what lies too deep, or NULL; not in
			      nodes */
	guint64 vd_offset;
} li_tree;

/* RO_ERROR_UNSUITABLE if the tree is broken. label for messages, borrowed during the call. */
li_tree *li_tree_read(int fd, li_vd_kind kind, const char *label, GError **error);
void li_tree_free(li_tree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(li_tree, li_tree_free)

const li_node *li_tree_find(const li_tree *tree, const char *path);

/* Where the file's first byte lies; 0 if it has none. Two names of one file have the same. */
guint64 li_node_start(const li_node *node);

/* Where the byte at position of a file lies, and how many follow it in one piece; FALSE behind its
 * end. */
gboolean li_node_place(const li_node *node, guint64 position, guint64 *offset, guint64 *length);

/* Exactly size bytes at position of a regular file; RO_ERROR_UNSUITABLE if they are not there. */
gboolean li_node_read(
	int fd, const li_node *node, guint64 position, void *buffer, gsize size, GError **error);

#endif
