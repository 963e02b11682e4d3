/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guest's mounts, as its agent reports them, and which image file on the ISO each of them
 * shows.
 *
 * What a filesystem shows is settled when it is first mounted, by the mounts that are there then:
 * loop devices are followed to their backing files, overlays to their lower directories. Mounts
 * that move or go away later change nothing. All input comes from the guest; counts are bounded.
 */
#ifndef TR_GUEST_MOUNTS_H
#define TR_GUEST_MOUNTS_H

#include <glib.h>

/* Where a path of the guest may lie. */
typedef struct {
	const char *image; /* path on the ISO; owned by the mounts, valid until the next line */
	char *path;        /* inside the image, with a leading slash; owned */
} tr_place;

typedef struct tr_guest_mounts tr_guest_mounts;

tr_guest_mounts *tr_guest_mounts_new(void);
void tr_guest_mounts_free(tr_guest_mounts *mounts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_guest_mounts, tr_guest_mounts_free)

/* The file behind a loop device that is about to be mounted. */
void tr_guest_mounts_backing(
	tr_guest_mounts *mounts, guint32 major, guint32 minor, const char *path);

/* A line of /proc/self/mountinfo, of a mount that is new or has changed; FALSE if it is none. */
gboolean tr_guest_mounts_line(tr_guest_mounts *mounts, const char *line);
void tr_guest_mounts_gone(tr_guest_mounts *mounts, guint32 id);

/*
 * The places of a path that was seen through a mount, topmost layer first; empty if it is of no
 * image. Without such a mount the path counts from the root of the filesystem with that device
 * number (layers of an overlay are opened through hidden mounts). GArray of tr_place that frees its
 * paths.
 */
GArray *tr_guest_mounts_places(
	const tr_guest_mounts *mounts, guint32 id, guint32 major, guint32 minor, const char *path);

/* Images of the filesystem with that device number, topmost first: paths on the ISO, owned by the
 * mounts. Free the array only. */
GPtrArray *tr_guest_mounts_images(const tr_guest_mounts *mounts, guint32 major, guint32 minor);

#endif
