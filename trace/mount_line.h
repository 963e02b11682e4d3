/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of /proc/PID/mountinfo (Linux: Documentation/filesystems/proc.rst, 3.5). */
#ifndef TR_MOUNT_LINE_H
#define TR_MOUNT_LINE_H

#include <glib.h>

/* Strings are owned. */
typedef struct {
	guint32 id, major, minor;
	char *root, *point, *type; /* unescaped */
	char *options; /* of the filesystem; still escaped: commas in a value are, too */
} tr_mount_line;

/* FALSE if it is none. Clear it in either case. */
gboolean tr_mount_line_parse(const char *text, tr_mount_line *line);
void tr_mount_line_clear(tr_mount_line *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(tr_mount_line, tr_mount_line_clear)

#endif
