#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# reorder-livecd dm, as far as it goes without device-mapper; tests/e2e/preload-loader.t has the rest.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

# An ISO whose initrd has a map.
"$IMAGES/tiny-iso" --fast "$TMP/in.iso" >/dev/null || exit 1
size=$(stat -c %s "$TMP/in.iso")
mkdir -p "$TMP/map/.reorder-hot" "$TMP/extra/live"
osirrox -indev "$TMP/in.iso" -extract /live/initrd.img "$TMP/initrd" >/dev/null 2>&1
# iso EXTENT…: $TMP/out.iso with these in its map.
iso() {
	local map=$TMP/map/.reorder-hot/map
	{
		printf 'reorder-livecd hot map 1\nvolume-id REORDER_TINY\nvolume-uuid -\nsize 1073741824\npatience 60\n'
		printf 'extent %s\n' "$@"
	} >"$map"
	echo "crc32 $(gzip -c <"$map" | tail -c 8 | od -An -N 4 -tx4 | tr -d ' ')" >>"$map"
	cp "$TMP/initrd" "$TMP/extra/live/initrd.img"
	truncate -s %512 "$TMP/extra/live/initrd.img"
	(cd "$TMP/map" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0) >>"$TMP/extra/live/initrd.img"
	"$IMAGES/tiny-iso" --fast --extra "$TMP/extra" "$TMP/out.iso" >/dev/null || exit 1
	size=$(stat -c %s "$TMP/out.iso")
}

iso '32768 4096' '131072 8192'
run "$PROGRAM" dm "$TMP/out.iso" --table
is "$status" 0 'a table without a device'
is "$out" "0 64 linear /dev/sr0 0
64 8 linear 7:1000 2048
72 184 linear /dev/sr0 72
256 16 linear 7:1000 2056
272 $((size / 512 - 272)) linear /dev/sr0 272" 'it is the loader'"'"'s'
run "$PROGRAM" dm "$TMP/out.iso" --table --device /dev/elsewhere
like "$out" '^0 64 linear /dev/elsewhere 0$' 'another device'

iso '32768 4096' '536870912 4096'
run "$PROGRAM" dm "$TMP/out.iso" --table
is "$status" 3 'a map that does not fit: exit 3'
like "$err" 'the hot map does not fit its [0-9]+ bytes' 'and the reason'

fails() { # NAME EXIT REGEX ARGUMENT…
	run "$PROGRAM" dm "${@:4}"
	like "$status $err" "^$2 reorder-livecd: .*$3" "$1"
}
fails 'an ISO without a map' 3 'no initrd of it has a hot map' "$TMP/in.iso" --table
fails 'something to do is needed' 2 'needs one of --table' "$TMP/out.iso"
fails 'not two things' 2 'exclude each other' "$TMP/out.iso" --table --status
fails 'not the same twice' 2 'given twice' "$TMP/out.iso" --table --table
fails 'a device with a newline' 2 'no name for a table' "$TMP/out.iso" --table --device $'/dev/x\n0 8 zero'
fails 'a device with a blank' 2 'no name for a table' "$TMP/out.iso" --table --device '/dev/a b'
fails 'a device without a name' 2 'no name for a table' "$TMP/out.iso" --table --device ''
fails 'the ISO is needed' 2 'OUT.iso is missing' --status
if [ ! -e /sys/class/misc/device-mapper ]; then
	for action in --activate --release --status; do
		fails "$action without device-mapper" 1 '(needs root|no device-mapper here)' "$TMP/out.iso" $action
	done
else
	skip 'without device-mapper' 'it is here'
fi
done_testing
