/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guest's mounts, as its agent reports them, and which image file on the ISO each of them
 * shows.
 *
 * What a filesystem shows is settled when it is first mounted, by the mounts that are there then:
 * devices are followed to those below them (dracut's snapshot to the loop devices it is of), loop
 * devices to their backing files, overlays to their lower directories. Mounts that move or go away
 * later change nothing. All input comes from the guest; counts are bounded.
 */
#ifndef TR_GUEST_MOUNTS_H
#define TR_GUEST_MOUNTS_H

#include <glib.h>

/* Where a path of the guest may lie. */
typedef struct {
	const char *image; /* path on the ISO; owned by the mounts, valid until the next line */
	char *path;        /* inside the image, with a leading slash; owned */
	gsize root;        /* bytes of it that lead to what is the root of the filesystem */
} tr_place;

typedef struct tr_guest_mounts tr_guest_mounts;

tr_guest_mounts *tr_guest_mounts_new(void);
void tr_guest_mounts_free(tr_guest_mounts *mounts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_guest_mounts, tr_guest_mounts_free)

/* Places in a filesystem that is a file of an image (an ext4 in a squashfs) are asked for from now
 * on, as places of that image; otherwise the image's own are. */
void tr_guest_mounts_want_nested(tr_guest_mounts *mounts);

/* The file behind a loop device that is about to be mounted, or another device on it. */
void tr_guest_mounts_backing(
	tr_guest_mounts *mounts, guint32 major, guint32 minor, const char *path);

/* The devices below such a device, by tr_device_number(); below a loop device, the filesystem that
 * holds the file: out of a mount that is detached its path counts from the root of that. */
void tr_guest_mounts_below(
	tr_guest_mounts *mounts, guint32 major, guint32 minor, const gint64 *below, guint count);

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

/* Images of the filesystem with that device number, each once, topmost first: paths on the ISO,
 * owned by the mounts. Free the array only. */
GPtrArray *tr_guest_mounts_images(const tr_guest_mounts *mounts, guint32 major, guint32 minor);

/* Likewise of what is mounted at "/" now. */
GPtrArray *tr_guest_mounts_root(const tr_guest_mounts *mounts);

#endif
