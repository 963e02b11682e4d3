/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that appear by rename, only when whole, and the scratch directory of a run.
 */
#ifndef RO_UTIL_OUTPUT_H
#define RO_UTIL_OUTPUT_H

#include <glib.h>

typedef struct ro_output ro_output;

/*
 * Creates PATH.tmp-XXXXXX in PATH's directory, mode 0666 less the umask. Refuses an existing PATH
 * unless force (RO_ERROR_USAGE), one that is not a regular file, and one that is the file open as
 * input_fd in any spelling (symlink, hard link; input_fd -1: not checked).
 */
ro_output *ro_output_new(const char *path, gboolean force, int input_fd, GError **error);
int ro_output_fd(const ro_output *output);
const char *ro_output_temp_path(const ro_output *output);

/* Appends bytes. */
gboolean ro_output_put(ro_output *output, const void *bytes, gsize length, GError **error);

/* fsync, rename over PATH, fsync of the directory. */
gboolean ro_output_commit(ro_output *output, GError **error);

/* Removes the temporary file unless it was committed. Accepts NULL. */
void ro_output_free(ro_output *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_output, ro_output_free)

/* Writes a whole small text file in that way. */
gboolean ro_output_write(
	const char *path, gboolean force, const char *text, gssize length, GError **error);

typedef struct ro_workdir ro_workdir;

/* Makes reorder-livecd-XXXXXX, mode 0700 and without a default ACL, in parent (which must exist).
 */
ro_workdir *ro_workdir_new(const char *parent, GError **error);
const char *ro_workdir_path(const ro_workdir *workdir);

/* parent/name; owned by the caller. */
char *ro_workdir_file(const ro_workdir *workdir, const char *name);

/* The directory stays when the struct is freed. */
void ro_workdir_keep(ro_workdir *workdir);

/* Removes the directory and all below it, by descriptor, never across a mount or through a symlink.
 */
void ro_workdir_free(ro_workdir *workdir);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_workdir, ro_workdir_free)

/* Removes a tree in the same careful way. */
gboolean ro_remove_tree(const char *path, GError **error);

/* Fails with RO_ERROR_FAILED "DIR: X MB free, Y MB needed for WHAT; …" if there is not enough
 * space. */
gboolean ro_need_space(const char *dir, guint64 bytes, const char *what, GError **error);

#endif
