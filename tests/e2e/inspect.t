#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# inspect: what it says of ISOs that can be reordered, and why it refuses others.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run
requires command -v xorriso mksquashfs mkfs.erofs jq lz4 cpio

cd "$TMP" || exit 1
date=--modification-date=2020010203040500

# The tree of an ISO: dummy boot images, a small root image, two boot configurations.
mkdir -p root/sbin root/etc root/usr/lib base/isolinux base/boot/grub base/live other
ln -s ../lib/init root/sbin/init
echo 'ID=test' >root/usr/lib/os-release
ln -s ../usr/lib/os-release root/etc/os-release
head -c 300000 /dev/urandom >root/usr/noise
head -c 9000 /dev/urandom >other/data
squash() { mksquashfs "$@" -noappend -quiet -no-progress >/dev/null 2>&1; }
squash root root.squashfs -comp gzip
squash other other.squashfs
head -c 2048 /dev/zero | tr '\0' b >base/isolinux/isolinux.bin
head -c 4096 /dev/zero | tr '\0' e >base/boot/grub/efi.img
echo kernel >base/live/vmlinuz
mkdir -p initrd/etc ucode/kernel/x86/microcode
echo x >initrd/etc/x
echo code >ucode/kernel/x86/microcode/AuthenticAMD.bin
archive() { (cd "$1" && find . | cpio --quiet -o -H newc); }
{
	archive ucode
	archive initrd | gzip -9n
} >base/live/initrd.img
cat >base/isolinux/isolinux.cfg <<'EOF'
include live.cfg
default vesamenu.c32
timeout 0
EOF
cat >base/isolinux/live.cfg <<'EOF'
label live
	menu label ^Live
	menu default
	linux /live/vmlinuz
	initrd /live/initrd.img
	append boot=live components quiet
label failsafe
	linux /live/vmlinuz
	initrd /live/initrd.img
	append boot=live noapic
EOF
cat >base/boot/grub/grub.cfg <<'EOF'
set default=1
source /boot/grub/live.cfg
EOF
cat >base/boot/grub/live.cfg <<'EOF'
menuentry "Firmware" { fwsetup
}
menuentry "Live (GRUB)" {
	linux ($root)/live/vmlinuz boot=live
	initrd ($root)/live/initrd.img
}
EOF

bios=(-b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4)
efi=(-e boot/grub/efi.img -no-emul-boot)
boot=("${bios[@]}" -eltorito-alt-boot "${efi[@]}")

# tree NAME: a copy of the base with the root image in it. iso NAME OPTION…: makes NAME.iso of it.
tree() {
	cp -r base "$1"
	cp root.squashfs "$1/live/filesystem.squashfs"
}
iso() {
	local name=$1
	shift
	xorriso -as mkisofs -quiet -r -o "$name.iso" "$date" "$@" "$name" 2>/dev/null
}
json() { "$PROGRAM" inspect "$1.iso" --json - 2>/dev/null | jq -r "$2"; }

# refused NAME REGEX: exit 3, and the reason in one line on stderr.
refused() {
	run "$PROGRAM" inspect "$1.iso"
	is "$status" 3 "$1: exit 3"
	like "$err" "$2" "$1: says why"
	is "$(wc -l <"$TMP/.err")" 1 "$1: in one line"
}

# ---- what can be reordered ----

tree good
iso good "${boot[@]}" -J -V "My Live-1.0 é"
run "$PROGRAM" inspect good.iso
is "$status" 0 'a good ISO: exit 0'
is "$err" '' 'a good ISO: nothing on stderr'
like "$out" '^  label +My Live-1\.0 é$' 'text: label'
like "$out" '^  UUID +2020-01-02-03-04-05-00$' 'text: UUID'
like "$out" '^  extensions +Rock Ridge, Joliet$' 'text: extensions'
like "$out" '^  BIOS +/isolinux/isolinux\.bin$' 'text: BIOS boot image'
like "$out" '^  EFI +/boot/grub/efi\.img$' 'text: EFI boot image'
like "$out" '^ +1: +Live  \(/live/vmlinuz\)  \[default, live\]$' 'text: default entry'
like "$out" '^ +segment 1: none, .*, microcode$' 'text: microcode segment'
like "$out" '^ +segment 2: gzip, ' 'text: main segment'
like "$out" '^  reorder +yes: /live/filesystem\.squashfs$' 'text: verdict'
unlike "$out" '[[:cntrl:]]' 'text: no control characters'
is "$(tr -d '\n' <<<"$out" | wc -L | awk '{print ($1 > 0)}')" 1 'text: something'
ok 'text: fits a screen of 100 columns' awk 'length > 100 { exit 1 }' "$TMP/.out"

"$PROGRAM" inspect good.iso --json - >good.json 2>/dev/null
is "$(jq -r .volume.uuid good.json)" "$(blkid -p -o value -s UUID good.iso)" 'JSON: UUID as blkid says'
is "$(jq -r .volume.id good.json)" 'My Live-1.0 é' 'JSON: label'
is "$(jq -c '[.boot_images[].platform]' good.json)" '["BIOS","EFI"]' 'JSON: platforms'
is "$(jq -c '[.entries[] | [.title, .default, .live, .chosen]]' good.json)" \
	'[["Live",true,true,true],["failsafe",false,true,false],["Live (GRUB)",true,true,false]]' \
	'JSON: entries of both loaders'
is "$(jq -r '.entries[0] | .config, .line, .cmdline' good.json | tr '\n' '|')" \
	'/isolinux/live.cfg|1|boot=live components quiet|' 'JSON: where the entry comes from'
is "$(jq -c '[.initrds[0].segments[] | [.compression, .microcode]]' good.json)" \
	'[["none",true],["gzip",false]]' 'JSON: segments'
is "$(jq -r '.initrds[0].segments | map(.offset + .size) | last' good.json)" \
	"$(stat -c %s base/live/initrd.img)" 'JSON: the segments reach the end'
is "$(jq -c '.images[] | [.path, .type, .compressor, .block_size, .root, .refusal]' good.json)" \
	'["/live/filesystem.squashfs","squashfs","gzip",131072,true,null]' 'JSON: image'
is "$(jq -r .refusal good.json)" null 'JSON: no refusal'

# D10
tree bios && iso bios "${bios[@]}"
tree efi && iso efi "${efi[@]}"
is "$(json bios '[.boot_images[].platform, .refusal] | @csv')" '"BIOS",' 'BIOS only'
is "$(json efi '[.boot_images[].platform, .refusal] | @csv')" '"EFI",' 'UEFI only'

# D8: several kernels; the one of the default entry counts.
tree kernels
echo other >kernels/live/vmlinuz-old
cat >kernels/isolinux/live.cfg <<'EOF'
label old
	kernel /live/vmlinuz-old
	append initrd=/live/initrd.img boot=live old
label new
	menu default
	kernel /live/vmlinuz
	append initrd=/live/initrd.img boot=live new
EOF
iso kernels "${bios[@]}"
is "$(json kernels '.kernel.path, (.entries[] | select(.chosen) | .cmdline)' | tr '\n' ' ')" \
	'/live/vmlinuz boot=live new ' 'several kernels: the default one'

# D4: a bigger squashfs elsewhere and a snap are left alone.
tree several
mkdir -p several/extra snap/meta several/snaps
head -c 900000 /dev/urandom >other/more
squash other several/extra/data.squashfs
cp -r root/. snap && echo 'name: x' >snap/meta/snap.yaml
squash snap several/snaps/core.snap
iso several "${bios[@]}"
is "$(json several '[.images[] | [.path, .root]] | sort | tostring')" \
	'[["/extra/data.squashfs",false],["/live/filesystem.squashfs",true],["/snaps/core.snap",false]]' \
	'other images are no roots'
is "$(json several .refusal)" null 'and do not stand in the way'

# The root that the default entry asks for, among two.
tree choice
mkdir -p choice/LiveOS choice/alt
mv choice/live/filesystem.squashfs choice/LiveOS/squashfs.img
cp root.squashfs choice/alt/small.img
sed -i 's/boot=live/root=live:CDLABEL=X rd.live.image rd.live.dir=alt rd.live.squashimg=small.img/' \
	choice/isolinux/live.cfg
iso choice "${bios[@]}"
run "$PROGRAM" inspect choice.iso
like "$out" 'reorder +yes: /alt/small\.img$' 'rd.live.dir and rd.live.squashimg are followed'

# Without a word on the command line: the image beside the kernel (Ubuntu from 22.04 on).
tree beside
mkdir -p beside/casper beside/rescue
cp root.squashfs beside/rescue/other.squashfs
mv beside/live/* beside/casper/
sed -i 's/boot=live.*/--- quiet/; s|/live/|/casper/|' beside/isolinux/live.cfg
: >beside/SHA256SUMS && : >beside/SHA256SUMS.gpg
iso beside "${bios[@]}"
run "$PROGRAM" inspect beside.iso
like "$out" 'reorder +yes: /casper/filesystem\.squashfs$' 'the image beside the kernel is the root'
like "$out" 'note +/SHA256SUMS is signed' 'E3: a signed checksum list is said'

# ---- what cannot ----

head -c 5000000 /dev/urandom >random.iso
refused random 'not an ISO 9660 image'
tree data
iso data
refused data 'no boot record \(El Torito\)'
tree empty && rm empty/live/filesystem.squashfs
iso empty "${bios[@]}"
refused empty 'no live image'
cp good.iso short.iso && truncate -s -2K short.iso
refused short 'truncated'
for size in 40000 100000 300000; do
	cp good.iso "cut$size.iso" && truncate -s "$size" "cut$size.iso"
	refused "cut$size" 'truncated'
done

# F13
cp good.iso udf.iso
for i in 0:BEA01 1:NSR02 2:TEA01; do
	printf '\0%s' "${i#*:}" | dd of=udf.iso bs=1 seek=$(((20 + ${i%:*}) * 2048)) conv=notrunc status=none
done
run "$PROGRAM" inspect udf.iso
is "$status" 0 'a UDF bridge: exit status'
like "$out" 'UDF beside ISO 9660' 'a UDF bridge: what becomes of it'

# D3: EROFS, and ext4 inside, under the usual name.
live_os() {
	cp -r base "$1"
	mkdir "$1/LiveOS"
	sed -i 's/boot=live/root=live:CDLABEL=X rd.live.image/' "$1/isolinux/live.cfg"
}
live_os erofs
mkfs.erofs erofs/LiveOS/squashfs.img root >/dev/null 2>&1
iso erofs "${bios[@]}"
refused erofs '/LiveOS/squashfs\.img: EROFS; not supported yet'
live_os ext4
mkdir -p wrap/LiveOS && truncate -s 2M wrap/LiveOS/rootfs.img && mkfs.ext4 -q wrap/LiveOS/rootfs.img
squash wrap ext4/LiveOS/squashfs.img
iso ext4 "${bios[@]}"
is "$(json ext4 .refusal)" null 'ext4 in a squashfs is fine'
live_os plain
truncate -s 2M plain/LiveOS/rootfs.img
mkfs.ext4 -q -b 1024 -N 64 -O '^metadata_csum,^64bit' plain/LiveOS/rootfs.img
iso plain "${bios[@]}"
is "$(json plain .refusal)" null 'ext4 without a squashfs is fine'

# What dumpe2fs says of a filesystem, as JSON.
facts() { # FILE PATH TYPE
	dumpe2fs -h "$1" 2>/dev/null | jq -Rnc --argjson path "$2" --arg type "$3" '
		[inputs | capture("^(?<key>[^:]*): *(?<value>.*)$")] | from_entries |
		{path: $path, type: $type, block_size: (."Block size" | tonumber)} as $start |
		(."Filesystem features" | split(" ")) as $all |
		("has_journal extent 64bit flex_bg metadata_csum" | split(" ")) as $told |
		$start + {features: ($told - ($told - $all)),
			size: ((."Block count" | tonumber) * $start.block_size),
			free: ((."Free blocks" | tonumber) * $start.block_size),
			inodes: (."Inode count" | tonumber), inodes_free: (."Free inodes" | tonumber)}'
}
of_image() { json "$1" '.images[0].filesystem | tojson'; }
is "$(of_image ext4)" "$(facts wrap/LiveOS/rootfs.img '"LiveOS/rootfs.img"' ext4)" 'the ext4 in a squashfs is told'
is "$(of_image plain)" "$(facts plain/LiveOS/rootfs.img null ext4)" 'the ext4 without a squashfs is told'
is "$(json good .images[0].filesystem)" null 'a squashfs has none'
run "$PROGRAM" inspect ext4.iso
like "$out" '^ +in it: LiveOS/rootfs\.img, ext4$' 'text: the ext4 inside'
like "$out" '^ +blocks of [14] KiB, has_journal extent 64bit flex_bg metadata_csum$' 'text: how it is made'
like "$out" '^ +[0-9.]+ [kM]B of 2\.1 MB used, .* free; 11 of [0-9]+ inodes used$' 'text: how full it is'
run "$PROGRAM" inspect plain.iso
like "$out" '^ +ext4, 2\.1 MB$' 'text: an ext4 without a squashfs'
like "$out" '^ +blocks of 1 KiB, has_journal extent flex_bg$' 'text: and how it is made'
for type in ext2 ext3; do
	mkfs.$type -q -F plain/LiveOS/rootfs.img
	iso plain "${bios[@]}"
	is "$(of_image plain | jq -r .type)" $type "an $type is one"
done
mkfs.ext4 -q -F -O bigalloc plain/LiveOS/rootfs.img
iso plain "${bios[@]}"
refused plain '/LiveOS/rootfs\.img: it allocates in clusters \(bigalloc\)'
is "$(of_image plain | jq '.features | contains(["bigalloc"])')" true 'what stands in the way is a feature that is told'
live_os flat
cp root.squashfs flat/LiveOS/squashfs.img
iso flat "${bios[@]}"
is "$(json flat .refusal)" null 'a flattened root in LiveOS is fine'

# D1: layers
tree layers
cp -r layers/live layers/casper
rm -r layers/live/filesystem.squashfs
mv layers/casper/filesystem.squashfs layers/casper/minimal.squashfs
cp other.squashfs layers/casper/minimal.live.squashfs
sed -i 's/boot=live/boot=casper/' layers/isolinux/live.cfg
iso layers "${bios[@]}"
is "$(json layers '[.refusal, (.images[] | select(.root) | .path)] | @json')" \
	'[null,"/casper/minimal.live.squashfs","/casper/minimal.squashfs"]' 'a layer is one without an init, too'
run "$PROGRAM" inspect layers.iso
like "$out" 'reorder +yes, of these' 'layers can be reordered'
touch layers/casper/minimal.live.squashfs.gpg
iso layers "${bios[@]}"
refused layers 'minimal\.live\.squashfs: signed'
tree roots
cp root.squashfs roots/live/second.squashfs
iso roots "${bios[@]}"
is "$(json roots .refusal)" null 'two roots in one directory may be layers'
truncate -s 2M roots/live/rootfs.img && mkfs.ext4 -q roots/live/rootfs.img
iso roots "${bios[@]}"
refused roots '/live/rootfs\.img: an ext4 beside other images'
rm roots/live/rootfs.img
echo filesystem.squashfs >roots/live/filesystem.module
cp other.squashfs roots/live/second.squashfs
iso roots "${bios[@]}"
is "$(json roots .refusal)" null 'filesystem.module names the one layer that is used'

# C3: images that this program or the kernel cannot read
squash root lzma.squashfs -comp lzma
edited() { # NAME OFFSET BYTES
	tree "$1"
	printf '%b' "$3" | dd of="$1/live/filesystem.squashfs" bs=1 seek="$2" conv=notrunc status=none
	iso "$1" "${bios[@]}"
}
tree lzma && cp lzma.squashfs lzma/live/filesystem.squashfs
iso lzma "${bios[@]}"
refused lzma 'lzma'
edited version 28 '\003\000\001\000'
refused version 'version 3\.1'
edited blocks 12 '\000\000\040\000'
refused blocks 'block size'
edited compressor 20 '\011\000'
refused compressor 'compressor 9'
edited endian 0 'sqsh'
refused endian 'big-endian'
edited inodes 4 '\377\377\377\177'
refused inodes 'filesystem\.squashfs: '

# E4
tree verity
size=$(stat -c %s root.squashfs)
truncate -s $(((size + 4095) / 4096 * 4096)) verity/live/filesystem.squashfs
printf 'verity\0\0hash tree' >>verity/live/filesystem.squashfs
iso verity "${bios[@]}"
refused verity 'dm-verity \(hash tree'
tree roothash
sed -i 's/boot=live/boot=live roothash=00ff/' roothash/boot/grub/live.cfg
iso roothash "${bios[@]}"
refused roothash 'dm-verity \(roothash in /boot/grub/live\.cfg:3\)'
tree hashfile && echo x >hashfile/live/filesystem.verity
iso hashfile "${bios[@]}"
refused hashfile 'dm-verity \(/live/filesystem\.verity\)'
tree behind && echo data >>behind/live/filesystem.squashfs
iso behind "${bios[@]}"
refused behind 'data behind the filesystem'
tree padded && truncate -s +64K padded/live/filesystem.squashfs
iso padded "${bios[@]}"
is "$(json padded .refusal)" null 'zeros behind the image are padding'

# E3
for suffix in sig asc gpg sign cms.sig; do
	tree "signed-$suffix" && : >"signed-$suffix/live/filesystem.squashfs.$suffix"
	iso "signed-$suffix" "${bios[@]}"
	refused "signed-$suffix" "signed \(/live/filesystem\.squashfs\.$suffix\)"
done
# A signature on another file is none of ours (J3: the initrd's matters to the preload only).
tree initrd-sig && : >initrd-sig/live/initrd.img.sig
iso initrd-sig "${bios[@]}"
is "$(json initrd-sig .refusal)" null 'a signed initrd does not matter here'

# D9
tree arm
mkdir -p arm/EFI/BOOT && echo MZ >arm/EFI/BOOT/BOOTAA64.EFI
iso arm "${efi[@]}"
refused arm 'not for a PC \(arm64 boot program /EFI/BOOT/BOOTAA64\.EFI\)'
tree armkernel
{
	head -c 56 /dev/zero
	printf 'ARM\x64'
	head -c 5000 /dev/zero
} >armkernel/live/vmlinuz
iso armkernel "${efi[@]}"
refused armkernel 'not for a PC \(arm64 kernel /live/vmlinuz\)'

# An initrd that Linux would not take is said, but does not stand in the way.
tree badinitrd && echo nonsense >badinitrd/live/initrd.img
iso badinitrd "${bios[@]}"
is "$(json badinitrd '.refusal, (.initrds[0].problem | test("neither a cpio archive"))' | tr '\n' ' ')" \
	'null true ' 'a broken initrd is named'

# Input is only read, and may be read-only.
before=$(sha256sum good.iso)
chmod 0444 good.iso
run "$PROGRAM" inspect good.iso
is "$status:$(sha256sum good.iso)" "0:$before" 'the input is untouched'
ok 'standard output that is full is an error' \
	bash -c '"$0" inspect good.iso >/dev/full; [ $? = 1 ]' "$PROGRAM"

done_testing
