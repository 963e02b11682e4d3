/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that this one runs: argv arrays, never a shell; LC_ALL=C; stdin from /dev/null; each in
 * a process group of its own that dies with this program (PR_SET_PDEATHSIG) and on an interrupt.
 */
#ifndef RO_UTIL_CHILD_H
#define RO_UTIL_CHILD_H

#include <glib.h>

/* Called for each line of the child's output, without its newline. */
typedef void (*ro_line_func)(const char *line, gpointer data);

typedef struct {
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
	const char *cwd;         /* NULL: stay */
	GString *out;            /* NULL, or collects stdout (at most 64 MiB) */
	GString *err;            /* NULL, or collects stderr (the last 64 KiB) */
	ro_line_func on_out;     /* NULL, or gets stdout by lines ('\r' ends a line too) */
	ro_line_func on_err;     /* NULL, or gets stderr by lines */
	gpointer data;           /* for on_out and on_err */
	void (*tick)(gpointer);  /* NULL, or called about four times a second */
	const int *ok_codes;     /* NULL: only 0; else a list that ends with -1 */
} ro_child_spec;

/*
 * Runs it to its end. Fails with RO_ERROR_FAILED if it cannot be started, dies of a signal or exits
 * with a code that is not expected ("NAME failed (exit 1): <last line of stderr>"), with
 * RO_ERROR_INTERRUPTED after killing the group if this program is interrupted. *status, if not
 * NULL, is set to the exit code.
 */
gboolean ro_child_run(const ro_child_spec *spec, int *status, GError **error);

/* A child that runs beside this program (QEMU, nbdkit). */
typedef struct ro_child ro_child;

/*
 * Starts it. out_path and err_path: files that its output goes to (created, mode 0600), NULL for
 * /dev/null. pass_fd: a descriptor that the child inherits under the same number, or -1.
 */
ro_child *ro_child_start(const char *const *argv, const char *out_path, const char *err_path,
	int pass_fd, GError **error);

/* TRUE while it runs. After it ended, *status (may be NULL) is as of waitpid(2). */
gboolean ro_child_running(ro_child *child, int *status);

/* Asks with SIGTERM, waits up to grace_ms, kills the group, reaps, frees. Accepts NULL. */
void ro_child_stop(ro_child *child, guint grace_ms);

pid_t ro_child_pid(const ro_child *child);

/* What all its threads have computed so far, in seconds; 0 if that is not known. */
double ro_child_processor_seconds(const ro_child *child);

/* Fails with RO_ERROR_FAILED, "NAME: not found in PATH; install the package PACKAGE". */
gboolean ro_child_need(const char *program, const char *package, GError **error);

/*
 * The path of a file that belongs to this program (guest agent, medium plugin): beside the
 * executable in a build tree, in ../lib/reorder-livecd/ when installed. Owned by the caller; NULL
 * with error set if it is not there.
 */
char *ro_own_file(const char *name, GError **error);

#endif
