/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A live ISO, opened read-only: the volume, its files with their extents, the boot entries and the
 * live images. All positions and sizes are bytes. Plain structs; everything is owned by the li_iso
 * and freed with it. The ISO is untrusted input.
 */
#ifndef LI_LIVE_ISO_H
#define LI_LIVE_ISO_H

#include <glib.h>
#include <sys/types.h>

#include "reorder/image/byte_source.h"

typedef struct {
	guint64 offset; /* bytes into the ISO */
	guint64 length; /* bytes */
} li_extent;

/* A regular file of the ISO (Rock Ridge names if there are any). */
typedef struct {
	char *path; /* "/live/vmlinuz" */
	guint64 size;
	li_extent *extents; /* in file order */
	guint extent_count; /* 0 for an empty file; more than 1 only for files from 4 GiB on,
			       consecutive or not */
	mode_t mode;        /* permission bits */
	uid_t uid;
	gid_t gid;
	gint64 mtime; /* seconds since 1970 */
} li_file;

/* El Torito entry (El Torito 1.0, 2.1-2.4). */
typedef struct {
	guint8 platform; /* 0 x86 BIOS, 0xef EFI */
	gboolean bootable;
	guint8 media;         /* emulation: 0 none */
	guint16 load_sectors; /* of 512 bytes */
	guint64 offset;       /* of the boot image, bytes */
	char *path;           /* the file that lies there, or NULL */
} li_boot_image;

/* What the volume descriptors say (ECMA-119 8.4, 8.5). */
typedef struct {
	guint64 size;      /* volume space size, bytes */
	char *volume_id;   /* trailing spaces taken off; bytes */
	char *volume_uuid; /* as blkid prints it: 2020-01-02-03-04-05-00; NULL if there is no date
			    */
	char *application_id, *preparer_id, *publisher_id,
		*system_id; /* bytes, trailing spaces taken off */
	gboolean rock_ridge;
	gboolean joliet;            /* supplementary descriptor with escape %/@, %/C or %/E */
	gboolean joliet_long_names; /* a Joliet name of more than 64 UTF-16 units */
	gboolean udf;               /* BEA01/NSR02/NSR03 */
	gboolean multi_session;     /* a later session behind the first one (libburn's way) */
	gboolean isomd5; /* an implanted checksum, "ISO MD5SUM = " at byte 883 of the descriptor */
	gboolean gpt, mbr, apm; /* what the system area holds */
	char *gpt_disk_guid; /* 32 hex digits as xorriso's gpt_disk_guid= takes them; NULL without
				GPT */
	guint32 mbr_disk_id; /* bytes 440-443; 0 if none */
} li_volume;

/* A boot entry of isolinux/syslinux or GRUB that starts a Linux kernel. */
typedef struct {
	char *title;
	char *config;       /* path of the configuration file that has it */
	guint line;         /* in that file, from 1 */
	char *kernel;       /* path on the ISO, as found there (case as on the ISO) */
	GPtrArray *initrds; /* of char *: paths on the ISO, in loading order */
	char *cmdline;      /* without initrd=; "" if empty */
	/* Where the text of the command line stands, for whoever edits it: bytes [start, end) of a
	 * configuration file. config is NULL if there is no such text. */
	struct {
		char *config;
		gsize start, end;
	} args;
	gboolean is_default; /* the one its own configuration would start without a key */
	gboolean is_live;    /* the command line or the kernel's place look like a live system (not
				memtest, not an installer) */
} li_entry;

typedef enum {
	LI_IMAGE_SQUASHFS,
	LI_IMAGE_EXT4, /* ext2, ext3 and ext4 */
	LI_IMAGE_EROFS,
	LI_IMAGE_OTHER,
} li_image_kind;

/* A file on the ISO that holds a filesystem a live system could have as its root. */
typedef struct {
	const li_file *file;
	li_image_kind kind;
	char *type;          /* libblkid's name: "squashfs", "erofs", "squashfs3", … */
	gboolean is_root;    /* it has /sbin/init, /etc/os-release or usr/lib/os-release, or an ext4
				that has, or it may be a layer over one that has */
	gboolean wraps_ext4; /* a squashfs around LiveOS/rootfs.img or LiveOS/ext3fs.img */
	char *refusal;       /* why it can't be reordered; NULL if it can */
} li_image;

typedef struct {
	char *path; /* as the user gave it */
	int fd;     /* read-only */
	guint64 file_size;
	struct li_private *private_; /* look-up tables */
	li_volume volume;
	GPtrArray *files;       /* of li_file, sorted by path */
	GPtrArray *boot_images; /* of li_boot_image */
	GPtrArray *entries;     /* of li_entry, default first within each configuration */
	GPtrArray *images;      /* of li_image */
	GPtrArray *notes;       /* of char *: worth knowing, but nothing that stands in the way */
	char *refusal;          /* why the whole ISO can't be reordered; NULL if it can */
} li_iso;

/*
 * Opens, locks and reads everything above. Fails with RO_ERROR_UNSUITABLE only where nothing
 * sensible can be read (not an ISO, truncated), with RO_ERROR_FAILED if the file cannot be opened
 * or is (half) changed in place; whatever else stands in the way is a refusal, so that inspect can
 * print the rest.
 */
li_iso *li_iso_open(const char *path, GError **error);
void li_iso_free(li_iso *iso);

/* Lets go of the lock that keeps others from changing the ISO in place. */
void li_iso_unlock(const li_iso *iso);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(li_iso, li_iso_free)

/* NULL if there is no such file. Path with or without a leading slash; falls back to a comparison
 * without case. */
const li_file *li_iso_find(const li_iso *iso, const char *path);

/* The whole file, at most limit bytes (RO_ERROR_UNSUITABLE if it is larger). Owned by the caller.
 */
GBytes *li_iso_read(const li_iso *iso, const li_file *file, gsize limit, GError **error);

/* Window on a file's bytes. FALSE with RO_ERROR_UNSUITABLE if its extents are not consecutive.
 * label is file's "ISO:path", owned by iso. */
gboolean li_iso_source(const li_iso *iso, const li_file *file, img_source *source, GError **error);

/* The boot entry a machine would start by itself, preferring a live one; NULL if there is none. */
const li_entry *li_iso_default_entry(const li_iso *iso);

enum { LI_LAYERS_MAX = 64 };

/*
 * What is reordered, by path: the root image, or the layers that it may be made of. Fails with
 * RO_ERROR_UNSUITABLE and the reason if the ISO or any of the images is refused, or if several
 * cannot be layers. Array of const li_image *, at least one, owned by the caller.
 */
GPtrArray *li_iso_root_images(const li_iso *iso, GError **error);

#endif
