/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/firmware_watch.h"

enum {
	SECTOR = 2048,
	VIRTUAL_SECTOR = 512, /* what El Torito counts the loaded part in */
	PLATFORM_BIOS = 0,
	PLATFORM_EFI = 0xef,
};

const li_boot_image *tr_firmware_boot_image(const li_iso *iso, tr_firmware firmware)
{
	guint8 wanted = firmware == TR_FIRMWARE_UEFI ? PLATFORM_EFI : PLATFORM_BIOS;

	for (guint i = 0; i < iso->boot_images->len; i++) {
		const li_boot_image *image = g_ptr_array_index(iso->boot_images, i);
		if (image->bootable && image->platform == wanted)
			return image;
	}
	return NULL;
}

void tr_firmware_watch_init(tr_firmware_watch *watch, const tr_measure_job *job, const char *log)
{
	*watch = (tr_firmware_watch){.job = job, .tail = tr_read_tail_new(log)};
}

void tr_firmware_watch_clear(tr_firmware_watch *watch)
{
	g_clear_pointer(&watch->tail, tr_read_tail_free);
}

static gboolean overlaps(const tr_read *read, guint64 offset, guint64 length)
{
	return read->offset < offset + length && offset < read->offset + read->length;
}

static gboolean reads_boot_image(const tr_firmware_watch *watch, const tr_read *read)
{
	const li_boot_image *image =
		tr_firmware_boot_image(watch->job->boot.iso, watch->job->firmware);

	return image && overlaps(read, image->offset,
				MAX((guint64)image->load_sectors * VIRTUAL_SECTOR, SECTOR));
}

static const li_file *file_of(const tr_firmware_watch *watch, const char *path)
{
	const li_file *file = li_iso_find(watch->job->boot.iso, path);

	return file && file->extent_count > 0 && file->size > 0 ? file : NULL;
}

static gboolean begins_kernel(const tr_firmware_watch *watch, const tr_read *read)
{
	const li_file *file = file_of(watch, watch->job->boot.entry->kernel);

	return file && overlaps(read, file->extents[0].offset, file->extents[0].length);
}

void tr_firmware_watch_take(tr_firmware_watch *watch, const tr_read *read)
{
	watch->count++;
	watch->done = MAX(watch->done, read->time) + read->delay;
	if (!watch->handed_over && reads_boot_image(watch, read)) {
		watch->handed_over = TRUE;
		watch->hand_over = read->time;
	}
	if (watch->handed_over && begins_kernel(watch, read))
		watch->kernel_begun = TRUE;
	if (watch->kernel > 0 && watch->mounted <= 0 &&
		tr_boot_mounts_image(&watch->job->boot, read))
		watch->mounted = read->time;
}

void tr_firmware_watch_reads(tr_firmware_watch *watch)
{
	tr_read read;

	while (tr_read_tail_next(watch->tail, &read))
		tr_firmware_watch_take(watch, &read);
}

void tr_firmware_watch_mode(tr_firmware_watch *watch, tr_mode mode, double time)
{
	if (mode >= TR_MODE_KERNEL && watch->kernel <= 0)
		watch->kernel = time;
	if (mode == TR_MODE_USER && watch->init <= 0)
		watch->init = time;
}

static double first_kernel_read(const tr_firmware_watch *watch, const GArray *reads)
{
	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		if (read->time >= watch->hand_over && begins_kernel(watch, read))
			return read->time;
	}
	return watch->kernel;
}

/* The longest time in which the drive had nothing to do before the kernel was read. */
static void find_wait(const tr_firmware_watch *watch, const GArray *reads, tr_marks *marks)
{
	double until = first_kernel_read(watch, reads), done = watch->hand_over;

	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		if (read->time < watch->hand_over || read->time > until)
			continue;
		if (read->time - done > marks->wait_to - marks->wait_from) {
			marks->wait_from = done;
			marks->wait_to = read->time;
		}
		done = MAX(done, read->time) + read->delay;
	}
}

void tr_firmware_watch_marks(const tr_firmware_watch *watch, const GArray *reads, tr_marks *marks)
{
	double end = watch->mounted;

	if (reads->len > 0) {
		const tr_read *last = &g_array_index(reads, tr_read, reads->len - 1);
		end = MAX(end, last->time + last->delay);
	}
	double kernel = MAX(watch->kernel, watch->hand_over);
	double mounted = MAX(watch->mounted, kernel);
	/* A kernel that runs no program before the mount was not looked at in time. */
	double init = watch->init >= kernel && watch->init <= mounted ? watch->init : -1;
	*marks = (tr_marks){.at = {watch->hand_over, kernel, init, mounted, end}};
	find_wait(watch, reads, marks);
}
