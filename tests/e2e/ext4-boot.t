#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
# A guest whose root is an ext4 in a squashfs: its boot is recorded through both, and what comes of the
# whole job boots again.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

requires qemu-system-x86_64 --version
requires nbdkit --version

cd "$TMP" || exit
"$IMAGES/tiny-iso" --image-dir LiveOS --root ext4-in-squashfs in.iso || exit 1

inside() { # ISO OUT
	rm -f squashfs.img
	xorriso -osirrox on -indev "$1" -extract /LiveOS/squashfs.img squashfs.img >/dev/null 2>&1
	unsquashfs -cat squashfs.img LiveOS/rootfs.img >"$2"
}
paths() { awk 'NF == 6 && $2 ~ /^[fdl]$/ { print $6 }' "$1"; }

run "$PROGRAM" in.iso out.iso --until idle:4 --save-trace in.trace --json in.json
is "$status" 0 'the whole job' || diag "$err"
is "$(jq -c '[.trace.booted, .trace.lost_events, .trace.coverage, .plan.unmatched, .image.planned == .image.in_place]' in.json)" \
	'[true,0,null,0,true]' 'recorded, all in place; coverage is not known'
unlike "$err" 'warning: .*explains' 'and nothing is said of it'

inside in.iso old.img
inside out.iso new.img
# What its init reads, in its order; links resolved as in the image.
{
	printf '%s\n' usr/sbin/init usr/bin/busybox etc/tiny.conf etc/read-order
	debugfs -R 'cat /etc/read-order' old.img 2>/dev/null |
		sed 's/^[a-z]* //; s,^/e/,/etc/,; s,^/bin/,/usr/bin/,; s,^/,,; s,^\\043,#,; s,/\\043,/#,'
} >wanted
paths in.trace >got
ok 'every file that the guest reads, in its order, from the first' diff wanted got
is "$(awk '$6 == "usr/share/small" { print $2, $3, $5 }' in.trace)" 'd read /LiveOS/squashfs.img' \
	'a directory, of the image that is on the ISO'
ok 'other programs find the same filesystem' "$IMAGES/same-ext4" old.img new.img

run "$PROGRAM" trace out.iso -o out.trace --until idle:4
is "$status" 0 'the result boots' || diag "$err"
paths out.trace >got
ok 'and reads the same' diff wanted got
done_testing
