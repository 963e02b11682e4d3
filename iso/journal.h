/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The undo journal of a change in place: a file beside the ISO that has the old bytes of every
 * range that will change. It is on the medium, whole and under its name, before the first of them
 * changes, and goes when the last one is on the medium: while it is there, the old ISO can be had
 * back.
 *
 * Numbers are little-endian. "reorder undo 1\n" and a zero byte; 64 bits each: size of the ISO,
 * number of ranges; for each its offset and length; 32 bits each: CRC (ISO 3309) of the ISO's bytes
 * outside of the ranges, of all old bytes, of everything before. Then the old bytes.
 */
#ifndef LI_JOURNAL_H
#define LI_JOURNAL_H

#include "iso/overlay.h"

/* ISO.reorder-undo, beside what a symlink leads to. Owned by the caller. */
char *li_journal_path(const char *iso_path);

/* Whether there is one: the ISO may be half changed. */
gboolean li_journal_exists(const char *iso_path);

/* Whether it can be created, before long work. */
gboolean li_journal_check(const char *iso_path, GError **error);

/* Writes it for the changes of an overlay. */
gboolean li_journal_write(const char *iso_path, const li_overlay *overlay, GError **error);

/* When all changes are on the medium. */
gboolean li_journal_remove(const char *iso_path, GError **error);

/*
 * Puts the old bytes back and removes the journal; iso_fd is open for writing. RO_ERROR_FAILED,
 * with nothing changed, if the journal is damaged, another ISO's, no regular file, or neither this
 * user's nor the ISO's owner's.
 */
gboolean li_journal_undo(const char *iso_path, int iso_fd, GError **error);

/*
 * The same for a user: opens and locks the ISO, also removes what an interrupted li_journal_write
 * has left. *undone: FALSE if there was nothing to undo.
 */
gboolean li_recover(const char *iso_path, gboolean *undone, GError **error);

/* For writing, locked against other runs of this program. RO_ERROR_FAILED if one of them has it
 * open, RO_ERROR_UNSUITABLE if it is no regular file or has several names. -1 on failure. */
int li_open_in_place(const char *iso_path, GError **error);

#endif
