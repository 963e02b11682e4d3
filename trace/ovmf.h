/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OVMF: UEFI for virtual machines. */
#ifndef TR_OVMF_H
#define TR_OVMF_H

#include <glib.h>

typedef struct {
	const char *code; /* path of the firmware; static */
	const char *vars; /* path of the variables that it starts with; static */
} tr_ovmf;

/* RO_ERROR_FAILED with what to install if there is none. */
const tr_ovmf *tr_ovmf_find(GError **error);

/* A copy of the variables in a directory, for one machine to write to: its path, owned by the
 * caller, or NULL. */
char *tr_ovmf_copy_vars(const tr_ovmf *ovmf, const char *directory, GError **error);

#endif
