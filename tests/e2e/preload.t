#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --preload dm on small ISOs, as far as that goes without a virtual machine: boot configurations, initrds, the
# hot map, checksums, and what is refused.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
requires mcopy --version
words='live-media=/dev/mapper/reorder-hot rdinit=/.reorder-hot/init'

hot=(usr/sbin/init usr/bin/busybox usr/share/big/part-5 usr/share/big/part-2 usr/share/links/hot etc/hostname)
write_trace() { # IMAGE
	local path i=0
	echo 'reorder-livecd trace 1'
	for path in "${hot[@]}"; do
		i=$((i + 1))
		echo "$i.0 f read - $1 $path"
	done
	echo "end ${#hot[@]}"
}
write_trace /live/filesystem.squashfs >live.trace
write_trace /casper/filesystem.squashfs >casper.trace
write_trace /LiveOS/squashfs.img >LiveOS.trace

tiny() { "$IMAGES/tiny-iso" "$@" || exit; }
extract() { rm -f "$3" && xorriso -osirrox on -indev "$1" -extract "$2" "$3" >/dev/null 2>&1 && chmod u+w "$3"; }
# Where a file begins on the ISO, in bytes.
start_of() { xorriso -indev "$1" -find "$2" -exec report_lba 2>/dev/null | awk -F, '/^File data lba/ { print $2 * 2048 }'; }
nothing_left() { ! find . -name '*.tmp-*' -o -name 'reorder-livecd-*' | grep .; }
preload() { run "$PROGRAM" "$1" "$2" --trace "${3:-live.trace}" --preload dm --json r.json --force "${@:4}"; }

# --- the usual case ---
tiny --md5sum --isomd5 in.iso
input_sum=$(sha256sum <in.iso)
preload in.iso out.iso
is "$status" 0 'exit status' || diag "$err"
like "$out" 'preload +[0-9.]+ MB in [0-9]+ extents; 2 boot entries' 'the summary tells'
is "$(jq -c '.preload | [.kept, .entries, .initrds, .module_copies, (.left | length)]' r.json)" '[true,2,1,0,2]' 'so does the JSON'
ok 'nothing is left behind' nothing_left
ok 'the implanted MD5 is right' checkisomd5 out.iso
mkdir x && xorriso -osirrox on -indev out.iso -extract / x >/dev/null 2>&1
ok 'md5sum.txt is right' sh -c 'cd x && md5sum --quiet -c md5sum.txt'
chmod -R u+w x && rm -rf x

for config in /isolinux/live.cfg /boot/grub/grub.cfg; do
	extract in.iso "$config" old.cfg && extract out.iso "$config" new.cfg
	is "$(diff old.cfg new.cfg | grep -c '^>')" 1 "$config: one line is another one"
	like "$(diff old.cfg new.cfg)" "^> .*quiet $words\$" "$config: the words come behind the others"
	like "$(diff old.cfg new.cfg)" '^[34]c[34]$' "$config: it is the default entry's"
done
extract in.iso /boot/grub/config.cfg old.cfg && extract out.iso /boot/grub/config.cfg new.cfg
ok 'other configurations are as they were' cmp old.cfg new.cfg

extract in.iso /live/initrd.img old.img && extract out.iso /live/initrd.img new.img
old_size=$(stat -c %s old.img)
ok 'the initrd begins with the old one' cmp -n "$old_size" old.img new.img
segment() { # INITRD: the cpio archive behind the old initrd, found by its magic
	tail -c +$((old_size + 1)) "$1" | perl -0777 -pe 's/^\0*//'
}
segment new.img >segment.cpio
is "$(cpio --quiet -t <segment.cpio | xargs)" '.reorder-hot .reorder-hot/init .reorder-hot/map' 'cpio reads the segment'
mkdir seg && (cd seg && cpio --quiet -id <../segment.cpio)
ok 'the loader is in it' cmp seg/.reorder-hot/init "$(dirname "$PROGRAM")/reorder-hot-loader"
run "$PROGRAM" hotmap out.iso --json map.json
is "$status" 0 'hotmap: exit status' || diag "$err"
ok 'hotmap prints the map that is in it' diff <(printf '%s\n' "$out") seg/.reorder-hot/map
like "$out" 'module /lib/modules/.*/dm-mod.ko' 'it names the modules'
is "$(grep '^volume-uuid' <<<"$out")" "volume-uuid $(blkid -p -o value -s UUID out.iso)" 'and the volume'
is "$(jq .hot_bytes map.json)" "$(awk '/^extent/ { n += $3 } END { print n }' <<<"$out")" 'the JSON agrees'
is "$(jq '.extents | length' map.json)" "$(jq .preload.extents r.json)" 'and with that of the run'

in_map() { # START END
	awk -v s="$1" -v e="$2" '/^extent/ && $2 <= s && $2 + $3 >= e { ok = 1 } END { exit !ok }' seg/.reorder-hot/map
}
image=$(start_of out.iso /live/filesystem.squashfs)
extract out.iso /live/filesystem.squashfs new.squashfs
tables=$(od -An -j 64 -N 8 -t u8 new.squashfs)
used=$(od -An -j 40 -N 8 -t u8 new.squashfs)
ok 'the descriptors are in the map' in_map 32768 40960
ok "the image's superblock is" in_map "$image" $((image + 96))
ok 'its tables are' in_map $((image + tables)) $((image + used))
ok 'the end of the volume is' in_map $(($(stat -c %s out.iso) - 65536)) "$(stat -c %s out.iso)"
is "$(sha256sum <in.iso)" "$input_sum" 'the input is untouched'

preload in.iso again.iso
ok 'the same again gives the same bytes' cmp out.iso again.iso
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	chmod 755 "$TMP" && mkdir -m 777 public
	run setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$PROGRAM" in.iso public/out.iso \
		--trace live.trace --preload dm
	is "$status" 0 'without root' || diag "$err"
	ok 'the same bytes without root' cmp public/out.iso out.iso
else
	skip 'without root' 'needs root and setpriv'
fi

# --- initrds ---
for kind in none gzip xz lz4 bzip2; do
	tiny --initrd-comp "$kind" --ucode --bootloader isolinux "$kind.iso"
	preload "$kind.iso" out.iso
	is "$status" 0 "$kind: exit status" || diag "$err"
	run "$PROGRAM" hotmap out.iso
	like "$out" '^crc32 [0-9a-f]{8}$' "$kind: the map is found again"
	run "$PROGRAM" inspect out.iso
	is "$status" 0 "$kind: the initrd can be walked" || diag "$err"
	rm -f "$kind.iso"
done

# --- frameworks ---
tiny --image-dir casper --cmdline 'boot=casper quiet --- splash' casper.iso
preload casper.iso out.iso casper.trace
is "$status" 0 'casper: exit status' || diag "$err"
extract out.iso /boot/grub/grub.cfg new.cfg
like "$(cat new.cfg)" "boot=casper quiet $words --- splash\$" 'casper: the words come before the dashes'
tiny --image-dir LiveOS LiveOS.iso
preload LiveOS.iso out.iso LiveOS.trace
is "$status" 0 'dracut: exit status' || diag "$err"
extract out.iso /isolinux/live.cfg new.cfg
like "$(cat new.cfg)" 'img rd.live.image quiet root=live:/dev/mapper/reorder-hot rdinit=' 'dracut: root= is another one'
is "$(grep -c CDLABEL new.cfg)" 1 'dracut: the fail-safe entry has the old one'

# --- modules that the initrd lacks come from the image ---
# Like the tiny image's initrd, but without dm-mod.
tiny --no-dm no-dm.iso
preload no-dm.iso refused.iso
is "$status" 3 'no dm-mod anywhere: exit status'
like "$err" 'no preload: the kernel module dm_mod is needed, but neither the initrd nor the image has it' 'no dm-mod anywhere: the reason'
with_modules() { # SUFFIX COMMAND…: an ISO whose image has the modules of the initrd with dm-mod, packed so
	local suffix=$1
	shift
	rm -rf root initrd && mkdir initrd && extract in.iso /live/initrd.img initrd.zst
	(cd initrd && zstd -qdc ../initrd.zst | cpio --quiet -id)
	extract no-dm.iso /live/filesystem.squashfs old.squashfs && unsquashfs -q -n -d root old.squashfs >/dev/null 2>&1
	release=$(ls initrd/lib/modules)
	mkdir -p root/usr/lib/modules && cp -a "initrd/lib/modules/$release" root/usr/lib/modules/
	find root/usr/lib/modules -name '*.ko' -exec "$@" {} \;
	sed -i "s/\.ko/.ko$suffix/g" "root/usr/lib/modules/$release/modules.dep"
	rm -rf extra && mkdir -p extra/live
	mksquashfs root extra/live/filesystem.squashfs -noappend -quiet -no-progress -comp zstd >/dev/null
	tiny --no-dm --extra extra modules.iso
}
with_modules .xz xz --check=crc32
preload modules.iso out.iso
is "$status" 0 'modules packed in the image: exit status' || diag "$err"
is "$(jq .preload.module_copies r.json)" "$(grep '^[^:]*/dm-mod\.' "initrd/lib/modules/$release/modules.dep" | wc -w)" \
	'modules packed in the image: copies'
extract no-dm.iso /live/initrd.img old.img && old_size=$(stat -c %s old.img)
extract out.iso /live/initrd.img new.img
rm -rf seg && mkdir seg && (cd seg && segment ../new.img | cpio --quiet -id)
ok 'the copy is the unpacked module' cmp seg/.reorder-hot/dm_mod.ko "$(find initrd/lib/modules -name dm-mod.ko)"
run "$PROGRAM" hotmap out.iso
like "$out" '^module /\.reorder-hot/dm_mod\.ko$' 'the map names the copy'

# --- entries in an EFI image ---
tiny --md5sum efi.iso
extract efi.iso /boot/grub/efi.img efi.img
extract efi.iso /boot/grub/grub.cfg grub.cfg
sed -i 's/^source.*/# in the FAT image/' grub.cfg
mmd -i efi.img ::/boot ::/boot/grub 2>/dev/null
mcopy -o -i efi.img grub.cfg ::/EFI/BOOT/grub.cfg
dd if=efi.img of=efi.iso bs=2048 seek=$(($(start_of efi.iso /boot/grub/efi.img) / 2048)) conv=notrunc status=none
preload efi.iso out.iso
is "$status" 0 'entries in the EFI image: exit status' || diag "$err"
is "$(jq .preload.entries r.json)" 3 'entries in the EFI image: edited too'
extract out.iso /boot/grub/efi.img new-efi.img
is "$(stat -c %s new-efi.img)" "$(stat -c %s efi.img)" 'the EFI image is as long as before'
ok 'its filesystem is sound' fsck.vfat -n new-efi.img
mcopy -n -o -i new-efi.img ::/EFI/BOOT/grub.cfg new.cfg
like "$(diff grub.cfg new.cfg)" "^> .*quiet $words\$" 'its configuration has the words'
is "$(diff grub.cfg new.cfg | grep -c '^>')" 1 'in one line'
is "$(xorriso -indev out.iso -report_el_torito plain 2>/dev/null | grep -c UEFI)" 1 'it is still what UEFI starts'
preload efi.iso again.iso
ok 'the same bytes each time' cmp out.iso again.iso

# --- what is refused ---
refuse() { # STATUS REGEX NAME ARG…
	local wanted=$1 regex=$2 name=$3
	shift 3
	rm -f refused.iso
	run "$PROGRAM" "$@"
	is "$status" "$wanted" "$name: exit status"
	like "$err" "$regex" "$name: the reason"
	ok "$name: no output" test ! -e refused.iso
}
refuse_iso() { # REGEX NAME TINY-ISO-OPTION…
	local regex=$1 name=$2
	shift 2
	tiny "$@" case.iso
	refuse 3 "$regex" "$name" case.iso refused.iso --trace live.trace --preload dm
}
"$PROGRAM" in.iso with.iso --trace live.trace --preload dm -q
run "$PROGRAM" inspect with.iso
like "$out" 'preload +yes: reorder-livecd hotmap' 'inspect tells'
refuse 3 'no preload: .*has a preload already' 'a second preload' with.iso refused.iso --trace live.trace --preload dm
run "$PROGRAM" with.iso reordered.iso --trace live.trace -q
is "$status" 0 'reordered with the old preload' || diag "$err"
like "$err" 'with.iso: has a preload, whose hot map will not fit' 'it is warned of'
refuse 3 'no initrd of it has a hot map' 'hotmap of an ISO without' hotmap in.iso
refuse 3 'no preload: .*not an x86 Linux kernel' 'no kernel' "$(tiny --fast fast.iso && echo fast.iso)" refused.iso \
	--trace live.trace --preload dm
mkdir -p sig/live && : >sig/live/initrd.img.sig
refuse_iso 'no preload: .*initrd.img is signed' 'a signed initrd' --extra sig
mkdir -p checks/boot/grub && echo 'set check_signatures=enforce' >checks/boot/grub/security.cfg
refuse_iso 'no preload: GRUB checks signatures' 'GRUB that checks signatures' --extra checks
refuse_iso 'no preload: toram: ' 'an entry that copies to RAM' --cmdline 'boot=live toram'
refuse_iso 'no preload: its command line does not start live-boot' 'another command line' --cmdline 'boot=other'
mkdir -p foreign/live && (cd sig && echo x >init && echo init | cpio --quiet -o -H newc) >foreign/live/initrd.img
refuse_iso 'no preload: its live framework is not known' 'an unknown framework' --extra foreign
mkdir -p kiwi/live tree/sbin && : >tree/sbin/kiwi-live-root &&
	(cd tree && find . | cpio --quiet -o -H newc) >kiwi/live/initrd.img
refuse_iso 'no preload: kiwi takes its medium by label only' 'kiwi' --extra kiwi --cmdline 'root=live:CDLABEL=X rd.live.image'
mkdir -p broken/live && { cat foreign/live/initrd.img; echo junk; } >broken/live/initrd.img
refuse_iso 'no preload: initrd: ' 'an initrd that the kernel would not take' --extra broken
refuse 3 'case.iso:/live/initrd.img: initrd: ' 'hotmap of it' hotmap case.iso
long=$(printf 'x%.0s' {1..1990})
refuse_iso 'longer than the kernel takes' 'a command line that is full' --cmdline "boot=live $long"
refuse 2 'not with --in-place' '--in-place' in.iso --in-place --trace live.trace --preload dm
refuse 2 'not with --writer patch' '--writer patch' in.iso refused.iso --trace live.trace --preload dm --writer patch
refuse 2 'not one of none, dm, auto' 'another word' in.iso refused.iso --trace live.trace --preload yes
ok 'nothing is left of the refused runs' nothing_left
is "$(sha256sum <in.iso)" "$input_sum" 'the input is still untouched'
done_testing
