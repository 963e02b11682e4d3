/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The boot entries that get the preload, and the configuration files with their new command lines.
 *
 * Edited are all live entries whose framework is known and allows it, but no fail-safe ones, so
 * that there is a way without; nor those that copy the medium to RAM. Only the text of the command
 * lines is touched. Everything is proven by reading the new texts with the parsers of iso/: the
 * entries are the same but for these words, or it is refused with file and line.
 */
#ifndef DMX_BOOT_CONFIG_H
#define DMX_BOOT_CONFIG_H

#include "dm/framework.h"
#include "iso/live_iso.h"

/* An entry and what becomes of it. */
typedef struct {
	const li_entry *entry;
	const dmx_framework *framework; /* the entry is edited; NULL: it stays */
	char *reason;                   /* why it stays; NULL if it is no live one */
} dmx_choice;

/* Decides for one entry. framework: of its initrd, NULL if that is not known. */
dmx_choice *dmx_choice_new(const li_entry *entry, const dmx_framework *framework);
void dmx_choice_free(dmx_choice *choice);

/* Reads the text of a configuration file; owned by the caller. */
typedef GBytes *(*dmx_text_func)(const char *path, gpointer user, GError **error);

/*
 * The new texts of all files that an edited entry's command line stands in: path to GBytes.
 * choices: of dmx_choice. RO_ERROR_UNSUITABLE "FILE:LINE: …" where a command line does not stand in
 * one piece of text, or is too long for a kernel then.
 */
GHashTable *dmx_boot_config_edit(
	const GPtrArray *choices, dmx_text_func text, gpointer user, GError **error);

/*
 * Whether entries (of li_entry) are those of the choices with their words added and nothing else.
 * code: of the error, which names file and line.
 */
gboolean dmx_boot_config_same(
	const GPtrArray *choices, const GPtrArray *entries, gint code, GError **error);

#endif
