/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What xorriso finds of boot equipment on an ISO (-report_el_torito plain, -report_system_area
 * plain), and whether two ISOs have the same.
 */
#ifndef LI_BOOT_REPORT_H
#define LI_BOOT_REPORT_H

#include "iso/live_iso.h"

/* A boot image of the El Torito catalogue. Owned by the report. */
typedef struct {
	guint number;
	guint64 offset;      /* bytes into the ISO */
	guint64 size;        /* bytes; of an image that is no file, 0 if it is one */
	char *path;          /* NULL if it is no file */
	gboolean info_table; /* isolinux boot info table in bytes 8-63 */
	gboolean grub2_info; /* GRUB's own address at byte 2548 */
} li_boot_report_image;

/* A partition, with what table it is in. */
typedef struct {
	char table; /* 'M'BR, 'G'PT, 'A'PM */
	guint number;
	guint64 offset, size; /* bytes */
	gboolean gap;         /* GPT, APM: a filler that xorriso makes */
} li_boot_report_partition;

typedef struct {
	GPtrArray *lines;          /* of char *, as printed */
	GPtrArray *images;         /* of li_boot_report_image */
	GArray *partitions;        /* of li_boot_report_partition */
	char *catalog;             /* path, or NULL */
	guint64 partition_offset;  /* bytes: a second superblock lies 32 KiB behind it; 0 if none */
	gboolean cylinder_aligned; /* the size is rounded up for the MBR */
} li_boot_report;

/* Runs xorriso on the file. */
li_boot_report *li_boot_report_new(const char *iso_path, GError **error);
/* From its output. */
li_boot_report *li_boot_report_parse(const char *text);
void li_boot_report_free(li_boot_report *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(li_boot_report, li_boot_report_free)

/* TRUE if one of the extents begins in the partition: the size of such a partition may change. */
gboolean li_boot_report_holds(const li_boot_report_partition *partition, const GArray *extents);

/*
 * The report as lines that must be the same on both ISOs: without addresses, fillers and sizes that
 * follow from the size of the ISO. extents: (li_extent) where the replaced files lie. Owned by the
 * caller.
 */
GPtrArray *li_boot_report_normalize(const li_boot_report *report, const GArray *extents);

/* RO_ERROR_FAILED, with the first line that differs. */
gboolean li_boot_report_same(const li_boot_report *old_report, const GArray *old_extents,
	const li_boot_report *new_report, const GArray *new_extents, GError **error);

#endif
