/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/live_iso.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/boot_config.h"
#include "iso/files.h"
#include "iso/journal.h"
#include "iso/kernel_image.h"
#include "iso/live_image.h"
#include "iso/live_iso-internal.h"
#include "iso/lock.h"
#include "iso/seal.h"
#include "iso/volume.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/error.h"

struct li_private {
	GHashTable *by_path;   /* path to li_file */
	GHashTable *by_folded; /* path in lower case to the first li_file that has it */
	GHashTable *labels;    /* li_file to its label */
};

li_iso *li_iso_new(const char *path, int fd, guint64 file_size)
{
	li_iso *iso = g_new0(li_iso, 1);

	iso->path = g_strdup(path);
	iso->fd = fd;
	iso->file_size = file_size;
	iso->files = g_ptr_array_new_with_free_func((GDestroyNotify)li_file_free);
	iso->boot_images = g_ptr_array_new_with_free_func((GDestroyNotify)li_boot_image_free);
	iso->entries = g_ptr_array_new_with_free_func((GDestroyNotify)li_entry_free);
	iso->images = g_ptr_array_new_with_free_func((GDestroyNotify)li_image_free);
	iso->notes = g_ptr_array_new_with_free_func(g_free);
	iso->private_ = g_new0(struct li_private, 1);
	iso->private_->by_path = g_hash_table_new(ro_bytes_hash, g_str_equal);
	iso->private_->by_folded = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, NULL);
	iso->private_->labels = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return iso;
}

void li_iso_free(li_iso *iso)
{
	if (!iso)
		return;
	g_ptr_array_unref(iso->images);
	g_ptr_array_unref(iso->entries);
	g_ptr_array_unref(iso->boot_images);
	g_ptr_array_unref(iso->files);
	g_ptr_array_unref(iso->notes);
	g_hash_table_destroy(iso->private_->by_path);
	g_hash_table_destroy(iso->private_->by_folded);
	g_hash_table_destroy(iso->private_->labels);
	g_free(iso->private_);
	li_volume_clear(&iso->volume);
	if (iso->fd >= 0)
		close(iso->fd);
	g_free(iso->refusal);
	g_free(iso->path);
	g_free(iso);
}

void li_iso_index_files(li_iso *iso)
{
	struct li_private *tables = iso->private_;

	for (guint i = 0; i < iso->files->len; i++) {
		li_file *file = iso->files->pdata[i];
		char *folded = g_ascii_strdown(file->path, -1);

		g_hash_table_insert(tables->by_path, file->path, file);
		if (g_hash_table_contains(tables->by_folded, folded))
			g_free(folded);
		else
			g_hash_table_insert(tables->by_folded, folded, file);
	}
}

const li_file *li_iso_find(const li_iso *iso, const char *path)
{
	g_autofree char *absolute = path[0] == '/' ? g_strdup(path) : g_strconcat("/", path, NULL);
	g_autofree char *folded = g_ascii_strdown(absolute, -1);
	const li_file *file = g_hash_table_lookup(iso->private_->by_path, absolute);

	return file ? file : g_hash_table_lookup(iso->private_->by_folded, folded);
}

static const char *label_of(const li_iso *iso, const li_file *file)
{
	char *label = g_hash_table_lookup(iso->private_->labels, file);

	if (!label) {
		label = g_strdup_printf("%s:%s", iso->path, file->path);
		g_hash_table_insert(iso->private_->labels, (gpointer)file, label);
	}
	return label;
}

static img_source disc_of(const li_iso *iso)
{
	return (img_source){iso->fd, 0, iso->file_size, iso->path};
}

GBytes *li_iso_read(const li_iso *iso, const li_file *file, gsize limit, GError **error)
{
	img_source disc = disc_of(iso);
	g_autofree guint8 *bytes = NULL;
	gsize at = 0;

	if (file->size > limit) {
		ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: %" G_GUINT64_FORMAT
			" bytes are more than the %zu that make sense here",
			label_of(iso, file), file->size, limit);
		return NULL;
	}
	bytes = g_malloc((gsize)file->size + 1);
	for (guint i = 0; i < file->extent_count; at += (gsize)file->extents[i++].length)
		if (!img_source_read(&disc, file->extents[i].offset, bytes + at,
			    (gsize)file->extents[i].length, error))
			return NULL;
	return g_bytes_new_take(g_steal_pointer(&bytes), (gsize)file->size);
}

gboolean li_iso_source(const li_iso *iso, const li_file *file, img_source *source, GError **error)
{
	if (!li_file_is_contiguous(file))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: lies on the ISO in pieces with gaps between them; not supported",
			label_of(iso, file));
	source->fd = iso->fd;
	source->offset = file->extent_count > 0 ? file->extents[0].offset : 0;
	source->size = file->size;
	source->label = label_of(iso, file);
	return TRUE;
}

/* How well an entry suits as the default; higher is better. */
static guint rank(const li_entry *entry)
{
	return (entry->is_live ? 2 : 0) + (entry->is_default ? 1 : 0);
}

const li_entry *li_iso_default_entry(const li_iso *iso)
{
	const li_entry *best = NULL;

	for (guint i = 0; i < iso->entries->len; i++) {
		const li_entry *entry = iso->entries->pdata[i];

		if (!best || rank(entry) > rank(best))
			best = entry;
	}
	return best;
}

/* ---- opening ---- */

static gboolean unreadable(const char *path, const char *reason, GError **error)
{
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s", path, reason);
}

/* O_NONBLOCK: a fifo must not make us wait. */
static int open_input(const char *path, guint64 *size, GError **error)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	off_t end;

	if (fd < 0) {
		ro_fail_errno(error, errno, "%s", path);
		return -1;
	}
	if (fstat(fd, &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))) {
		unreadable(path, "neither a file nor a block device", error);
		close(fd);
		return -1;
	}
	end = lseek(fd, 0, SEEK_END);
	if (end < 0) {
		unreadable(path, g_strerror(errno), error);
		close(fd);
		return -1;
	}
	*size = (guint64)end;
	return fd;
}

/* A boot image that has a name is the file that begins where it does. */
static void name_boot_images(li_iso *iso)
{
	for (guint i = 0; i < iso->boot_images->len; i++) {
		li_boot_image *image = iso->boot_images->pdata[i];

		for (guint j = 0; !image->path && j < iso->files->len; j++) {
			const li_file *file = iso->files->pdata[j];

			if (file->extent_count > 0 && file->extents[0].offset == image->offset)
				image->path = g_strdup(file->path);
		}
	}
}

/* EFI programs of machines that are no PCs (UEFI 2.x, 3.5.1.1). */
static const struct {
	const char *path;
	const char *machine; /* NULL: a PC */
} efi_programs[] = {
	{"/EFI/BOOT/BOOTX64.EFI", NULL},
	{"/EFI/BOOT/BOOTIA32.EFI", NULL},
	{"/EFI/BOOT/BOOTAA64.EFI", "arm64"},
	{"/EFI/BOOT/BOOTARM.EFI", "arm"},
	{"/EFI/BOOT/BOOTRISCV64.EFI", "RISC-V"},
	{"/EFI/BOOT/BOOTLOONGARCH64.EFI", "LoongArch"},
};

static gboolean has_bios_boot(const li_iso *iso)
{
	for (guint i = 0; i < iso->boot_images->len; i++)
		if (((const li_boot_image *)iso->boot_images->pdata[i])->platform == 0)
			return TRUE;
	return FALSE;
}

/* What kind of machine the ISO is for, if it is not a PC; owned by the caller. */
static char *foreign_machine(const li_iso *iso)
{
	const li_entry *entry = li_iso_default_entry(iso);
	const char *machine =
		entry ? li_kernel_machine(iso, li_iso_find(iso, entry->kernel)) : NULL;

	if (machine)
		return g_strdup_printf("%s kernel %s", machine, entry->kernel);
	if (has_bios_boot(iso))
		return NULL;
	for (gsize i = 0; i < G_N_ELEMENTS(efi_programs); i++) {
		const li_file *file = li_iso_find(iso, efi_programs[i].path);

		if (file && !efi_programs[i].machine)
			return NULL;
		if (file)
			return g_strdup_printf(
				"%s boot program %s", efi_programs[i].machine, file->path);
	}
	return NULL;
}

static char *find_refusal(const li_iso *iso)
{
	g_autofree char *machine = foreign_machine(iso);
	g_autoptr(GPtrArray) roots = li_images_of_root(iso);

	if (iso->boot_images->len == 0)
		return g_strdup("no boot record (El Torito); only bootable ISOs can be reordered");
	if (machine)
		return g_strdup_printf("not for a PC (%s); only x86 is supported", machine);
	if (roots->len == 0)
		return g_strdup("no live image: no file on it holds a root filesystem");
	return NULL;
}

#define KEPT_BY_PATCH "kept only where the new image fits into the place of the old one"

static void add_notes(li_iso *iso)
{
	li_seal_note_lists(iso);
	if (iso->volume.multi_session)
		g_ptr_array_add(iso->notes, g_strdup("more than one session, " KEPT_BY_PATCH));
	if (iso->volume.udf)
		g_ptr_array_add(iso->notes,
			g_strdup("UDF beside ISO 9660 (a bridge disc), " KEPT_BY_PATCH));
	if (iso->entries->len == 0)
		g_ptr_array_add(iso->notes,
			g_strdup(
				"no boot entry for Linux found in isolinux or GRUB configurations"));
}

static gboolean read_all(li_iso *iso, GError **error)
{
	img_source disc = disc_of(iso);
	GPtrArray *files;

	if (!li_volume_read(&disc, &iso->volume, iso->boot_images, error))
		return FALSE;
	files = li_files_read(&disc, &iso->volume, error);
	if (!files)
		return FALSE;
	g_ptr_array_unref(iso->files);
	iso->files = files;
	li_iso_index_files(iso);
	name_boot_images(iso);
	li_boot_config_read(iso);
	if (!li_images_find(iso, error))
		return FALSE;
	iso->refusal = find_refusal(iso);
	add_notes(iso);
	return TRUE;
}

/* Nobody reads an ISO that is being changed in place, or was left half changed. The lock is gone
 * with the descriptor; a filesystem without locks does without. */
static gboolean check_in_place(const char *path, int fd, GError **error)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) /* others lock devices */
		return TRUE;
	if (li_lock_take(fd, LI_LOCK_READ) == EAGAIN)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: another run of reorder-livecd is changing it in place; wait for it",
			path);
	if (li_journal_exists(path))
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: a run with --in-place was interrupted; have the old ISO back with: reorder-livecd recover %s",
			path, path);
	return TRUE;
}

void li_iso_unlock(const li_iso *iso)
{
	(void)!li_lock_take(iso->fd, LI_LOCK_NONE);
}

li_iso *li_iso_open(const char *path, GError **error)
{
	guint64 size = 0;
	int fd = open_input(path, &size, error);
	g_autoptr(li_iso) iso = NULL;

	if (fd < 0)
		return NULL;
	iso = li_iso_new(path, fd, size);
	return check_in_place(path, fd, error) && read_all(iso, error) ? g_steal_pointer(&iso)
								       : NULL;
}
