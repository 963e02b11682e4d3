/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What xorriso has to be told so that its new ISO is like the old one: it keeps the contents and
 * the boot equipment by itself, but makes names, padding and order in its own way.
 */
#ifndef LI_REBUILD_OPTIONS_H
#define LI_REBUILD_OPTIONS_H

#include "iso/boot_report.h"
#include "iso/volume_tree.h"

/* Parameter of -compliance. joliet: NULL without. large: there will be files of 4 GiB or more.
 * Owned by the caller. */
char *li_rebuild_compliance(
	const li_tree *tree, const li_tree *joliet, gboolean enhanced, gboolean large);

/* Character set that makes the Joliet names from the Rock Ridge ones as they are. Static. */
const char *li_rebuild_charset(const li_tree *tree, const li_tree *joliet);

/* Bytes of -padding. extents: of the files that will be replaced. */
guint64 li_rebuild_padding(const li_tree *tree, const li_boot_report *report, const GArray *extents,
	guint64 volume_size, gboolean gpt);

/* Commands that give each file its place on the medium, for -options_from_file with
 * -backslash_codes in_double_quotes. */
GString *li_rebuild_order(const li_tree *tree, const char *catalog);

/* Likewise, for what is in the tree but not in the Joliet tree. */
void li_rebuild_hide(GString *commands, const li_tree *tree, const li_tree *joliet);

#endif
