#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The rebuilt ISO as other programs see it: partition tables, boot equipment, checksums, identity.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
requires sgdisk --version
{
	echo 'reorder-livecd trace 1'
	echo '1.0 f read - /live/filesystem.squashfs usr/sbin/init'
	echo '2.0 f read - /live/filesystem.squashfs usr/share/big/part-5'
	echo '3.0 f read - /live/filesystem.squashfs usr/bin/busybox'
	echo 'end 3'
} >boot.trace

# What boots, without where it lies.
equipment() {
	xorriso -no_rc -indev "$1" -report_el_torito plain -report_system_area plain 2>/dev/null |
		sed -E '/boot img/s/[0-9]+$//; /catalog /s/: [0-9]+/:/; /size\/512|lba range/d; s/(start and size.*  )[0-9]+  [0-9]+$/\1/
			/MBR partition  /s/ +[0-9]+ +[0-9]+$//'
}
# What sgdisk says of the GPT, without sizes: GUIDs, types, names, flags, and its complaints.
partitions() {
	local number
	sgdisk --print "$1" 2>&1 | grep 'identifier'
	for number in 1 2 3; do
		sgdisk --info="$number" "$1" 2>&1 | grep -v 'sector\|Partition size'
	done
	sgdisk --verify "$1" 2>&1 | sed 's/[0-9]\{3,\}/N/g'
}
# Bytes of the volume descriptor that say what the volume is.
identity() {
	dd if="$1" bs=1 skip=$((32768 + 8)) count=64 2>/dev/null
	dd if="$1" bs=1 skip=$((32768 + 190)) count=691 2>/dev/null
}

for style in isolinux-hybrid grub2-appended-esp; do
	"$IMAGES/tiny-iso" --fast --boot-style "$style" --volid 'My Live-1.0' --md5sum --sha512-beside "$style.iso" || exit
	run "$PROGRAM" "$style.iso" out.iso --force --trace boot.trace --writer rebuild
	is "$status" 0 "$style: exit status" || diag "$err"
	is "$(equipment out.iso)" "$(equipment "$style.iso")" "$style: the same boot equipment"
	is "$(partitions out.iso)" "$(partitions "$style.iso")" "$style: the same partitions"
	ok "$style: every id and date of the volume" cmp <(identity "$style.iso") <(identity out.iso)
	is "$(blkid -p -o export out.iso | grep -v DEVNAME)" "$(blkid -p -o export "$style.iso" | grep -v DEVNAME)" \
		"$style: blkid sees the same"
	rm -rf old new
	xorriso -osirrox on -indev "$style.iso" -extract / old >/dev/null 2>&1
	xorriso -osirrox on -indev out.iso -extract / new >/dev/null 2>&1
	chmod -R u+w old new
	is "$(cd new && md5sum -c md5sum.txt 2>/dev/null)" "$(cd old && md5sum -c md5sum.txt 2>/dev/null)" \
		"$style: md5sum.txt is as right as it was"
	ok "$style: the list beside the image is right" sh -c 'cd new/live && sha512sum --quiet -c *.sha512'
	is "$(cd new && find . -printf '%p %m %U %G %Tc %l\n' | sort)" "$(cd old && find . -printf '%p %m %U %G %Tc %l\n' | sort)" \
		"$style: names and attributes"
	is "$(diff -rq old new | grep -v 'boot.cat\|isolinux.bin\|eltorito.img' | sed 's/ .*/&/' | sort | awk '{print $2}' | xargs)" \
		'old/live/filesystem.sha512 old/live/filesystem.squashfs old/md5sum.txt' "$style: nothing else changed"
done

# Truncated anywhere: no output, and the reason.
size=$(stat -c %s isolinux-hybrid.iso)
for cut in 20000 40000 $((size / 3)) $((size - 400000)); do
	head -c "$cut" isolinux-hybrid.iso >cut.iso
	rm -f out.iso
	run "$PROGRAM" cut.iso out.iso --trace boot.trace
	is "$status" 3 "cut at $cut: exit status"
	ok "cut at $cut: no output" test ! -e out.iso
done

done_testing
