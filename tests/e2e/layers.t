#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A root made of layers, with kept traces: only those with files in the trace change, whoever writes the ISO.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
"$IMAGES/tiny-iso" --fast --layers --image-dir casper --md5sum --isomd5 in.iso || exit
base=/casper/minimal.squashfs
standard=/casper/minimal.standard.squashfs
session=/casper/minimal.standard.live.squashfs
other=/casper/minimal.other.squashfs

write_trace() { # IMAGE PATH…, in pairs
	local i=0
	echo 'reorder-livecd trace 1'
	while (($#)); do
		i=$((i + 1))
		echo "$i.0 f read - $1 $2"
		shift 2
	done
	echo "end $i"
}
write_trace $base usr/sbin/init $standard usr/share/standard/part-3 $base usr/share/big/part-5 \
	$standard usr/share/small/configuration-part-011 $standard usr/share/standard/part-1 >boot.trace
write_trace $session usr/share/session/late >session.trace

extract() { # ISO DIR
	rm -rf "$2"
	xorriso -osirrox on -indev "$1" -extract / "$2" >/dev/null 2>&1
	chmod -R u+w "$2"
}
# Of the bytes where the file lies, so that no other reader of the ISO is believed.
sum_of() { # ISO PATH
	local sector size
	read -r sector size < <(xorriso -indev "$1" -find "$2" -exec report_lba -- 2>/dev/null |
		awk -F, '/^File data/ {print $2, $4}')
	dd if="$1" bs=2048 skip="$sector" count=$(((size + 2047) / 2048)) status=none | head -c "$size" | sha256sum
}
tree_of() { unsquashfs -llc "$1" | sed 's/squashfs-root//' | sort -k6; }

# check_iso NAME REORDERED… : these images are new and hold the same, all else is as it was.
check_iso() {
	local name=$1 image
	shift
	extract "$name.iso" new
	for image in $base $standard $session $other; do
		if [[ " $* " = *" $image "* ]]; then
			isnt "$(sum_of "$name.iso" "$image")" "$(sum_of in.iso "$image")" "$name: $image is another"
			ok "$name: sqfsdiff finds no difference in $image" sqfsdiff -a "old$image" -b "new$image"
			ok "$name: unsquashfs finds the same in $image" diff <(tree_of "old$image") <(tree_of "new$image")
		else
			is "$(sum_of "$name.iso" "$image")" "$(sum_of in.iso "$image")" "$name: $image is as it was"
		fi
	done
	is "$(cd new && sha256sum casper/*.size casper/*.manifest casper/*.yaml)" \
		"$(cd old && sha256sum casper/*.size casper/*.manifest casper/*.yaml)" "$name: what is said of the layers stays"
	ok "$name: md5sum.txt is right" sh -c 'cd new && md5sum --quiet -c md5sum.txt'
	ok "$name: the implanted MD5 is right" checkisomd5 "$name.iso"
}
isnt() { # GOT UNWANTED NAME
	[ "$1" != "$2" ]
	report $? "$3"
}
extract in.iso old

run "$PROGRAM" inspect in.iso
is "$status" 0 'inspect: exit status'
like "$out" "reorder +yes, of these" 'inspect: layers are fine'
like "$out" "root +$standard" 'inspect: a layer without an init is one, too'
like "$out" "other +$other" 'inspect: what layerfs-path does not lead to is none'

for writer in patch rebuild; do
	run "$PROGRAM" in.iso $writer.iso --trace boot.trace --writer $writer --json $writer.json
	is "$status" 0 "$writer: exit status" || diag "$err"
	check_iso $writer $base $standard
	is "$(jq -c '[.images[] | [.path, .reordered, .planned, .in_place, .plan.hot_files]]' $writer.json)" \
		"[[\"$base\",true,2,2,2],[\"$session\",false,null,null,null],[\"$standard\",true,3,3,3]]" \
		"$writer: each layer has its own plan, in JSON"
	is "$(jq -c '[.plan, .image, .output.checksum_lines_renewed >= 2]' $writer.json)" '[null,null,true]' \
		"$writer: what is of one image is not there"
	like "$out" "layer +$session: left as it is" "$writer: the summary says what was left"
	like "$out" "3 of 3 boot files in place" "$writer: and what was done"
done

run "$PROGRAM" in.iso session.iso --trace session.trace --json session.json
is "$status" 0 'the topmost layer alone: exit status' || diag "$err"
check_iso session $session
run "$PROGRAM" in.iso again.iso --trace boot.trace --writer patch -q
ok 'the same again gives the same bytes' cmp patch.iso again.iso

cp in.iso place.iso
run "$PROGRAM" place.iso --in-place --trace boot.trace
is "$status" 0 'in place: exit status' || diag "$err"
ok 'in place: the same bytes' cmp place.iso patch.iso

if [ "$(id -u)" -eq 0 ]; then
	run "$PROGRAM" in.iso mksquashfs.iso --trace boot.trace --engine mksquashfs
	is "$status" 0 'engine mksquashfs: exit status' || diag "$err"
	check_iso mksquashfs $base $standard
else
	skip 'engine mksquashfs' 'needs root'
fi

# Plans
run "$PROGRAM" plan in.iso --trace boot.trace --json plan.json
is "$status" 0 'plan: exit status' || diag "$err"
is "$(grep -e ^image -e ^hot-files <<<"$out" | xargs)" "image $base hot-files 2 image $standard hot-files 3" 'plan: one for each'
is "$(jq -c '[.files, (.images[] | [.path, .files])]' plan.json)" \
	"[null,[\"$base\",2],[\"$session\",null],[\"$standard\",3]]" 'plan: the same in JSON'
refuse 3 'files of 2 images.*--format plan' 'a sort file is for one image' plan in.iso --trace boot.trace --format mksquashfs
run "$PROGRAM" plan in.iso --trace session.trace --format mksquashfs
like "$out" '^usr/share/session/late ' 'plan: a sort file of the only one'
run "$PROGRAM" plan in.iso --trace boot.trace --also usr/share/standard/part-5
is "$err" '' '--also: one layer that has it is enough'
run "$PROGRAM" plan in.iso --trace boot.trace --also no/such
is "$(grep -c 'nothing in in.iso is meant' <<<"$err")" 1 '--also: what no layer has is said once'

# Room is needed for the layers that are made anew, not for all; which they are is known before the work.
if mkdir small && mount -t tmpfs -o size=1M none small 2>/dev/null; then
	at_exit 'umount -l "$TMP/small"'
	run "$PROGRAM" in.iso roomy.iso --trace session.trace --work-dir small
	is "$status $(grep -c warning <<<"$err")" '0 0' 'room for the one layer is enough' || diag "$err"
	refuse 1 'small/.*: 1 MB free, [0-9]+ MB needed for scratch files' 'no room for two layers' \
		in.iso out.iso --trace boot.trace --work-dir small
else
	skip 'room for the layers' 'tmpfs cannot be mounted'
fi

# What is refused
refuse 3 'of 3 images.*no preload' 'preload with layers' in.iso out.iso --trace boot.trace --preload dm
write_trace /casper/none.squashfs usr/sbin/init >foreign.trace
refuse 3 'no event of this image' 'a trace of other images' in.iso out.iso --trace foreign.trace
write_trace $base usr/sbin/init $standard usr/x $standard usr/y >wrong.trace
refuse 3 "$standard: only 0 of the 2 traced paths" 'a trace of another build of one layer' in.iso out.iso --trace wrong.trace
cp -r old twin
rm twin$standard
ln twin$base twin$standard
xorriso -as mkisofs -quiet -o twin.iso -J -R -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot \
	-boot-load-size 4 -boot-info-table --hardlinks twin 2>/dev/null
refuse 3 'has the bytes of another layer' 'two layers in one place' twin.iso out.iso --trace boot.trace
ok 'no output of a refused run' test ! -e out.iso

# live-boot: the list says which of those in the directory are layers.
"$IMAGES/tiny-iso" --fast --layers live.iso || exit
write_trace /live/filesystem.squashfs usr/sbin/init /live/standard.squashfs usr/share/standard/part-1 >live.trace
run "$PROGRAM" live.iso live.out --trace live.trace --json live.json
is "$status" 0 'live-boot: exit status' || diag "$err"
is "$(jq -c '[.images[] | [.path, .reordered]]' live.json)" \
	'[["/live/filesystem.squashfs",true],["/live/session.squashfs",false],["/live/standard.squashfs",true]]' \
	'live-boot: what the list does not name is no layer'
done_testing
