/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same work on two things at the same time. */
#ifndef RO_PAIR_H
#define RO_PAIR_H

#include <glib.h>

typedef struct {
	gpointer data;  /* of the work */
	GError **error; /* where the work leaves its own */
} ro_half;

/* One half in a thread of its own. FALSE, with the first half's error if both failed. */
gboolean ro_pair_run(GThreadFunc work, ro_half first, ro_half second, GError **error);

#endif
