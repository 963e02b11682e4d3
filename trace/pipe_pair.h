/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A character device of the virtual machine whose other end this program holds: two named pipes, as
 * QEMU's chardev "pipe" takes them. */
#ifndef TR_PIPE_PAIR_H
#define TR_PIPE_PAIR_H

#include <glib.h>

typedef struct {
	char *base; /* QEMU's path=: it reads BASE.in and writes BASE.out */
	int in;     /* writes to the machine */
	int out;    /* reads what it writes, without waiting */
} tr_pipe_pair;

/* Makes DIR/NAME.in and DIR/NAME.out. Close it in either case. */
gboolean tr_pipe_pair_open(
	tr_pipe_pair *pair, const char *directory, const char *name, GError **error);

/* Takes the pipes away. What is all zeros was never opened. */
void tr_pipe_pair_close(tr_pipe_pair *pair);

#endif
