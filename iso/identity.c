/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/identity.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "iso/gpt.h"
#include "iso/isomd5.h"
#include "iso/volume_tree.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

enum {
	MBR_ID = 440,
	MBR_ID_SIZE = 4,
	CATALOG_POINTER = 71,
	CATALOG_ENTRY = 32,
	CATALOG_LBA = 8,
};

/* Fields of a volume descriptor that say what the volume is, and nothing about where things lie
 * (ECMA-119 8.4, 8.5). */
static const struct {
	const char *name;
	guint offset, size;
} fields[] = {
	{"system id", 8, 32},
	{"volume id", 40, 32},
	{"volume set id", 190, 128},
	{"publisher", 318, 128},
	{"preparer", 446, 128},
	{"application", 574, 128},
	{"copyright file", 702, 37},
	{"abstract file", 739, 37},
	{"bibliography file", 776, 37},
	{"creation date", 813, 17},
	{"modification date", 830, 17},
	{"expiration date", 847, 17},
	{"effective date", 864, 17},
};

static gboolean get(int fd, guint64 offset, void *data, gsize size, GError **error)
{
	const img_source all = {.fd = fd, .size = G_MAXINT64, .label = "volume descriptors"};

	return img_source_read(&all, offset, data, size, error);
}

static gboolean put(int fd, guint64 offset, const void *data, gsize size, GError **error)
{
	ssize_t done = pwrite(fd, data, size, (off_t)offset);

	if (done == (ssize_t)size)
		return TRUE;
	return ro_fail_errno(
		error, done < 0 ? errno : ENOSPC, "new ISO: write the volume descriptors");
}

static void copy_fields(guint8 *to, const guint8 *from, gboolean application_use)
{
	for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
		memcpy(to + fields[i].offset, from + fields[i].offset, fields[i].size);
	if (application_use)
		memcpy(to + LI_APPLICATION_USE, from + LI_APPLICATION_USE, LI_APPLICATION_USE_SIZE);
}

static gboolean same_fields(
	const guint8 *a, const guint8 *b, gboolean application_use, GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
		if (memcmp(a + fields[i].offset, b + fields[i].offset, fields[i].size))
			return ro_fail(error, RO_ERROR_FAILED,
				"new ISO: %s of the volume differs; please report this",
				fields[i].name);
	if (application_use &&
		memcmp(a + LI_APPLICATION_USE, b + LI_APPLICATION_USE, LI_APPLICATION_USE_SIZE))
		return ro_fail(error, RO_ERROR_FAILED,
			"new ISO: Application Use field of the volume differs; please report this");
	return TRUE;
}

typedef struct {
	int old_fd, new_fd;
	gboolean application_use, write;
} descriptors;

static gboolean one_kind(const descriptors *d, guint64 base, li_vd_kind kind, GError **error)
{
	guint8 old_vd[LI_SECTOR], new_vd[LI_SECTOR];
	guint64 old_at, new_at;

	if (!li_vd_find(d->old_fd, base, kind, &old_at, error) ||
		!li_vd_find(d->new_fd, base, kind, &new_at, error))
		return FALSE;
	if (!old_at != !new_at)
		return ro_fail(error, RO_ERROR_FAILED,
			"new ISO: other kinds of volume descriptors; please report this");
	if (!old_at)
		return TRUE;
	if (!get(d->old_fd, old_at, old_vd, sizeof(old_vd), error) ||
		!get(d->new_fd, new_at, new_vd, sizeof(new_vd), error))
		return FALSE;
	if (!d->write)
		return same_fields(old_vd, new_vd, d->application_use, error);
	copy_fields(new_vd, old_vd, d->application_use);
	return put(d->new_fd, new_at, new_vd, sizeof(new_vd), error);
}

static gboolean all_kinds(const descriptors *d, guint64 base, GError **error)
{
	return one_kind(d, base, LI_VD_PRIMARY, error) && one_kind(d, base, LI_VD_JOLIET, error) &&
	       one_kind(d, base, LI_VD_ENHANCED, error);
}

/* Where the boot catalogue lies (El Torito 1.0, figure 7); 0 if there is none. */
static gboolean find_catalog(int fd, guint64 *offset, GError **error)
{
	guint8 vd[LI_SECTOR];

	*offset = 0;
	if (!get(fd, 17 * LI_SECTOR, vd, sizeof(vd), error))
		return FALSE;
	if (vd[0] == 0 && !memcmp(vd + 1, "CD001", 5) &&
		!memcmp(vd + 7, "EL TORITO SPECIFICATION", 23))
		*offset = (guint64)img_le32(vd + CATALOG_POINTER) * LI_SECTOR;
	return TRUE;
}

/*
 * Makes catalog the old one with the addresses of the new one; FALSE if they have other kinds of
 * entries. So load sizes, ids and selection criteria stay.
 */
static gboolean move_catalog(guint8 *catalog, const guint8 *new_catalog)
{
	if (catalog[0] != 1 || new_catalog[0] != 1)
		return FALSE;
	for (guint at = CATALOG_ENTRY; at < LI_SECTOR; at += CATALOG_ENTRY) {
		if (catalog[at] != new_catalog[at])
			return FALSE;
		if (catalog[at] == 0x88 || catalog[at] == 0x00) /* a boot image */
			memcpy(catalog + at + CATALOG_LBA, new_catalog + at + CATALOG_LBA, 4);
	}
	return TRUE;
}

static gboolean restore_catalog(int old_fd, int new_fd, GError **error)
{
	guint8 catalog[LI_SECTOR], new_catalog[LI_SECTOR];
	guint64 old_at, new_at;

	if (!find_catalog(old_fd, &old_at, error) || !find_catalog(new_fd, &new_at, error))
		return FALSE;
	if (!old_at || !new_at)
		return TRUE;
	if (!get(old_fd, old_at, catalog, sizeof(catalog), error) ||
		!get(new_fd, new_at, new_catalog, sizeof(new_catalog), error))
		return FALSE;
	return !move_catalog(catalog, new_catalog) ||
	       put(new_fd, new_at, catalog, sizeof(catalog), error);
}

static gboolean has_mbr(const guint8 *sector)
{
	return sector[510] == 0x55 && sector[511] == 0xaa;
}

static gboolean restore_mbr(int old_fd, int new_fd, GError **error)
{
	guint8 old_mbr[512], new_mbr[512];

	if (!get(old_fd, 0, old_mbr, sizeof(old_mbr), error) ||
		!get(new_fd, 0, new_mbr, sizeof(new_mbr), error))
		return FALSE;
	if (!has_mbr(old_mbr) || !has_mbr(new_mbr))
		return TRUE;
	return put(new_fd, MBR_ID, old_mbr + MBR_ID, MBR_ID_SIZE, error);
}

static gboolean restore_gpt(int old_fd, int new_fd, GError **error)
{
	g_auto(li_gpt) old_gpt = {0}, new_gpt = {0}, backup = {0};

	if (!li_gpt_read(old_fd, LI_GPT_BLOCK, &old_gpt) ||
		!li_gpt_read(new_fd, LI_GPT_BLOCK, &new_gpt))
		return TRUE;
	if (!li_gpt_copy_ids(&new_gpt, &old_gpt))
		return TRUE;
	if (li_gpt_read(new_fd, new_gpt.backup, &backup)) {
		li_gpt_copy_ids(&backup, &old_gpt);
		if (!li_gpt_write(new_fd, &backup, error))
			return FALSE;
	}
	return li_gpt_write(new_fd, &new_gpt, error);
}

gboolean li_identity_restore(int old_fd, int new_fd, guint64 partition_offset,
	gboolean keep_application_use, GError **error)
{
	const descriptors d = {.old_fd = old_fd,
		.new_fd = new_fd,
		.application_use = keep_application_use,
		.write = TRUE};

	if (!all_kinds(&d, 0, error) ||
		(partition_offset && !all_kinds(&d, partition_offset, error)))
		return FALSE;
	return restore_catalog(old_fd, new_fd, error) && restore_mbr(old_fd, new_fd, error) &&
	       restore_gpt(old_fd, new_fd, error);
}

static gboolean same_mbr(int old_fd, int new_fd, GError **error)
{
	guint8 old_mbr[512], new_mbr[512];

	if (!get(old_fd, 0, old_mbr, sizeof(old_mbr), error) ||
		!get(new_fd, 0, new_mbr, sizeof(new_mbr), error))
		return FALSE;
	if (has_mbr(old_mbr) != has_mbr(new_mbr) ||
		(has_mbr(old_mbr) && memcmp(old_mbr + MBR_ID, new_mbr + MBR_ID, MBR_ID_SIZE)))
		return ro_fail(error, RO_ERROR_FAILED,
			"new ISO: disk id of the MBR differs; please report this");
	return TRUE;
}

gboolean li_identity_same(
	int old_fd, int new_fd, guint64 partition_offset, gboolean application_use, GError **error)
{
	const descriptors d = {
		.old_fd = old_fd, .new_fd = new_fd, .application_use = application_use};

	return all_kinds(&d, 0, error) &&
	       (!partition_offset || all_kinds(&d, partition_offset, error)) &&
	       same_mbr(old_fd, new_fd, error);
}
