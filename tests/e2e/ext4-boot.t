#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
# Guests whose root is an ext4: a snapshot of one in a squashfs, whose boot is recorded through all that,
# and what comes of the whole job boots again; an overlay of one; by reads.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

requires qemu-system-x86_64 --version
requires nbdkit --version

cd "$TMP" || exit
live='root=live:CDLABEL=REORDER_TINY rd.live.image quiet'
"$IMAGES/tiny-iso" --image-dir LiveOS --root ext4-in-squashfs --cmdline "$live ro" in.iso || exit 1

inside() { # ISO OUT
	rm -f squashfs.img
	xorriso -osirrox on -indev "$1" -extract /LiveOS/squashfs.img squashfs.img >/dev/null 2>&1
	unsquashfs -cat squashfs.img LiveOS/rootfs.img >"$2"
}
paths() { awk 'NF == 6 && $2 ~ /^[fdl]$/ { print $6 }' "$1"; }

run "$PROGRAM" in.iso out.iso --until idle:4 --save-trace in.trace --json in.json
is "$status" 0 'the whole job' || diag "$err"
is "$(jq -c '[.trace.booted, .trace.lost_events, .trace.coverage >= 0.9, .plan.unmatched, .image.planned == .image.in_place]' in.json)" \
	'[true,0,true,0,true]' 'recorded, its reads are explained, all in place'
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

# --- access times: of the result, whose root is a snapshot that is written to ---
run "$PROGRAM" trace out.iso -o out.trace --until idle:4 --tracer atime
is "$status" 0 'the result boots, traced by access times' || diag "$err"
unlike "$err" 'warning: --tracer' 'which work there'
is "$(sed -n 's/^tracer //p' out.trace)" atime 'the tracer is named'
is "$(sed -n 's/^lost-events //p' out.trace)" 0 'nothing is lost'
# One file has several names, of which the sweep takes the first.
files() { awk '$2 == "f" { print $6 }' "$1" | sed 's,^usr/lib/third-name$,usr/share/links/hot,' | sort; }
files in.trace >by_fanotify
files out.trace >by_atime
ok 'both tracers find the same files' diff by_fanotify by_atime
is "$(awk '$2 == "f" && $3 != "atime" { print $6 }' out.trace | head -n 3 | tr '\n' ' ')" \
	'usr/sbin/init usr/bin/busybox etc/tiny.conf ' 'what was read before the root was writable is fanotify'"'"'s'
is "$(awk '$6 == "usr/share/big/part-6" { print $2, $3 }' out.trace)" 'f atime' 'what was read afterwards is not'
is "$(awk '$6 == "usr/share/small" { print $2, $3 }' out.trace)" 'd atime' 'a directory that was listed'
is "$(awk '$6 == "e" { print $2, $3 }' out.trace)" 'l atime' 'a link that was followed, which fanotify does not see'
ok 'cold files are not in it' awk '$6 ~ /big\/part-3$/ { exit 1 }' out.trace
# The last access counts: of the list of files, which is read all the time, that is late.
run "$PROGRAM" trace --diff in.trace out.trace --json diff.json
ok 'the order is about the same' jq -e '.all.both > 50 and .all.kendall_distance < 0.1' diff.json

# --- an overlay, of an ext4 that lies on the ISO itself ---
"$IMAGES/tiny-iso" --image-dir LiveOS --root ext4 --cmdline "$live rd.live.overlay.overlayfs" overlay.iso || exit 1
run "$PROGRAM" trace overlay.iso -o overlay.trace --until idle:4 --tracer atime
is "$status" 0 'an overlay' || diag "$err"
like "$err" 'warning: --tracer atime: .*overlayfs.*fanotify' 'where no access times are kept the program says so'
is "$(sed -n 's/^tracer //p' overlay.trace)" fanotify 'and the trace, whose it is'
paths overlay.trace >got
ok 'the same is read' diff wanted got
is "$(awk '$6 == "usr/sbin/init" { print $5 }' overlay.trace)" /LiveOS/rootfs.img 'of the image on the ISO'

# --- the reads alone ---
run "$PROGRAM" trace in.iso -o reads.trace --until idle:4 --tracer blocks
is "$status" 0 'reads of an ext4 in a squashfs' || diag "$err"
is "$(sed -n 's/^tracer //p' reads.trace)" blocks 'the trace names the tracer'
ok 'what has been read is in it' awk '$6 == "usr/bin/busybox" { found = 1 } END { exit !found }' reads.trace
done_testing
