/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of a boot from outside. */
#include <glib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "iso/live_iso-internal.h"
#include "trace/firmware_watch.h"

static void near(double got, double wanted)
{
	g_assert_cmpfloat_with_epsilon(got, wanted, 1e-9);
}

/* As "info registers -a" of QEMU 7.2 prints them, without the lines that do not matter. */
#define LOADER                                                                                     \
	"EAX=00000000 EBX=0\r\nEIP=000f1234 EFL=00000046 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=0\r\n"
#define UNPACKING                                                                                  \
	"RAX=0\r\nRIP=00000000014b2c10 RFL=00000046 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=0\r\n"
#define KERNEL                                                                                     \
	"RAX=0\r\nRIP=ffffffff8171b0aa RFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=1\r\n"
#define PROGRAM                                                                                    \
	"RAX=0\r\nRIP=00007f1c2a3b4c5d RFL=00000246 [---Z-P-] CPL=3 II=0 A20=1 SMM=0 HLT=0\r\n"
#define KERNEL_32 "EAX=0\r\nEIP=c1001234 EFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=1\r\n"
#define FLASH "EAX=0\r\nEIP=fffffff0 EFL=00000002 [-------] CPL=0 II=0 A20=1 SMM=0 HLT=1\r\n"

static void the_mode_of_the_processors(void)
{
	g_assert_cmpint(tr_monitor_parse_mode(LOADER FLASH), ==, TR_MODE_EARLY);
	g_assert_cmpint(tr_monitor_parse_mode(UNPACKING LOADER), ==, TR_MODE_EARLY);
	g_assert_cmpint(tr_monitor_parse_mode(LOADER KERNEL), ==, TR_MODE_KERNEL);
	g_assert_cmpint(tr_monitor_parse_mode(KERNEL_32), ==, TR_MODE_KERNEL);
	g_assert_cmpint(tr_monitor_parse_mode(KERNEL PROGRAM), ==, TR_MODE_USER);
	g_assert_cmpint(tr_monitor_parse_mode(PROGRAM KERNEL), ==, TR_MODE_USER);
	g_assert_cmpint(tr_monitor_parse_mode(""), ==, TR_MODE_EARLY);
	g_assert_cmpint(tr_monitor_parse_mode("RIP=zz CPL=x\nEIP="), ==, TR_MODE_EARLY);
}

/* The other end of the pipes is QEMU's; here it is the test. */
static void the_monitor_waits_for_its_answer(void)
{
	g_autofree char *directory = g_dir_make_tmp("monitor-XXXXXX", NULL);
	tr_monitor *monitor = tr_monitor_new(directory, NULL);
	g_autofree char *in_path = g_strconcat(tr_monitor_pipes(monitor), ".in", NULL);
	g_autofree char *out_path = g_strconcat(tr_monitor_pipes(monitor), ".out", NULL);
	int out = open(out_path, O_RDWR), in = open(in_path, O_RDONLY | O_NONBLOCK);
	char command[64] = "";
	tr_mode mode;

	g_assert_cmpint(write(out, "QEMU 7.2 monitor\r\n(qemu) ", 25), ==, 25);
	g_assert_false(tr_monitor_get_mode(monitor, &mode));
	tr_monitor_ask_mode(monitor);
	tr_monitor_ask_mode(monitor); /* the second time is too early */
	g_assert_cmpint(read(in, command, sizeof command - 1), >, 0);
	g_assert_cmpstr(command, ==, "info registers -a\n");
	g_assert_false(tr_monitor_get_mode(monitor, &mode));
	g_assert_cmpint(write(out, "info\x1b[K\r\nCPU#0\r\n" KERNEL, strlen(KERNEL) + 15), >, 0);
	g_assert_false(tr_monitor_get_mode(monitor, &mode));
	g_assert_cmpint(write(out, "(qemu) ", 7), ==, 7);
	g_assert_true(tr_monitor_get_mode(monitor, &mode));
	g_assert_cmpint(mode, ==, TR_MODE_KERNEL);
	g_assert_false(tr_monitor_get_mode(monitor, &mode));
	tr_monitor_free(monitor);
	close(in);
	close(out);
	g_assert_cmpint(rmdir(directory), ==, 0);
}

/* --- an ISO of which only the places matter --- */

#define SECTOR 2048ull

typedef struct {
	li_iso *iso;
	li_entry entry;
	img_layer layer;
	li_boot_image *bios;
	tr_measure_job job;
} fixture;

static li_file *add_file(li_iso *iso, const char *path, guint64 sector, guint64 size)
{
	li_file *file = g_new0(li_file, 1);

	file->path = g_strdup(path);
	file->size = size;
	file->extents = g_new(li_extent, 1);
	file->extents[0] = (li_extent){sector * SECTOR, size};
	file->extent_count = 1;
	g_ptr_array_add(iso->files, file);
	return file;
}

static void set_up(fixture *f)
{
	*f = (fixture){.iso = li_iso_new("x.iso", open("/dev/null", O_RDONLY), 700000000)};
	f->layer.name = add_file(f->iso, "/live/filesystem.squashfs", 10000, 100000000)->path;
	add_file(f->iso, "/live/initrd.img", 1000, 2000001);
	add_file(f->iso, "/live/vmlinuz", 4000, 8000000);
	li_iso_index_files(f->iso);
	f->bios = g_new0(li_boot_image, 1);
	*f->bios = (li_boot_image){.bootable = TRUE, .load_sectors = 4, .offset = 50 * SECTOR};
	g_ptr_array_add(f->iso->boot_images, f->bios);
	f->entry.kernel = (char *)"/live/vmlinuz";
	f->entry.initrds = g_ptr_array_new();
	g_ptr_array_add(f->entry.initrds, (char *)"/live/initrd.img");
	f->job = (tr_measure_job){.firmware = TR_FIRMWARE_BIOS, .k = 5};
	f->job.boot.iso = f->iso;
	f->job.boot.entry = &f->entry;
	f->job.boot.layers = &f->layer;
	f->job.boot.layer_count = 1;
}

static void clear(fixture *f)
{
	g_ptr_array_unref(f->entry.initrds);
	li_iso_free(f->iso);
}

static void the_boot_image_of_the_firmware(void)
{
	fixture f;

	set_up(&f);
	g_assert_true(tr_firmware_boot_image(f.iso, TR_FIRMWARE_BIOS) == f.bios);
	g_assert_null(tr_firmware_boot_image(f.iso, TR_FIRMWARE_UEFI));
	f.bios->bootable = FALSE;
	g_assert_null(tr_firmware_boot_image(f.iso, TR_FIRMWARE_BIOS));
	clear(&f);
}

static const tr_read whole_boot[] = {
	{0.5, 16 * SECTOR, 2048, 0.1},                 /* the firmware looks at the disc */
	{1, 50 * SECTOR, 2048, 0.1},                   /* the boot image */
	{1.2, 60 * SECTOR, 30000, 0.1},                /* the loader's files */
	{9.3, 4000 * SECTOR, 65536, 0.2},              /* behind the menu: the kernel */
	{9.5, 1000 * SECTOR, 1000000, 1},              /* the initrd */
	{10.5, 1000 * SECTOR + 1000000, 1000001, 0.1}, /* its end */
	{14, 16 * SECTOR, 4096, 0.1},                  /* probing */
	{15, 10000 * SECTOR, 4096, 0.1},               /* mount */
	{20, 20000 * SECTOR, 131072, 0.5},             /* root */
};

static void marks_of_a_whole_boot(void)
{
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	tr_firmware_watch watch = {0};
	tr_marks marks;
	fixture f;

	set_up(&f);
	watch.job = &f.job;
	g_array_append_vals(reads, whole_boot, G_N_ELEMENTS(whole_boot));
	tr_firmware_watch_take(&watch, &whole_boot[0]);
	g_assert_false(watch.handed_over);
	tr_firmware_watch_take(&watch, &whole_boot[1]);
	g_assert_true(watch.handed_over);
	tr_firmware_watch_take(&watch, &whole_boot[2]);
	near(watch.done, 1.3);
	g_assert_false(watch.kernel_begun);
	tr_firmware_watch_take(&watch, &whole_boot[3]);
	g_assert_true(watch.kernel_begun);
	tr_firmware_watch_take(&watch, &whole_boot[4]);
	tr_firmware_watch_take(&watch, &whole_boot[5]);
	tr_firmware_watch_mode(&watch, TR_MODE_EARLY, 10.7);
	near(watch.kernel, 0);
	tr_firmware_watch_mode(&watch, TR_MODE_KERNEL, 11);
	tr_firmware_watch_mode(&watch, TR_MODE_KERNEL, 11.5);
	tr_firmware_watch_mode(&watch, TR_MODE_USER, 13);
	tr_firmware_watch_mode(&watch, TR_MODE_USER, 13.5);
	for (guint i = 6; i < reads->len; i++)
		tr_firmware_watch_take(&watch, &whole_boot[i]);
	tr_firmware_watch_marks(&watch, reads, &marks);
	near(marks.at[TR_PHASE_LOADER], 1);
	near(marks.at[TR_PHASE_KERNEL], 11);
	near(marks.at[TR_PHASE_INITRAMFS], 13);
	near(marks.at[TR_PHASE_USERSPACE], 15);
	near(marks.at[TR_PHASE_COUNT], 20.5);
	near(marks.wait_from, 1.3);
	near(marks.wait_to, 9.3);
	clear(&f);
}

static void the_tail_of_a_growing_log(void)
{
	g_autofree char *directory = g_dir_make_tmp("tail-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "reads.log", NULL);
	tr_read_tail *tail = tr_read_tail_new(path);
	tr_read read;

	g_assert_false(tr_read_tail_next(tail, &read));
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	g_assert_cmpint(write(fd, "reorder-livecd reads 1\n# size 5\n1.5 0 20", 40), ==, 40);
	g_assert_false(tr_read_tail_next(tail, &read));
	g_assert_cmpint(write(fd, "48 0.25\n2.5 4096 2048 0.000001\n", 31), ==, 31);
	g_assert_true(tr_read_tail_next(tail, &read));
	near(read.time, 1.5);
	g_assert_cmpuint(read.length, ==, 2048);
	near(read.delay, 0.25);
	g_assert_true(tr_read_tail_next(tail, &read));
	g_assert_cmpuint(read.offset, ==, 4096);
	g_assert_false(tr_read_tail_next(tail, &read));
	for (guint i = 0; i < 2000; i++)
		g_assert_cmpint(write(fd, "xxxxxxxxxx", 10), ==, 10);
	g_assert_cmpint(write(fd, "\n3 1 2 3\n", 9), ==, 9);
	g_assert_true(tr_read_tail_next(tail, &read));
	near(read.time, 3);
	tr_read_tail_free(tail);
	close(fd);
	unlink(path);
	rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/firmware/mode", the_mode_of_the_processors);
	g_test_add_func("/firmware/monitor", the_monitor_waits_for_its_answer);
	g_test_add_func("/firmware/boot-image", the_boot_image_of_the_firmware);
	g_test_add_func("/firmware/marks", marks_of_a_whole_boot);
	g_test_add_func("/firmware/tail", the_tail_of_a_growing_log);
	return g_test_run();
}
