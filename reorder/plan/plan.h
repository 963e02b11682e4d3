/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan: the inodes of an image in the order in which they should lie, each with the reason.
 */
#ifndef RO_PLAN_H
#define RO_PLAN_H

#include "reorder/image/image_tree.h"
#include "reorder/plan/differences.h"
#include "trace/trace.h"

typedef enum { RO_ORDER_ACCESS, RO_ORDER_SIZE, RO_ORDER_PATH, RO_ORDER_RANDOM } ro_order;
typedef enum { RO_LAYOUT_END, RO_LAYOUT_FRONT } ro_layout;

typedef enum {
	RO_GROUP_HOT,   /* the boot accessed it */
	RO_GROUP_CLASS, /* added by --also */
} ro_group;

typedef struct {
	guint32 inode; /* index into the tree */
	ro_group group;
	guint32 rank;       /* position in the plan, from 0 */
	const char *reason; /* "open", "exec", "read", "partly read", "lookup" (a directory on the
			       way), "also modules", …; of a merged trace, where not all have it,
			       "read, 1 of 2 traces"; owned by the plan */
	gboolean partly;    /* only a little of a large file was read */
} ro_plan_item;

typedef struct {
	ro_layout layout;
	ro_order order;
	GArray *files;    /* of ro_plan_item: regular files with data, in order; each inode once */
	GArray *dirs;     /* of ro_plan_item: directories, for engines that can place them */
	GArray *symlinks; /* of ro_plan_item */
	guint unmatched;  /* traced paths that the image does not have (made at run time, or another
			     build) */
	char *first_unmatched;      /* an example, or NULL */
	ro_differences differences; /* of the traces */
	guint hot_files;            /* of files: in RO_GROUP_HOT */
	guint64 hot_bytes;          /* unpacked */
	guint64 hot_stored;         /* data blocks as stored; fragments by their share */
	GArray *also_names;         /* of guint: for each value of also, how many names it means */
	GStringChunk *strings;      /* owns the reasons */
} ro_plan;

typedef struct {
	ro_order order;
	ro_layout layout;
	guint64 seed;            /* for RO_ORDER_RANDOM */
	const char *const *also; /* NULL-terminated globs and class names, or NULL */
	const char *image;       /* events of this image only (path on the ISO); NULL: of all */
} ro_plan_options;

/*
 * RO_ERROR_USAGE for a bad --also; RO_ERROR_UNSUITABLE if less than half of the traced paths exist
 * in the image: the trace is of another build. trace may be NULL (an empty plan but for --also).
 */
ro_plan *ro_plan_new(const img_tree *tree, const tr_trace *trace, const ro_plan_options *options,
	GError **error);
void ro_plan_free(ro_plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_plan, ro_plan_free)

/* The plan as text: one inode a line "group rank kind path reason", after "reorder-livecd plan 1"
 * and header lines. image is named there; NULL: it goes without saying. */
GString *ro_plan_format(const ro_plan *plan, const img_tree *tree, const char *image);

#endif
