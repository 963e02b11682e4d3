#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
#
# The whole job on a root made of layers: one boot shows which images these are, and which of them each path is of.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
requires qemu-system-x86_64 --version
"$IMAGES/tiny-iso" --layers --image-dir casper --md5sum in.iso || exit
base=/casper/minimal.squashfs
standard=/casper/minimal.standard.squashfs
session=/casper/minimal.standard.live.squashfs
other=/casper/minimal.other.squashfs

mkdir work
run "$PROGRAM" in.iso out.iso --save-trace boot.trace --json out.json --until 'console:tiny: ready' --work-dir work --keep-work
is "$status" 0 'exit status' || diag "$err"
console=$(cat work/*/console.log)
like "$console" 'tiny: ready' 'the guest has come up'
unlike "$console" 'cannot read' 'the guest itself sees the layers as they should be'
is "$(jq -c .trace.layers out.json)" "[\"$session\",\"$standard\",\"$base\"]" 'the layers, as the guest has stacked them'
like "$out" "root +$session over $standard over $base" 'the summary has them'

# Every file in the trace is of the topmost layer that has it.
image_of() { awk -v path="$1" '$6 == path && ($2 == "f" || $2 == "d") {print $5}' boot.trace; }
is "$(image_of usr/share/big/part-6)" $base 'a file of the lowest layer'
is "$(image_of usr/share/small/configuration-part-044)" $base 'a file in a directory that all have'
is "$(image_of usr/share/small/configuration-part-011)" $standard 'a file in the place of another'
is "$(image_of usr/share/small/configuration-part-033)" $session 'a file that is there again above a whiteout'
is "$(image_of usr/share/small/configuration-part-022)" '' 'no file under a whiteout'
is "$(image_of usr/share/session/late)" $session 'a file of the topmost layer'
is "$(image_of usr/share/twins/warm/x)" $standard 'a file in an opaque directory'
is "$(image_of etc/read-order)" $session 'a file that two layers have'
is "$(image_of usr/bin/busybox)" $base 'a program'

is "$(jq -c '[.images[] | [.path, .reordered, .planned == .in_place]]' out.json)" \
	"[[\"$base\",true,true],[\"$session\",true,true],[\"$standard\",true,true]]" 'all layers are reordered'
is "$(jq '.trace.coverage > 0.9' out.json)" true 'the trace explains what was read'
mkdir old new
xorriso -osirrox on -indev in.iso -extract /casper old >/dev/null 2>&1
xorriso -osirrox on -indev out.iso -extract /casper new >/dev/null 2>&1
for image in $base $standard $session; do
	ok "sqfsdiff finds no difference in $image" sqfsdiff -a "old/${image##*/}" -b "new/${image##*/}"
done
ok 'what is not mounted is as it was' cmp "old/${other##*/}" "new/${other##*/}"
run "$PROGRAM" in.iso again.iso --trace boot.trace -q
ok 'the kept trace gives the same bytes' cmp out.iso again.iso
done_testing
