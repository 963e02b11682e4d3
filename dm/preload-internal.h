/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the preload share: the checks before (preload.c), the entries that get it and
 * their configurations (preload_edit.c), the initrds and what else is written (preload_write.c).
 */
#ifndef DMX_PRELOAD_INTERNAL_H
#define DMX_PRELOAD_INTERNAL_H

#include "dm/boot_config.h"
#include "dm/efi_image.h"
#include "dm/initrd.h"
#include "dm/preload.h"

/* An initrd that grows. */
typedef struct {
	dmx_initrd *initrd;
	const li_entry *entry; /* the first that is edited, whose patience counts; NULL: none yet */
	guint patience;
	char *path; /* of the new one */
	gsize size, room;
} dmx_grown;

/* The configurations in an EFI image. */
typedef struct {
	dmx_efi_image *image;
	GPtrArray *entries, *choices; /* of all its configurations, one after the other */
	GHashTable *texts;            /* the edited ones */
} dmx_efi_part;

struct dmx_preload {
	const li_iso *iso;
	const img_tree *tree;
	const char *workdir;
	GBytes *loader;
	GPtrArray *choices;  /* of dmx_choice, one for each of iso->entries */
	GHashTable *initrds; /* path of the last initrd → dmx_grown */
	GHashTable *reasons; /* likewise → why it has none (char *) */
	GHashTable *texts;   /* edited configurations on the ISO */
	GPtrArray *efi;      /* of dmx_efi_part */
	GPtrArray *paths;    /* of char *: local files that the replacements name */
	dmx_preload_result result;
};

/* Chooses the entries, opens their initrds and edits all configurations. */
gboolean dmx_preload_edit(dmx_preload *preload, GError **error);

/* The initrds by path: array of dmx_grown, owned by the caller. */
GPtrArray *dmx_preload_grown(const dmx_preload *preload);

#endif
