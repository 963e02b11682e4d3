/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The new ISO, checked with other programs than the one that wrote it where there are any. The ISOs
 * are made by shell scripts in a scratch directory; each is about 3 MB.
 */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/writer.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"

#define IMAGE "/live/filesystem.squashfs"

/* Variables: a tree with boot images of all kinds; what the scripts below start with. */
static const char prologue[] =
	"set -e; export SOURCE_DATE_EPOCH=1704067200 LC_ALL=C.UTF-8 TZ=UTC\n"
	"tree() {\n"
	"  rm -rf tree root; mkdir -p tree/live tree/.disk tree/isolinux tree/boot/grub root/etc root/sbin\n"
	"  head -c 300000 /dev/urandom >root/blob; echo ID=x >root/etc/os-release; : >root/sbin/init\n"
	"  mksquashfs root tree/live/filesystem.squashfs -quiet -no-progress -noappend -comp gzip >/dev/null\n"
	"  head -c 40000 /dev/urandom >tree/live/initrd.img; head -c 30000 /dev/urandom >tree/live/vmlinuz\n"
	"  : >tree/.disk/casper-uuid-x; : >tree/boot/2020-01-02-03-04-05-00.uuid; echo one >tree/.disk/info\n"
	"  cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 tree/isolinux\n"
	"  head -c 1474560 /dev/urandom >tree/boot/grub/efi.img\n"
	"  printf 'default live\\nlabel live\\n kernel /live/vmlinuz\\n append initrd=/live/initrd.img boot=live\\n' \\\n"
	"    >tree/isolinux/isolinux.cfg\n"
	"}\n"
	"stamp() { find tree -exec touch -h -d @1500000000 {} +; }\n"
	"new() { cp tree/live/filesystem.squashfs new; head -c 500000 /dev/urandom >>new; }\n"
	"bios='-c isolinux/boot.cat -b isolinux/isolinux.bin -no-emul-boot -boot-load-size 4 -boot-info-table'\n"
	"efi='-eltorito-alt-boot -e boot/grub/efi.img -no-emul-boot'\n"
	"hybrid=\"-isohybrid-mbr /usr/lib/ISOLINUX/isohdpfx.bin $bios $efi -isohybrid-gpt-basdat -isohybrid-apm-hfsplus\"\n"
	"mk() { stamp; xorriso -report_about SORRY -as mkisofs -quiet -r -o in.iso \"$@\" tree -- -stdio_sync off $more 2>log; }\n"
	"report() { xorriso -no_rc -indev \"$1\" -report_el_torito plain -report_system_area plain 2>/dev/null; }\n";

typedef struct {
	char *dir;
} fixture;

static void set_up(fixture *f, gconstpointer data)
{
	(void)data;
	f->dir = g_dir_make_tmp("iso-writer-XXXXXX", NULL);
	g_assert_nonnull(f->dir);
}

static void tear_down(fixture *f, gconstpointer data)
{
	(void)data;
	ro_remove_tree(f->dir, NULL);
	g_free(f->dir);
}

/* Runs a script in the scratch directory; returns what it prints. */
static char *sh(const fixture *f, const char *script)
{
	g_autofree char *text = g_strconcat(prologue, script, NULL);
	const char *argv[] = {"bash", "-c", text, NULL};
	g_autofree char *err = NULL;
	char *out = NULL;
	int status = -1;

	g_spawn_sync(f->dir, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
		&status, NULL);
	if (status)
		g_printerr("script failed:\n%s\n%s\n", script, err);
	g_assert_cmpint(status, ==, 0);
	return g_strchomp(out);
}

static void run(const fixture *f, const char *script)
{
	g_free(sh(f, script));
}

static void assert_prints(const fixture *f, const char *script, const char *wanted)
{
	g_autofree char *out = sh(f, script);

	g_assert_cmpstr(out, ==, wanted);
}

static char *in_dir(const fixture *f, const char *name)
{
	return g_build_filename(f->dir, name, NULL);
}

/* in.iso → out.iso with IMAGE (or path) replaced by the file "new". step tells which one failed. */
static gboolean rewrite_as(const fixture *f, const char *in_name, const char *out_name,
	const char *path, li_write_result *result, GError **error)
{
	g_autofree char *in = in_dir(f, in_name), *out = in_dir(f, out_name),
			*content = in_dir(f, "new");
	g_autoptr(li_iso) iso = li_iso_open(in, error);
	li_replacement replacement = {.content = content};
	li_write_job job = {.replacements = &replacement,
		.replacement_count = 1,
		.workdir = f->dir,
		.out_path = out};

	if (!iso || !li_writer_rebuild.check(iso, error))
		return FALSE;
	replacement.file = li_iso_find(iso, path);
	g_assert_nonnull(replacement.file);
	job.iso = iso;
	g_unlink(out);
	g_file_set_contents(out, "", 0, NULL);
	return li_writer_rebuild.write(&job, result, error) && li_verify_output(&job, error);
}

static li_write_result rewrite(const fixture *f)
{
	li_write_result result = {0};
	GError *error = NULL;

	rewrite_as(f, "in.iso", "out.iso", IMAGE, &result, &error);
	g_assert_no_error(error);
	return result;
}

static void assert_refused(const fixture *f, int code, const char *part)
{
	li_write_result result;
	g_autoptr(GError) error = NULL;

	g_assert_false(rewrite_as(f, "in.iso", "out.iso", IMAGE, &result, &error));
	g_assert_error(error, RO_ERROR, code);
	if (!strstr(error->message, part))
		g_printerr("message: %s\n", error->message);
	g_assert_nonnull(strstr(error->message, part));
}

/* F2 F11 F12 G5: with the same content every byte is as before. */
static void test_same_content_same_bytes(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; mk -J -V 'My Live-1.0 é' $hybrid --modification-date=2020010203040500 \n"
	       "cp tree/live/filesystem.squashfs new");
	rewrite(f);
	run(f, "cmp in.iso out.iso");
}

/* What stays when the image grows. */
static void test_hybrid_grows(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -J -V 'My Live-1.0 é' $hybrid --modification-date=2020010203040500 \\\n"
	       " -publisher Pub -p 'Some Preparer' -A 'Some Application' -sysid 'Some System'");
	rewrite(f);
	/* G1 G2 */
	assert_prints(f, "blkid -p -o value -s LABEL -s UUID out.iso",
		"2020-01-02-03-04-05-00\nMy Live-1.0 é");
	run(f, "for i in in out; do dd if=$i.iso bs=1 skip=$((32768+8)) count=64 2>/dev/null >id.$i\n"
	       " dd if=$i.iso bs=1 skip=$((32768+190)) count=1205 2>/dev/null >>id.$i; done; cmp id.in id.out");
	/* G5 */
	run(f, "for i in in out; do dd if=$i.iso bs=1 skip=440 count=4 2>/dev/null >mbr.$i\n"
	       " report $i.iso | grep GUID >guid.$i; done; cmp mbr.in mbr.out; cmp guid.in guid.out; test -s guid.in");
	/* F2 F3 F12: same entries */
	run(f, "for i in in out; do report $i.iso | grep -c 'boot img\\|MBR partition  \\|GPT partition n\\|APM part' \\\n"
	       " >count.$i; done; cmp count.in count.out");
	/* G3 and all else */
	run(f, "for i in in out; do xorriso -no_rc -osirrox on -indev $i.iso -extract / x.$i 2>/dev/null; done\n"
	       "cmp new x.out/live/filesystem.squashfs; rm x.*/live/filesystem.squashfs\n"
	       "chmod -R u+w x.*; rm x.*/isolinux/{isolinux.bin,boot.cat}; diff -r x.in x.out; test -f x.out/.disk/casper-uuid-x");
	/* F11: the table points at itself */
	run(f, "lba=$(report out.iso | awk '/boot img :   1/ {print $NF}')\n"
	       "dd if=out.iso bs=2048 skip=$lba count=1 2>/dev/null >head; test \"$(od -An -tu4 -j12 -N4 head | tr -d ' ')\" = $lba");
}

/* F2 F10: Ubuntu's kind; the ESP lies behind the volume, the backup of the GPT at the very end. */
static void test_appended_esp(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mv tree/boot/grub/efi.img esp\n"
	       "grub-mkimage -O i386-pc -p /boot/grub -o core biosdisk iso9660\n"
	       "cat /usr/lib/grub/i386-pc/cdboot.img core >tree/boot/grub/eltorito.img\n"
	       "mk -J -V Ubuntu --grub2-mbr /usr/lib/grub/i386-pc/boot_hybrid.img --protective-msdos-label \\\n"
	       " -partition_cyl_align off -partition_offset 16 --mbr-force-bootable \\\n"
	       " -append_partition 2 28732ac11ff8d211ba4b00a0c93ec93b esp -appended_part_as_gpt \\\n"
	       " -iso_mbr_part_type a2a0d0ebe5b9334487c068b6b72699c7 -c boot.catalog -b boot/grub/eltorito.img \\\n"
	       " -no-emul-boot -boot-load-size 4 -boot-info-table --grub2-boot-info -eltorito-alt-boot \\\n"
	       " -e --interval:appended_partition_2:all:: -no-emul-boot");
	rewrite(f);
	run(f, "for i in in out; do report $i.iso | grep GUID >guid.$i; done; cmp guid.in guid.out; test -s guid.in");
	run(f, "set -- $(report out.iso | awk '/GPT start and size :   2/ {print $(NF-1), $NF}')\n"
	       "dd if=out.iso bs=512 skip=$1 count=$2 2>/dev/null | cmp - esp");
	/* the backup header: its signature in the last sector */
	assert_prints(f, "tail -c 512 out.iso | head -c 8", "EFI PART");
	run(f, "lba=$(report out.iso | awk '/boot img :   1/ {print $NF}')\n"
	       "dd if=out.iso bs=2048 skip=$lba count=2 2>/dev/null >head\n"
	       "test \"$(od -An -tu8 -j2548 -N8 head | tr -d ' ')\" = $((lba * 4 + 5))");
	run(f, "cp tree/live/filesystem.squashfs new");
	rewrite(f);
	run(f, "cmp in.iso out.iso");
}

/* F3 */
static void test_three_boot_images(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; head -c 2000000 /dev/urandom >tree/boot/grub/mac.img\n"
	       "mk -V Three $hybrid -eltorito-alt-boot -e boot/grub/mac.img -no-emul-boot -isohybrid-gpt-hfsplus");
	rewrite(f);
	assert_prints(f, "report out.iso | grep -c 'boot img'", "3");
	assert_prints(f, "report out.iso | grep -c 'GPT partition path'", "2");
}

/* An ESP behind the volume that only the MBR knows. */
static void test_appended_mbr_partition(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; mv tree/boot/grub/efi.img esp; cp tree/live/filesystem.squashfs new\n"
	       "mk -V MBR -isohybrid-mbr /usr/lib/ISOLINUX/isohdpfx.bin $bios -append_partition 2 0xef esp \\\n"
	       " -eltorito-alt-boot -e --interval:appended_partition_2:all:: -no-emul-boot");
	rewrite(f);
	run(f, "cmp in.iso out.iso; new");
	rewrite(f);
	run(f, "set -- $(report out.iso | awk '/MBR partition      :   2/ {print $(NF-1), $NF}')\n"
	       "dd if=out.iso bs=512 skip=$1 count=$2 2>/dev/null | cmp - esp");
}

static void test_bios_only(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -V BIOS $bios");
	rewrite(f);
	assert_prints(f, "report out.iso | awk '/boot img :/ {print $7}'", "BIOS");
}

static void test_uefi_only(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -V UEFI $efi");
	rewrite(f);
	assert_prints(f, "report out.iso | awk '/boot img :/ {print $7}'", "UEFI");
}

/* F16: without a boot record xorriso would make another UUID. */
static void test_no_boot_record(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -V DATA --modification-date=2020010203040500");
	rewrite(f);
	assert_prints(f, "blkid -p -o value -s UUID out.iso", "2020-01-02-03-04-05-00");
}

/* F6: names of more than 64 characters, UTF-8 and all that Joliet does not know. */
static void test_joliet_long_names(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; n=$(printf 'n%.0s' $(seq 90)); echo 1 >tree/$n; echo 2 >'tree/café 日本'; ln -s live tree/link\n"
	       "mk -J -joliet-long -V J $bios");
	rewrite(f);
	run(f, "for i in in out; do xorriso -no_rc -read_fs norock -indev $i.iso -find / 2>/dev/null | sort >j.$i; done\n"
	       "cmp j.in j.out; grep -q n{90} -E j.out; grep -q 日本 j.out; ! grep -q link j.out");
}

static void test_no_joliet_is_added(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -V J $bios");
	rewrite(f);
	assert_prints(f, "xorriso -no_rc -indev out.iso -toc 2>/dev/null | grep 'ISO offers'",
		"ISO offers   : Rock_Ridge");
}

/* F15: -map would bring the local file's attributes. */
static void test_attributes_of_the_replaced_file(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; chmod 604 new\n"
	       "more='-chown 123 /live/filesystem.squashfs -- -chgrp 456 /live/filesystem.squashfs -- \n"
	       " -chmod 0640 /live/filesystem.squashfs -- -alter_date b-c =1400000000 /live/filesystem.squashfs -- \n"
	       " -alter_date c =1410000000 /live/filesystem.squashfs'; mk -V A $bios");
	rewrite(f);
	run(f, "xorriso -no_rc -osirrox on:auto_chmod_off -indev out.iso -extract /live/filesystem.squashfs got 2>/dev/null");
	assert_prints(f, "stat -c '%u %g %a %Y %s' got", "123 456 640 1400000000 803104");
}

static void test_both_names_of_a_file_are_replaced(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; ln tree/live/filesystem.squashfs tree/live/second; mk -V L $bios --hardlinks");
	rewrite(f);
	run(f, "xorriso -no_rc -osirrox on -indev out.iso -extract /live got 2>/dev/null; cmp got/second new\n"
	       "test $(stat -c %s out.iso) -lt $(($(stat -c %s in.iso) + 600000))");
}

/* Position among the other files: the image lies between initrd and kernel before and after. */
static void test_order_on_the_medium(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; more='-find /live/initrd.img -exec sort_weight 9 -- \n"
	       " -find /live/filesystem.squashfs -exec sort_weight 8 -- -find /live/vmlinuz -exec sort_weight 7 --'; mk -V O $bios");
	rewrite(f);
	run(f, "for i in in out; do xorriso -no_rc -indev $i.iso -find / -type f -exec report_lba 2>/dev/null | \\\n"
	       " sort -t, -k2n | sed 's/.* //' >order.$i; done; cmp order.in order.out\n"
	       "grep -A2 initrd order.out | tr -d '\\n' | grep -q 'initrd.*filesystem.*vmlinuz'");
}

/* E1 E2: lists of all kinds, a wrong line, lists in lists. */
static void test_checksum_lists(fixture *f, gconstpointer data)
{
	li_write_result result;

	(void)data;
	run(f, "tree; new; mkdir -p tree/arch/x86_64; mv tree/live/filesystem.squashfs tree/arch/x86_64/airootfs.sfs\n"
	       "ln -s ../arch/x86_64/airootfs.sfs tree/live/\n"
	       "(cd tree/arch/x86_64; sha512sum airootfs.sfs >airootfs.sha512)\n"
	       "(cd tree; find . -type f ! -name '*sum.txt' ! -name isolinux.bin | sort | xargs md5sum >md5sum.txt\n"
	       " sha256sum --tag live/* arch/x86_64/* >SHA256SUMS; sha1sum -b arch/x86_64/airootfs.sfs >S\n"
	       " { awk '{print toupper($1), $2}' S; sed 's/^..../0000/' S; } >SHA1SUMS; rm S\n"
	       " printf '[checksums]\\narch/x86_64/airootfs.sfs = sha256:%s\\n' $(sha256sum <arch/x86_64/airootfs.sfs | cut -c1-64) >.treeinfo\n"
	       " sed -i '/vmlinuz/ { s/^0/1/; t; s/^./0/ }' md5sum.txt; sha256sum md5sum.txt >list.sha256)\n"
	       "mk -V C $bios; cp tree/md5sum.txt md5.before");
	{
		GError *error = NULL;

		rewrite_as(f, "in.iso", "out.iso", "/arch/x86_64/airootfs.sfs", &result, &error);
		g_assert_no_error(error);
	}
	g_assert_cmpuint(result.lists, ==, 6);
	/* airootfs in sha512, md5sum.txt, SHA256SUMS (twice, by its symlink too), SHA1SUMS,
	 * .treeinfo; airootfs.sha512 in md5sum.txt and SHA256SUMS; md5sum.txt in list.sha256 */
	g_assert_cmpuint(result.lines_updated, ==, 9);
	g_assert_cmpuint(result.lines_left_wrong, ==, 1);
	run(f, "xorriso -no_rc -osirrox on -indev out.iso -extract / got 2>/dev/null; cd got\n"
	       "(cd arch/x86_64; sha512sum -c airootfs.sha512); sha256sum -c --quiet SHA256SUMS; sha256sum -c list.sha256\n"
	       "test \"$(md5sum -c md5sum.txt 2>/dev/null | grep -v OK)\" = './live/vmlinuz: FAILED'\n"
	       "sha1sum -c SHA1SUMS 2>&1 | grep -c OK | grep -qx 1\n"
	       "head -c 40 SHA1SUMS | grep -q '^[0-9A-F]*$'; tail -n 1 SHA1SUMS | cmp - <(tail -n 1 ../tree/SHA1SUMS); test $(stat -c %s md5sum.txt) = $(stat -c %s ../md5.before)\n"
	       "test \"$(tr -d '0-9a-f' <md5sum.txt)\" = \"$(tr -d '0-9a-f' <../md5.before)\"\n"
	       "grep -q \"$(sha256sum <arch/x86_64/airootfs.sfs | cut -c1-64)\" .treeinfo");
}

/* E6: the last step, with the flag as it was. */
static void test_isomd5(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; (cd tree; md5sum live/* >md5sum.txt); mk -V M $hybrid; implantisomd5 --supported-iso in.iso");
	g_assert_true(rewrite(f).isomd5_renewed);
	run(f, "checkisomd5 out.iso </dev/null");
	assert_prints(f,
		"for i in in out; do head -c 40000 $i.iso | tr -d '\\0' | grep -ao 'RHLISOSTATUS=.\\|COUNT = [0-9]*'; done",
		"RHLISOSTATUS=1\nCOUNT = 20\nRHLISOSTATUS=1\nCOUNT = 20");
}

static void test_isomd5_that_was_wrong_stays(fixture *f, gconstpointer data)
{
	li_write_result result;

	(void)data;
	run(f, "tree; new; mk -V M $bios; implantisomd5 in.iso\n"
	       "printf x | dd of=in.iso bs=1 seek=2000000 conv=notrunc 2>/dev/null");
	result = rewrite(f);
	g_assert_false(result.isomd5_renewed);
	g_assert_cmpuint(result.lines_left_wrong, ==, 1);
	run(f, "! checkisomd5 out.iso </dev/null");
}

/* Application Use: kept as it is, but not the digests of SUSE's checkmedia, which would be wrong.
 */
static void test_application_use(fixture *f, gconstpointer data)
{
	guint warnings = ro_warning_count();

	(void)data;
	run(f, "tree; new; printf 'kept as it is' >use; more='-application_use use'; mk -V A $bios");
	rewrite(f);
	assert_prints(
		f, "dd if=out.iso bs=1 skip=$((32768+883)) count=13 2>/dev/null", "kept as it is");
	g_assert_cmpuint(ro_warning_count(), ==, warnings);
	run(f, "printf 'TAG=1;SHA256SUM=0011;' >use; more='-application_use use'; mk -V A $bios");
	rewrite(f);
	assert_prints(f,
		"dd if=out.iso bs=1 skip=$((32768+883)) count=512 2>/dev/null | grep -ac SHA256SUM || :",
		"0");
	g_assert_cmpuint(ro_warning_count(), ==, warnings + 1);
}

/* Every way a name can be awkward, on the ISO and beside it. */
static void test_awkward_names(fixture *f, gconstpointer data)
{
	li_write_result result;
	GError *error = NULL;

	(void)data;
	run(f, "tree; new; d='tree/-a, *b?'; mkdir \"$d\"; mv tree/live/filesystem.squashfs \"$d\"/$'new\\nline \"q\\'[x] \\\\ \\xff'\n"
	       "for n in -- axb 'a*b' '=' \"'\" $'\\xfe\\xff'; do echo \"$n\" >\"$d/$n\"; done\n"
	       "mk -V N $hybrid; mv -- in.iso $'-in, \"\\'\\n.iso'");
	rewrite_as(f, "-in, \"'\n.iso", "-out, \"'\n.iso", "/-a, *b?/new\nline \"q'[x] \\ \xff",
		&result, &error);
	g_assert_no_error(error);
	run(f, "mv -- -out* out.iso; xorriso -no_rc -osirrox on -indev out.iso -extract / got 2>/dev/null\n"
	       "cmp new got/-a*/new*");
}

/* Of mkisofs: other names, other dates, other order of things. */
static void test_genisoimage(fixture *f, gconstpointer data)
{
	g_autofree char *program = g_find_program_in_path("genisoimage");

	(void)data;
	if (!program) {
		g_test_skip("needs genisoimage");
		return;
	}
	run(f, "tree; new; mkdir -p tree/1/2/3/4/5/6/7/8/9; echo x >tree/1/2/3/4/5/6/7/8/9/deep; stamp\n"
	       "genisoimage -quiet -R -J -joliet-long -V 'Geni so' -A App -publisher Pub $bios -o in.iso tree");
	rewrite(f);
	run(f, "for i in in out; do dd if=$i.iso bs=1 skip=$((32768+8)) count=64 2>/dev/null >id.$i\n"
	       " dd if=$i.iso bs=1 skip=$((32768+190)) count=1205 2>/dev/null >>id.$i; done; cmp id.in id.out\n"
	       "for i in in out; do xorriso -no_rc -indev $i.iso -find / -exec lsdl 2>/dev/null | sort >r.$i\n"
	       " isoinfo -J -f -i $i.iso | sort >j.$i; done; cmp j.in j.out; grep -v 'boot.cat\\|filesystem.sq' r.in >r1\n"
	       "grep -v 'boot.cat\\|filesystem.sq' r.out | diff r1 - ");
}

/* The older way to a hybrid: syslinux's program; its GPT has names and a size of its own. */
static void test_isohybrid_program(fixture *f, gconstpointer data)
{
	g_autofree char *mkisofs = g_find_program_in_path("genisoimage");
	g_autofree char *program = g_find_program_in_path("isohybrid");

	(void)data;
	if (!program || !mkisofs) {
		g_test_skip("needs isohybrid and genisoimage");
		return;
	}
	run(f, "tree; new; stamp; genisoimage -quiet -r -V HYBRID $bios $efi -o in.iso tree; isohybrid --uefi in.iso");
	rewrite(f);
	run(f, "for i in in out; do { report $i.iso | grep 'GUID\\|name\\|flags'; dd if=$i.iso bs=1 skip=440 count=4; } \\\n"
	       " >id.$i 2>/dev/null; done; cmp id.in id.out; grep -q GUID id.in");
}

/* --- what is refused, and why --- */

static void test_refuses_without_rock_ridge(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; more='-rockridge off'; mk -V R $bios -J");
	assert_refused(f, RO_ERROR_UNSUITABLE, "no Rock Ridge");
}

static void test_refuses_zisofs(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; yes | head -c 300000 >tree/text; more='-set_filter --zisofs /text'; mk -V Z $bios");
	assert_refused(f, RO_ERROR_UNSUITABLE, "/text");
}

static void test_refuses_extended_attributes(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; more='-xattr user -setfattr user.x y /live/vmlinuz'; mk -V X $bios");
	assert_refused(f, RO_ERROR_UNSUITABLE, "extended attributes (user.x");
	run(f, "more='-acl on -setfacl u:5:r /live/vmlinuz'; mk -V X $bios");
	assert_refused(f, RO_ERROR_UNSUITABLE, "ACLs");
}

/* F12 */
static void test_refuses_hfsplus(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -V H $bios -hfsplus");
	assert_refused(f, RO_ERROR_UNSUITABLE, "HFS+");
}

/* F15 */
static void test_refuses_sessions(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; : >in.iso; xorriso -no_rc -outdev stdio:in.iso -map tree / -commit -map new /new -end >log 2>&1");
	assert_refused(f, RO_ERROR_UNSUITABLE, "2 sessions");
}

static void test_refuses_data_behind_the_volume(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -V T $bios; head -c 4096 /dev/zero >>in.iso; echo secret >>in.iso");
	assert_refused(f, RO_ERROR_UNSUITABLE, "behind the volume's end");
}

static void test_keeps_zeros_behind_the_volume(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; mk -V T $efi; head -c 10000 /dev/zero >>in.iso; cp tree/live/filesystem.squashfs new");
	rewrite(f);
	run(f, "cmp in.iso out.iso");
}

/* E3: a list that someone signed. */
static void test_refuses_signed_lists(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; (cd tree; sha256sum live/* >CHECKSUMS; : >CHECKSUMS.asc); mk -V S $bios");
	assert_refused(f, RO_ERROR_UNSUITABLE, "CHECKSUMS.asc");
	run(f, "(cd tree; rm CHECKSUMS.asc; { echo '-----BEGIN PGP SIGNED MESSAGE-----'; sha256sum live/*; } >CHECKSUMS); mk -V S $bios");
	assert_refused(f, RO_ERROR_UNSUITABLE, "signed checksum list");
}

/* F5 */
static void test_refuses_an_old_xorriso(fixture *f, gconstpointer data)
{
	g_autofree char *path = g_strdup(g_getenv("PATH"));
	g_autofree char *ours = g_strconcat(f->dir, ":", path, NULL);

	(void)data;
	run(f, "tree; new; mk -V X $bios; printf '#!/bin/sh\\necho \"xorriso version   :  1.4.8\"\\n' >xorriso; chmod +x xorriso");
	g_setenv("PATH", ours, TRUE);
	assert_refused(f, RO_ERROR_FAILED, "1.4.8");
	g_setenv("PATH", path, TRUE);
}

/* F9: what xorriso does wrong is an error, whatever it says at the end. */
static void test_zero_filling_is_a_failure(fixture *f, gconstpointer data)
{
	(void)data;
	run(f, "tree; new; mk -V X $bios; p=$(command -v xorriso)\n"
	       "printf '#!/bin/sh\\ncase \"$*\" in *-outdev*) echo \"xorriso : MISHAP : Read error. Filling with 0\" >&2;; esac\\n"
	       "exec %s \"$@\"\\n' $p >xorriso; chmod +x xorriso");
	{
		g_autofree char *path = g_strdup(g_getenv("PATH"));
		g_autofree char *ours = g_strconcat(f->dir, ":", path, NULL);

		g_setenv("PATH", ours, TRUE);
		assert_refused(f, RO_ERROR_FAILED, "Filling with 0");
		g_setenv("PATH", path, TRUE);
	}
}

/* K7: the input gets shorter after it was opened. */
static void test_input_that_ends_early(fixture *f, gconstpointer data)
{
	g_autofree char *in = in_dir(f, "in.iso"), *out = in_dir(f, "out.iso"),
			*content = in_dir(f, "new");
	g_autoptr(li_iso) iso = NULL;
	li_replacement replacement = {.content = content};
	li_write_job job = {.replacements = &replacement,
		.replacement_count = 1,
		.workdir = f->dir,
		.out_path = out};
	li_write_result result;
	GError *error = NULL;

	(void)data;
	run(f, "tree; new; mk -V X $bios");
	job.iso = iso = li_iso_open(in, &error);
	g_assert_no_error(error);
	replacement.file = li_iso_find(iso, IMAGE);
	for (int size = 900000; size > 100000; size /= 2) {
		g_assert_cmpint(truncate(in, size), ==, 0);
		g_file_set_contents(out, "", 0, NULL);
		g_assert_false(li_writer_rebuild.write(&job, &result, &error));
		g_assert_nonnull(error);
		g_clear_error(&error);
	}
}

/* F1: whatever is in the output already, nothing is appended to it. */
static void test_never_writes_to_a_file_with_content(fixture *f, gconstpointer data)
{
	g_autofree char *in = in_dir(f, "in.iso"), *content = in_dir(f, "new");
	g_autoptr(li_iso) iso = NULL;
	li_replacement replacement = {.content = content};
	li_write_job job = {.replacements = &replacement,
		.replacement_count = 1,
		.workdir = f->dir,
		.out_path = in};
	li_write_result result;
	g_autoptr(GError) error = NULL;

	(void)data;
	run(f, "tree; new; mk -V X $bios; cp in.iso before");
	job.iso = iso = li_iso_open(in, NULL);
	replacement.file = li_iso_find(iso, IMAGE);
	g_assert_false(li_writer_rebuild.write(&job, &result, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	run(f, "cmp in.iso before");
}

/* The verification sees what it has to see. */
static void test_verification_finds_damage(fixture *f, gconstpointer data)
{
	static const struct {
		const char *damage, *message;
	} cases[] = {
		{"xorriso -no_rc -indev out.iso -outdev bad.iso -boot_image any replay -padding 0 -rm /live/vmlinuz",
			"missing"},
		{"xorriso -no_rc -indev out.iso -outdev bad.iso -boot_image any replay -padding 0 -chmod 0777 /live/vmlinuz",
			"mode"},
		{"xorriso -no_rc -indev out.iso -outdev bad.iso -boot_image any replay -padding 0 -map new /more",
			"was not on"},
		{"xorriso -no_rc -indev out.iso -outdev bad.iso -boot_image any keep -map new /live/filesystem.squashfs",
			"differs"},
		{"cp out.iso bad.iso; l=$(xorriso -no_rc -indev out.iso -find /live/vmlinuz -exec report_lba 2>/dev/null | "
		 "awk -F, '/vmlinuz/{print $2}'); printf xy | dd of=bad.iso bs=1 seek=$((l*2048+9)) conv=notrunc",
			"/live/vmlinuz: content differs"},
		{"cp out.iso bad.iso; l=$(report out.iso | awk '/boot img :   1/ {print $NF}'); "
		 "printf xy | dd of=bad.iso bs=1 seek=$((l*2048+20)) conv=notrunc",
			"boot"},
		{"cp out.iso bad.iso; printf xy | dd of=bad.iso bs=1 seek=$((32768+50)) conv=notrunc",
			"volume id"},
	};
	g_autofree char *in = in_dir(f, "in.iso"), *bad = in_dir(f, "bad.iso"),
			*content = in_dir(f, "new");
	g_autoptr(li_iso) iso = NULL;
	li_replacement replacement = {.content = content};
	li_write_job job = {.replacements = &replacement,
		.replacement_count = 1,
		.workdir = f->dir,
		.out_path = bad};

	(void)data;
	run(f, "tree; new; mk -V VERIFY $bios");
	rewrite(f);
	job.iso = iso = li_iso_open(in, NULL);
	replacement.file = li_iso_find(iso, IMAGE);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *script =
			g_strconcat("rm -f bad.iso; { ", cases[i].damage, "; } >log 2>&1", NULL);
		g_autoptr(GError) error = NULL;

		run(f, script);
		g_assert_false(li_verify_output(&job, &error));
		if (!strstr(error->message, cases[i].message))
			g_printerr("%s\n%s\n", cases[i].damage, error->message);
		g_assert_nonnull(strstr(error->message, cases[i].message));
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*test)(fixture *f, gconstpointer data);
	} tests[] = {
		{"same-content-same-bytes", test_same_content_same_bytes},
		{"hybrid-grows", test_hybrid_grows},
		{"appended-esp", test_appended_esp},
		{"three-boot-images", test_three_boot_images},
		{"appended-mbr-partition", test_appended_mbr_partition},
		{"bios-only", test_bios_only},
		{"uefi-only", test_uefi_only},
		{"no-boot-record", test_no_boot_record},
		{"joliet-long-names", test_joliet_long_names},
		{"no-joliet-is-added", test_no_joliet_is_added},
		{"attributes-of-the-replaced-file", test_attributes_of_the_replaced_file},
		{"both-names-of-a-file-are-replaced", test_both_names_of_a_file_are_replaced},
		{"order-on-the-medium", test_order_on_the_medium},
		{"checksum-lists", test_checksum_lists},
		{"isomd5", test_isomd5},
		{"isomd5-that-was-wrong-stays", test_isomd5_that_was_wrong_stays},
		{"application-use", test_application_use},
		{"awkward-names", test_awkward_names},
		{"genisoimage", test_genisoimage},
		{"isohybrid-program", test_isohybrid_program},
		{"refuses-without-rock-ridge", test_refuses_without_rock_ridge},
		{"refuses-zisofs", test_refuses_zisofs},
		{"refuses-extended-attributes", test_refuses_extended_attributes},
		{"refuses-hfsplus", test_refuses_hfsplus},
		{"refuses-sessions", test_refuses_sessions},
		{"refuses-data-behind-the-volume", test_refuses_data_behind_the_volume},
		{"keeps-zeros-behind-the-volume", test_keeps_zeros_behind_the_volume},
		{"refuses-signed-lists", test_refuses_signed_lists},
		{"refuses-an-old-xorriso", test_refuses_an_old_xorriso},
		{"zero-filling-is-a-failure", test_zero_filling_is_a_failure},
		{"input-that-ends-early", test_input_that_ends_early},
		{"never-writes-to-a-file-with-content", test_never_writes_to_a_file_with_content},
		{"verification-finds-damage", test_verification_finds_damage},
	};

	g_test_init(&argc, &argv, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strconcat("/iso-writer/", tests[i].name, NULL);

		g_test_add(path, fixture, NULL, set_up, tests[i].test, tear_down);
	}
	return g_test_run();
}
