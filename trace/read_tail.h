/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A read log that is still being written: the reads as they come. */
#ifndef TR_READ_TAIL_H
#define TR_READ_TAIL_H

#include "trace/read_log.h"

typedef struct tr_read_tail tr_read_tail;

/* The log need not be there yet. */
tr_read_tail *tr_read_tail_new(const char *path);
void tr_read_tail_free(tr_read_tail *tail);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_read_tail, tr_read_tail_free)

/* The next read, if there is one by now. */
gboolean tr_read_tail_next(tr_read_tail *tail, tr_read *read);

#endif
