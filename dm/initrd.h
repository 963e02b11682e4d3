/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The initrds that the loader goes into: what they are, which kernel modules they lack, and the
 * bytes with the loader's segment behind them.
 */
#ifndef DMX_INITRD_H
#define DMX_INITRD_H

#include "dm/framework.h"
#include "iso/live_iso.h"
#include "reorder/image/image_tree.h"

/* A kernel module that the loader needs, in the order of loading. */
typedef struct {
	char *path;    /* absolute, in the initramfs */
	GBytes *bytes; /* unpacked, for a copy of our own; NULL: the initrd has a plain one there */
} dmx_module;

typedef struct {
	const li_iso *iso;
	const li_file *file; /* the last initrd of a boot entry: the one that grows */
	GBytes *bytes;
	GArray *segments;               /* of li_segment */
	const dmx_framework *framework; /* NULL: none that is known */
	char *release;                  /* of the kernel that is started with it: uname -r */
	GHashTable *plain;              /* module name → path, of plain .ko for that kernel */
	GBytes *dep, *builtin;          /* modules.dep and modules.builtin in it, or NULL */
	GPtrArray *modules;             /* of dmx_module */
} dmx_initrd;

/*
 * Reads all initrds of the entry, and its kernel's version. RO_ERROR_UNSUITABLE, with the reason,
 * which does not name the entry: no initrd, one that the kernel would not take, one with a
 * signature beside it or a preload in it, no x86 kernel.
 */
dmx_initrd *dmx_initrd_open(const li_iso *iso, const li_entry *entry, GError **error);
void dmx_initrd_free(dmx_initrd *initrd);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(dmx_initrd, dmx_initrd_free)

/*
 * Finds dm-mod and loop and what they depend on: plain in the initrd, or in the image's
 * /lib/modules, or built in. RO_ERROR_UNSUITABLE if one is nowhere.
 */
gboolean dmx_initrd_find_modules(dmx_initrd *initrd, const img_tree *tree, GError **error);

/*
 * The initrd with the loader, its map and the modules behind it, and zeros behind that up to size
 * bytes (0: none); RO_ERROR_FAILED if it is longer than that. Proven: the old bytes are the start
 * of it, the kernel's view of it (li_initrd_segments) has the old segments and these members.
 */
GByteArray *dmx_initrd_build(
	const dmx_initrd *initrd, GBytes *loader, const char *map, gsize size, GError **error);

/* The text of the map in an initrd of the ISO; NULL without an error if there is none. Owned by the
 * caller. */
GBytes *dmx_initrd_map(const li_iso *iso, const li_file *file, GError **error);

#endif
