/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GUID partition table and its backup (UEFI 2.x, chapter 5). */
#ifndef LI_GPT_H
#define LI_GPT_H

#include <glib.h>

enum { LI_GPT_BLOCK = 512 };

typedef struct {
	guint64 offset; /* of the header, bytes */
	guint64 backup; /* offset of the other header, as this one says */
	guint8 header[LI_GPT_BLOCK];
	guint8 *entries; /* entry_count × entry_size bytes */
	guint64 entries_offset;
	guint32 header_size, entry_count, entry_size;
} li_gpt;

/* FALSE if there is no sound one at that offset (signature, sizes, both CRCs); no error is set. */
gboolean li_gpt_read(int fd, guint64 offset, li_gpt *gpt);
void li_gpt_clear(li_gpt *gpt);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(li_gpt, li_gpt_clear)

/* GUID of the disk; GUIDs, flags and names of the partitions that have the same number and type.
 * TRUE if something changed. */
gboolean li_gpt_copy_ids(li_gpt *gpt, const li_gpt *from);

/* Writes header and entries, with new CRCs. */
gboolean li_gpt_write(int fd, li_gpt *gpt, GError **error);

#endif
