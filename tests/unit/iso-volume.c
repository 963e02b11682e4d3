/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/volume.h"
#include "iso/volume_tree.h"

#include <fcntl.h>

#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "tests/unit/iso-fixture.h"

/* $XORRISO OPTION… writes base.iso's tree; files of a few KiB stand for the boot images. */
static const char prepare[] =
	"mkdir -p tree/isolinux tree/boot/grub tree/.disk\n"
	"head -c 4096 /dev/zero | tr '\\0' b > tree/isolinux/isolinux.bin\n"
	"head -c 65536 /dev/zero | tr '\\0' e > tree/boot/grub/efi.img\n"
	": > tree/.disk/casper-uuid-x; echo hello > tree/hello.txt\n"
	"mk() { out=$1; shift; xorriso -as mkisofs -quiet -r -o $out \"$@\" tree 2>/dev/null; }\n"
	"bios='-b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4'\n"
	"efi='-e boot/grub/efi.img -no-emul-boot'\n"
	"date=--modification-date=2020010203040500\n"
	"mk both.iso $date -V \"My Live-1.0 $(printf '\\303\\251')\" -p PREPARER -publisher PUB "
	"-A APP -sysid SYS $bios -eltorito-alt-boot $efi\n"
	"mk bios.iso $date $bios\n"
	"mk efi.iso $date $efi\n"
	"mk data.iso $date -J\n"
	"mk gpt.iso $date $bios -G /usr/lib/ISOLINUX/isohdpfx.bin -partition_offset 16 "
	"-append_partition 2 0xef tree/boot/grub/efi.img -appended_part_as_gpt "
	"-eltorito-alt-boot -e --interval:appended_partition_2:all:: -no-emul-boot\n"
	"cp both.iso md5.iso; implantisomd5 --force md5.iso >/dev/null\n"
	"mkdir tree/d; touch tree/d/$(printf 'n%.0s' $(seq 64))\n"
	"mk joliet64.iso $date -J -joliet-long\n"
	"touch tree/d/$(printf 'n%.0s' $(seq 65)); mk joliet65.iso $date -J -joliet-long\n"
	"rm -r tree/d\n"
	"xorriso -outdev multi.iso -blank as_needed -map tree /tree -commit >/dev/null 2>&1\n"
	"cp multi.iso single.iso\n"
	"mk aligned.iso $date $bios --emul-toc -isohybrid-mbr /usr/lib/ISOLINUX/isohdpfx.bin "
	"-partition_cyl_align all\n"
	"xorriso -dev multi.iso -map tree /more -commit >/dev/null 2>&1\n"
	"mkdir -p tree/$(printf 'x\\205y') tree/a/b/c/d/e/f/g/h/i; touch tree/$(printf 'x\\205y/l\\351')\n"
	"echo deep > tree/a/b/c/d/e/f/g/h/i/deep; mk names.iso $date $bios\n"
	"xorriso -as mkisofs -quiet -o plain.iso $date --norock $bios tree 2>/dev/null\n"
	"xorriso -as mkisofs -quiet -o joliet.iso $date --norock -J $bios tree 2>/dev/null\n"
	"mkdir -p loop/a/b; touch loop/a/f; xorriso -as mkisofs -quiet -r -o loop.iso loop 2>/dev/null\n";

static char *dir;

static char *file_path(const char *name)
{
	return g_build_filename(dir, name, NULL);
}

static li_iso *open_iso(const char *name)
{
	g_autofree char *path = file_path(name);
	g_autoptr(GError) error = NULL;
	li_iso *iso = li_iso_open(path, &error);

	g_assert_no_error(error);
	return iso;
}

static void assert_refused(const char *name, const char *text)
{
	g_autofree char *path = file_path(name);
	g_autoptr(GError) error = NULL;

	g_assert_null(li_iso_open(path, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	g_assert_true(g_str_has_prefix(error->message, path));
	if (!strstr(error->message, text))
		g_error("%s", error->message);
}

/* What a program prints, without the last newline. */
static char *output_of(const char *command, const char *name)
{
	g_autofree char *line = g_strdup_printf("cd %s; %s %s 2>/dev/null", dir, command, name);
	const char *const argv[] = {"sh", "-c", line, NULL};
	char *out = NULL;

	g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
		NULL, NULL, NULL));
	return g_strchomp(out);
}

/* A copy with some bytes written over. */
static void patched(const char *from, const char *to, guint64 at, const void *bytes, gsize size)
{
	g_autofree char *source = file_path(from);
	g_autofree char *target = file_path(to);
	g_autofree char *data = NULL;
	gsize length;

	g_assert_true(g_file_get_contents(source, &data, &length, NULL));
	g_assert_cmpuint(at + size, <=, length);
	memcpy(data + at, bytes, size);
	g_assert_true(g_file_set_contents(target, data, (gssize)length, NULL));
}

/* ---- identity: G1, G2 ---- */

static void test_identity(void)
{
	g_autoptr(li_iso) iso = open_iso("both.iso");
	g_autofree char *uuid = output_of("blkid -p -o value -s UUID", "both.iso");
	g_autofree char *label =
		output_of("dd bs=1 skip=32808 count=32 status=none if=", "both.iso");

	g_assert_cmpstr(iso->volume.volume_uuid, ==, "2020-01-02-03-04-05-00");
	g_assert_cmpstr(uuid, ==, iso->volume.volume_uuid);
	g_assert_cmpstr(iso->volume.volume_id, ==, "My Live-1.0 \303\251");
	g_assert_cmpstr(iso->volume.preparer_id, ==, "PREPARER");
	g_assert_cmpstr(iso->volume.publisher_id, ==, "PUB");
	g_assert_cmpstr(iso->volume.application_id, ==, "APP");
	g_assert_cmpstr(iso->volume.system_id, ==, "SYS");
	g_assert_true(iso->volume.rock_ridge);
	g_assert_false(iso->volume.joliet);
	g_assert_false(iso->volume.udf);
	g_assert_false(iso->volume.isomd5);
	g_assert_false(iso->volume.multi_session);
	g_assert_false(iso->volume.gpt);
	g_assert_false(iso->volume.apm);
	g_assert_cmpuint(iso->volume.size, <=, iso->file_size);
}

static void test_uuid_of_dates(void)
{
	static const guint8 none[] = "0000000000000000", date[] = "2021122331235960";
	static const guint8 zeros[17] = {0}, text[] = "20x1122331235960";
	g_autofree char *modified = li_volume_uuid(date, none);
	g_autofree char *created = li_volume_uuid(none, date);

	g_assert_cmpstr(modified, ==, "2021-12-23-31-23-59-60");
	g_assert_cmpstr(created, ==, "2021-12-23-31-23-59-60");
	g_assert_null(li_volume_uuid(none, none));
	g_assert_null(li_volume_uuid(zeros, zeros));
	g_assert_null(li_volume_uuid(text, none));
}

/* The rule is blkid's: no modification date, so the creation date. */
static void test_uuid_as_blkid(void)
{
	static const char none[] = "0000000000000000";

	patched("both.iso", "created.iso", 32768 + 830, none, sizeof(none));
	g_autoptr(li_iso) iso = open_iso("created.iso");
	g_autofree char *uuid = output_of("blkid -p -o value -s UUID", "created.iso");

	g_assert_cmpstr(iso->volume.volume_uuid, ==, uuid);
}

static void test_joliet(void)
{
	g_autoptr(li_iso) none = open_iso("both.iso");
	g_autoptr(li_iso) fits = open_iso("joliet64.iso");
	g_autoptr(li_iso) longer = open_iso("joliet65.iso");

	g_assert_false(none->volume.joliet);
	g_assert_true(fits->volume.joliet);
	g_assert_false(fits->volume.joliet_long_names);
	g_assert_true(longer->volume.joliet_long_names);
}

static void test_isomd5(void)
{
	g_autoptr(li_iso) iso = open_iso("md5.iso");

	g_assert_true(iso->volume.isomd5);
}

static void test_multi_session(void)
{
	g_autoptr(li_iso) iso = open_iso("multi.iso");

	g_assert_true(iso->volume.multi_session);
	g_assert_nonnull(li_iso_find(iso, "/tree/hello.txt"));
	g_assert_nonnull(li_iso_find(iso, "/more/hello.txt"));
}

/* With room for another one, and with padding behind it. */
static void assert_one_session(const char *name)
{
	g_autoptr(li_iso) iso = open_iso(name);
	char descriptor[6];

	g_assert_cmpint(pread(iso->fd, descriptor, 6, 48 * LI_SECTOR), ==, 6);
	g_assert_cmpmem(descriptor, 6, "\1CD001", 6);
	g_assert_false(iso->volume.multi_session);
}

static void test_single_session(void)
{
	assert_one_session("single.iso");
	assert_one_session("aligned.iso");
}

static void test_partition_tables(void)
{
	g_autoptr(li_iso) iso = open_iso("gpt.iso");
	g_autofree char *guid =
		output_of("sh -c 'xorriso -indev $0 -report_system_area plain'", "gpt.iso");
	g_autofree char *line =
		g_strdup_printf("GPT disk GUID      :      %s\n", iso->volume.gpt_disk_guid);

	g_assert_true(iso->volume.gpt);
	g_assert_true(iso->volume.mbr);
	g_assert_nonnull(iso->volume.gpt_disk_guid);
	if (!strstr(guid, line))
		g_error("%s not in %s", line, guid);
}

/* ---- boot images: D10 ---- */

static void assert_boot(const li_iso *iso, guint index, guint8 platform, const char *path)
{
	const li_boot_image *image = iso->boot_images->pdata[index];

	g_assert_cmpuint(image->platform, ==, platform);
	g_assert_true(image->bootable);
	g_assert_cmpuint(image->media, ==, 0);
	g_assert_cmpstr(image->path, ==, path);
}

static void test_boot_images(void)
{
	g_autoptr(li_iso) both = open_iso("both.iso");
	g_autoptr(li_iso) bios = open_iso("bios.iso");
	g_autoptr(li_iso) efi = open_iso("efi.iso");
	g_autoptr(li_iso) appended = open_iso("gpt.iso");
	g_autoptr(li_iso) data = open_iso("data.iso");

	g_assert_cmpuint(both->boot_images->len, ==, 2);
	assert_boot(both, 0, 0, "/isolinux/isolinux.bin");
	assert_boot(both, 1, 0xef, "/boot/grub/efi.img");
	g_assert_cmpuint(((li_boot_image *)both->boot_images->pdata[0])->load_sectors, ==, 4);
	g_assert_cmpuint(((li_boot_image *)both->boot_images->pdata[0])->offset, ==,
		li_iso_find(both, "/isolinux/isolinux.bin")->extents[0].offset);
	g_assert_cmpuint(bios->boot_images->len, ==, 1);
	g_assert_cmpuint(efi->boot_images->len, ==, 1);
	assert_boot(efi, 0, 0xef, "/boot/grub/efi.img");
	g_assert_cmpuint(appended->boot_images->len, ==, 2);
	/* The EFI image lies in a partition behind the file system. */
	assert_boot(appended, 1, 0xef, NULL);
	g_assert_cmpuint(data->boot_images->len, ==, 0);
	g_assert_true(g_str_has_prefix(data->refusal, "no boot record (El Torito)"));
}

/* ---- files ---- */

static void assert_content(const li_iso *iso, const char *path, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) bytes = li_iso_read(iso, li_iso_find(iso, path), 100, &error);
	gsize size;
	const char *data;

	g_assert_no_error(error);
	data = g_bytes_get_data(bytes, &size);
	g_assert_cmpmem(data, size, text, strlen(text));
}

/* G3: empty files and dot files are there too. Names are bytes. */
static void test_files(void)
{
	g_autoptr(li_iso) iso = open_iso("names.iso");
	const li_file *empty = li_iso_find(iso, "/.disk/casper-uuid-x");

	g_assert_nonnull(empty);
	g_assert_cmpuint(empty->size, ==, 0);
	g_assert_cmpuint(empty->extent_count, ==, 0);
	g_assert_nonnull(li_iso_find(iso, "/x\205y/l\351"));
	assert_content(iso, "/hello.txt", "hello\n");
	assert_content(iso, "/a/b/c/d/e/f/g/h/i/deep", "deep\n");
	assert_content(iso, "HELLO.TXT", "hello\n");
	g_assert_null(li_iso_find(iso, "/hello"));
	/* The boot catalog has a name. */
	g_assert_nonnull(li_iso_find(iso, "/isolinux/boot.cat"));
	for (guint i = 1; i < iso->files->len; i++)
		g_assert_cmpstr(((li_file *)iso->files->pdata[i - 1])->path, <,
			((li_file *)iso->files->pdata[i])->path);
}

static void test_files_without_rock_ridge(void)
{
	g_autoptr(li_iso) plain = open_iso("plain.iso");
	g_autoptr(li_iso) joliet = open_iso("joliet.iso");

	g_assert_false(plain->volume.rock_ridge);
	assert_content(plain, "/hello.txt", "hello\n");
	g_assert_nonnull(li_iso_find(plain, "/isolinux/isolinux.bin"));
	g_assert_true(joliet->volume.joliet);
	assert_content(joliet, "/hello.txt", "hello\n");
}

static void test_read_limit(void)
{
	g_autoptr(li_iso) iso = open_iso("both.iso");
	g_autoptr(GError) error = NULL;

	g_assert_null(li_iso_read(iso, li_iso_find(iso, "/hello.txt"), 5, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
}

/* Files from 4 GiB on have several extents. */
static void test_extents(void)
{
	g_autoptr(li_iso) iso = open_iso("both.iso");
	li_extent together[] = {{4096, 0xfffff800}, {4096 + 0xfffff800ull, 100}};
	li_extent apart[] = {{4096, 2048}, {8192, 100}};
	li_file file = {.path = (char *)"/big", .extent_count = 2};
	img_source source;

	file.extents = together;
	file.size = 0xfffff800ull + 100;
	g_assert_true(li_iso_source(iso, &file, &source, NULL));
	g_assert_cmpuint(source.size, ==, file.size);
	g_assert_cmpuint(source.offset, ==, 4096);
	g_assert_true(g_str_has_suffix(source.label, "both.iso:/big"));
	file.extents = apart;
	g_assert_false(li_iso_source(iso, &file, &source, NULL));
}

/* ---- what is no whole ISO: F16, K7, F13 ---- */

static void cut(const char *name, guint64 size)
{
	g_autofree char *to = file_path(name);

	patched("both.iso", name, 0, "", 0);
	g_assert_cmpint(truncate(to, (off_t)size), ==, 0);
}

static void test_truncated(void)
{
	g_autoptr(li_iso) iso = open_iso("both.iso");

	for (guint64 size = iso->volume.size - 2048; size > 70000; size -= size / 7) {
		cut("cut.iso", size);
		assert_refused("cut.iso", "truncated");
	}
	cut("cut.iso", 32768 + 2048);
	assert_refused("cut.iso", "truncated");
	cut("cut.iso", 32768 + 100);
	assert_refused("cut.iso", "not an ISO 9660 image");
	cut("cut.iso", 0);
	assert_refused("cut.iso", "not an ISO 9660 image");
}

static void test_truncated_gpt(void)
{
	g_autoptr(li_iso) iso = open_iso("gpt.iso");
	g_autofree char *path = file_path("cutgpt.iso");

	patched("gpt.iso", "cutgpt.iso", 0, "", 0);
	g_assert_cmpint(truncate(path, (off_t)(iso->file_size - 512)), ==, 0);
	assert_refused("cutgpt.iso", "truncated");
}

/* The descriptor says less than there is. */
static void test_extent_past_the_end(void)
{
	g_autoptr(li_iso) iso = open_iso("both.iso");
	g_autofree char *path = file_path("lies.iso");
	guint64 first = G_MAXUINT64, last = 0;
	guint32 blocks;

	for (guint i = 0; i < iso->files->len; i++) {
		const li_file *file = iso->files->pdata[i];

		if (file->extent_count == 0)
			continue;
		first = MIN(first, file->extents[0].offset);
		last = MAX(last, file->extents[0].offset);
	}
	blocks = GUINT32_TO_LE((guint32)(first / LI_SECTOR));
	patched("both.iso", "lies.iso", 32768 + 80, &blocks, 4);
	g_assert_cmpint(truncate(path, (off_t)last), ==, 0);
	assert_refused("lies.iso", "past the end of the file; truncated or damaged");
}

static void test_garbage(void)
{
	fixture_script(dir,
		"head -c 300000 /dev/urandom > random.iso; head -c 100 /dev/urandom > tiny.iso\n"
		": > empty.iso; mkfifo fifo.iso; mkdir dir.iso\n");
	assert_refused("random.iso", "not an ISO 9660 image");
	assert_refused("tiny.iso", "not an ISO 9660 image");
	assert_refused("empty.iso", "not an ISO 9660 image");
	assert_refused("fifo.iso", "neither a file nor a block device");
	assert_refused("dir.iso", "neither a file nor a block device");
	g_autofree char *missing = file_path("missing.iso");
	g_autoptr(GError) error = NULL;
	g_assert_null(li_iso_open(missing, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_assert_true(g_str_has_suffix(error->message, "missing.iso: No such file or directory"));
}

static void test_udf_bridge(void)
{
	static const char names[3][6] = {"BEA01", "NSR02", "TEA01"};
	guint8 sectors[3 * LI_SECTOR] = {0};

	for (gsize i = 0; i < 3; i++)
		memcpy(sectors + i * LI_SECTOR + 1, names[i], 5);
	/* Behind the terminator, where libisofs leaves room. */
	patched("both.iso", "udf.iso", 20 * LI_SECTOR, sectors, sizeof(sectors));
	g_autofree char *path = file_path("udf.iso");
	g_autoptr(GError) error = NULL;
	g_autoptr(li_iso) iso = li_iso_open(path, &error);
	g_autoptr(li_iso) without = open_iso("both.iso");

	if (iso) {
		g_assert_true(iso->volume.udf);
		g_assert_cmpstr(iso->refusal, ==, without->refusal);
		g_assert_true(g_str_has_prefix(iso->notes->pdata[0], "UDF beside ISO 9660"));
	} else
		g_test_skip(error->message);
}

static void test_block_size(void)
{
	patched("both.iso", "blocks.iso", 32768 + 128, "\0\2\2\0", 4);
	assert_refused("blocks.iso", "logical blocks of 512 bytes");
}

/* ---- damaged directories ---- */

/* Offset of the record of a directory below the root. */
static guint64 find_record(const char *name, const char *iso_name)
{
	g_autofree char *path = file_path(iso_name);
	g_autofree char *data = NULL;
	gsize length;
	guint64 at;

	g_assert_true(g_file_get_contents(path, &data, &length, NULL));
	at = img_le32((guint8 *)data + 32768 + 158) * (guint64)LI_SECTOR;
	while (data[at] && (data[at + 32] != (char)strlen(name) ||
				   memcmp(data + at + 33, name, strlen(name)) != 0))
		at += (guint8)data[at];
	g_assert_cmpint(data[at], !=, 0);
	return at;
}

static void test_directory_loop(void)
{
	guint64 at = find_record("A", "loop.iso");
	g_autofree char *path = file_path("loop.iso");
	g_autofree char *data = NULL;

	g_assert_true(g_file_get_contents(path, &data, NULL, NULL));
	/* The root's extent. */
	patched("loop.iso", "loop1.iso", at + 2, data + 32768 + 158, 8);
	assert_refused("loop1.iso", "contain each other");
}

static void test_directory_past_the_end(void)
{
	guint32 block = GUINT32_TO_LE(0x7fffffff);

	patched("loop.iso", "loop2.iso", find_record("A", "loop.iso") + 2, &block, 4);
	assert_refused("loop2.iso", "truncated");
}

static void test_directory_of_4_gib(void)
{
	guint32 size = GUINT32_TO_LE(0xfffff800);

	patched("loop.iso", "loop3.iso", find_record("A", "loop.iso") + 10, &size, 4);
	assert_refused("loop3.iso", "too large");
}

/* A Rock Ridge "child link" to the directory that it is in, in the place of a file's time stamps.
 */
static void test_relocation_loop(void)
{
	g_autofree char *path = file_path("loop.iso");
	g_autofree char *data = NULL;
	gsize length;
	guint64 at;
	guint32 block;
	guint8 link[12] = {'C', 'L', 12, 1};
	char *fields;

	g_assert_true(g_file_get_contents(path, &data, &length, NULL));
	block = img_le32((guint8 *)data + find_record("A", "loop.iso") + 2);
	at = (guint64)block * LI_SECTOR;
	fields = memmem(data + at + 300, LI_SECTOR - 300, "TF", 2);
	g_assert_nonnull(fields);
	memcpy(link + 4, &block, 4);
	link[8] = (guint8)(block >> 24);
	link[9] = (guint8)(block >> 16);
	link[10] = (guint8)(block >> 8);
	link[11] = (guint8)block;
	patched("loop.iso", "loop4.iso", (guint64)(fields - data), link, sizeof(link));
	assert_refused("loop4.iso", "contain each other");
}

/* Any bytes: an answer, not a crash. */
static void test_damaged_bytes(void)
{
	g_autofree char *source = file_path("names.iso");
	g_autofree char *target = file_path("fuzz.iso");
	g_autofree char *data = NULL;
	g_autoptr(GRand) rand = g_rand_new_with_seed(3);
	gsize length;

	g_assert_true(g_file_get_contents(source, &data, &length, NULL));
	for (guint round = 0; round < 400; round++) {
		g_autofree char *bytes = g_memdup2(data, length);
		g_autoptr(li_iso) iso = NULL;
		guint count = 1 + round % 8;

		while (count-- > 0)
			bytes[g_rand_int_range(rand, 32768, 32768 + 60 * LI_SECTOR)] =
				(char)g_rand_int(rand);
		g_assert_true(g_file_set_contents(target, bytes, (gssize)length, NULL));
		iso = li_iso_open(target, NULL);
	}
}

int main(int argc, char **argv)
{
	int result;

	g_test_init(&argc, &argv, NULL);
	dir = fixture_dir();
	fixture_script(dir, prepare);
	g_test_add_func("/volume/identity", test_identity);
	g_test_add_func("/volume/uuid-of-dates", test_uuid_of_dates);
	g_test_add_func("/volume/uuid-as-blkid", test_uuid_as_blkid);
	g_test_add_func("/volume/joliet", test_joliet);
	g_test_add_func("/volume/isomd5", test_isomd5);
	g_test_add_func("/volume/multi-session", test_multi_session);
	g_test_add_func("/volume/single-session", test_single_session);
	g_test_add_func("/volume/partition-tables", test_partition_tables);
	g_test_add_func("/volume/boot-images", test_boot_images);
	g_test_add_func("/files/names", test_files);
	g_test_add_func("/files/without-rock-ridge", test_files_without_rock_ridge);
	g_test_add_func("/files/read-limit", test_read_limit);
	g_test_add_func("/files/extents", test_extents);
	g_test_add_func("/refused/truncated", test_truncated);
	g_test_add_func("/refused/truncated-gpt", test_truncated_gpt);
	g_test_add_func("/refused/extent-past-the-end", test_extent_past_the_end);
	g_test_add_func("/refused/garbage", test_garbage);
	g_test_add_func("/refused/udf-bridge", test_udf_bridge);
	g_test_add_func("/refused/block-size", test_block_size);
	g_test_add_func("/refused/directory-loop", test_directory_loop);
	g_test_add_func("/refused/directory-past-the-end", test_directory_past_the_end);
	g_test_add_func("/refused/directory-of-4-gib", test_directory_of_4_gib);
	g_test_add_func("/refused/relocation-loop", test_relocation_loop);
	g_test_add_func("/refused/damaged-bytes", test_damaged_bytes);
	result = g_test_run();
	fixture_remove(dir);
	return result;
}
