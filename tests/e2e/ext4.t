#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The whole job with a kept trace, on ISOs whose root is an ext4: in a squashfs, and by itself. No
# virtual machine.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
mkdir images && "$IMAGES/ext4-variants" images ext4 ext3 fragmented bigalloc needs-recovery || exit

hot=(usr/share/file-40 usr/large usr/share/file-7 usr/share/file-31 usr/share/file-5)
write_trace() { # FILE IMAGE
	local path i=0
	{
		echo 'reorder-livecd trace 1'
		for path in "${hot[@]}"; do
			i=$((i + 1))
			echo "$i.0 f read - $2 $path"
		done
		echo "9.0 l open - $2 symlink-200"
		echo "end 6"
	} >"$1"
}

# iso OUT FILE NAME: as dracut's live module wants it, with FILE as /LiveOS/NAME.
iso() {
	rm -rf tree
	mkdir -p tree/isolinux tree/LiveOS
	head -c 2048 /dev/zero | tr '\0' b >tree/isolinux/isolinux.bin
	echo kernel >tree/isolinux/vmlinuz
	echo initrd >tree/isolinux/initrd.img
	printf '%s\n' 'default live' 'label live' ' kernel vmlinuz' \
		' append initrd=initrd.img root=live:CDLABEL=X rd.live.image' >tree/isolinux/isolinux.cfg
	cp "$2" "tree/LiveOS/$3"
	xorriso -as mkisofs -quiet -r -J -V X -c isolinux/boot.cat -b isolinux/isolinux.bin -no-emul-boot \
		-boot-load-size 4 -boot-info-table -o "$1" tree 2>/dev/null
}

wrapped() { # OUT FILESYSTEM NAME OPTION…
	rm -rf wrap
	mkdir -p wrap/LiveOS
	cp --sparse=always "$2" "wrap/LiveOS/$3"
	mksquashfs wrap squashfs.img -quiet -no-progress -noappend "${@:4}"
	iso "$1" squashfs.img squashfs.img
}

extract() { xorriso -osirrox on -indev "$1" -extract "/LiveOS/$2" "$3" >/dev/null 2>&1; }
inside() { extract "$1" squashfs.img out.squashfs && unsquashfs -cat out.squashfs "LiveOS/$2" >"$3"; }
nothing_left() { ! find . -name '*.tmp-*' -o -name 'reorder-livecd-*' | grep .; }
format_of() { unsquashfs -s "$1" | grep -vE '^(Filesystem size|Found a valid|Number of)'; }
list_of() { unsquashfs -lln "$1"; }

write_trace wrapped.trace /LiveOS/squashfs.img
write_trace plain.trace /LiveOS/rootfs.img

wrapped ext4.iso images/ext4.img rootfs.img -comp zstd -Xcompression-level 5
wrapped ext3.iso images/ext3.img ext3fs.img -comp xz -b 256K
wrapped fragmented.iso images/fragmented.img rootfs.img
for name in ext4 ext3 fragmented; do
	file=rootfs.img
	[ $name != ext3 ] || file=ext3fs.img
	run "$PROGRAM" $name.iso $name-out.iso --trace wrapped.trace --json $name.json
	is "$status" 0 "$name: exit status" || diag "$err"
	# The directories on the way and the symlink are placed as well.
	is "$(jq -c '[.image.engine, .image.planned == .image.in_place, .plan.unmatched]' $name.json)" \
		'["ext4",true,0]' "$name: all is in place"
	extract $name.iso squashfs.img in.squashfs
	inside $name-out.iso $file new.img
	ok "$name: other programs find the same filesystem" "$IMAGES/same-ext4" "images/$name.img" new.img
	is "$(format_of out.squashfs)" "$(format_of in.squashfs)" "$name: the squashfs is of the same format"
	is "$(list_of out.squashfs)" "$(list_of in.squashfs)" "$name: and has the same tree"
	ok "$name: nothing is left behind" nothing_left
done

run "$PROGRAM" ext4.iso again.iso --trace wrapped.trace -q
ok 'the same again gives the same bytes' cmp ext4-out.iso again.iso
run "$PROGRAM" ext4.iso front.iso --trace wrapped.trace --layout front --order size
is "$status" 0 'layout front, order size' || diag "$err"
inside front.iso rootfs.img front.img
first_block() { debugfs -R "bmap /$1 0" front.img 2>/dev/null; }
is "$(for path in "${hot[@]}"; do echo "$(first_block "$path") $path"; done | sort -n | awk '{ print $2 }' | xargs)" \
	'usr/share/file-5 usr/share/file-7 usr/share/file-31 usr/share/file-40 usr/large' \
	'the smallest is the first'

iso plain.iso images/ext4.img rootfs.img
run "$PROGRAM" plain.iso plain-out.iso --trace plain.trace --json plain.json
is "$status" 0 'without a squashfs: exit status' || diag "$err"
extract plain-out.iso rootfs.img new.img
ok 'without a squashfs: other programs find the same filesystem' "$IMAGES/same-ext4" images/ext4.img new.img

run "$PROGRAM" plan ext4.iso --trace wrapped.trace
is "$status" 0 'plan' || diag "$err"
like "$out" 'hot .* usr/large' 'plan: names what is inside'

# --- trace --read-log: of what ISO the reads are, and where its image lies ---
log() { # ISO IMAGE <READS, "PLACE LENGTH" in the image
	local offset
	offset=$(xorriso -indev "$1" -find "$2" -exec report_lba 2>/dev/null |
		awk -F, '/^File data lba/ { print $2 * 2048 }')
	printf 'reorder-livecd reads 1\n# size %d\n# start 1000.0\n# slow 1\n# drive none\n' "$(stat -c %s "$1")"
	awk -v o="$offset" '{ printf "%f %d %d 0.0\n", NR / 10, o + $1, $2 }'
}
whole() { awk -v size="$(stat -c %s "$1")" 'BEGIN { for (at = 0; at < size; at += 65536)
	print at, at + 65536 < size ? 65536 : size - at }'; }
files() { awk '$2 == "f" { print $6 }' "$1" | sort; }

debugfs -R 'blocks /usr/large' images/ext4.img 2>/dev/null | tr ' ' '\n' | awk 'NF { print $1 * 4096, 4096 }' |
	log plain.iso /LiveOS/rootfs.img >large.log
run "$PROGRAM" trace plain.iso --read-log large.log -o large.trace
is "$status" 0 'reads of an ext4: exit status' || diag "$err"
is "$(files large.trace)" usr/large 'the file whose blocks were read'
extract ext4.iso squashfs.img in.squashfs
whole in.squashfs | log ext4.iso /LiveOS/squashfs.img >whole.log
run "$PROGRAM" trace ext4.iso --read-log whole.log -o whole.trace
is "$status" 0 'reads of an ext4 in a squashfs: exit status' || diag "$err"
whole images/ext4.img | log plain.iso /LiveOS/rootfs.img >whole.log
run "$PROGRAM" trace plain.iso --read-log whole.log -o whole-plain.trace
is "$(files whole.trace)" "$(files whole-plain.trace)" 'whoever reads everything has read the same files of both'
is "$(files whole.trace | grep -c '^usr/share/file-')" 60 'which are all'
unlike "$(files whole.trace)" '^(empty|hole)$' 'that have data'
run "$PROGRAM" ext4.iso by-reads.iso --trace whole.trace --json by-reads.json
is "$(jq -c '[.plan.unmatched, .image.planned == .image.in_place]' by-reads.json)" '[0,true]' 'a trace of reads serves' || diag "$err"

# What is refused
refuse 3 'no preload yet' 'preload' ext4.iso x.iso --trace wrapped.trace --preload dm
refuse 2 'engine splice: .*not for an image of this kind' 'another engine' \
	ext4.iso x.iso --trace wrapped.trace --engine splice
wrapped bigalloc.iso images/refused/bigalloc.img rootfs.img
refuse 3 'LiveOS/rootfs\.img: it allocates in clusters' bigalloc bigalloc.iso x.iso --trace wrapped.trace
wrapped recovery.iso images/refused/needs-recovery.img rootfs.img
refuse 3 'LiveOS/rootfs\.img: its journal has to be replayed' recovery recovery.iso x.iso --trace wrapped.trace
wrapped linked.iso images/ext4.img rootfs.img
ln wrap/LiveOS/rootfs.img wrap/second
mksquashfs wrap squashfs.img -quiet -no-progress -noappend
iso linked.iso squashfs.img squashfs.img
refuse 3 'has hard links; not supported around an ext4' 'hard links around it' linked.iso x.iso --trace wrapped.trace
is "$(ls x.iso 2>/dev/null)" '' 'nothing was written'
done_testing
