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

run "$PROGRAM" trace out.iso -o out.trace --until idle:4 --tracer atime
is "$status" 0 'the result boots' || diag "$err"
paths out.trace >got
ok 'and reads the same' diff wanted got
like "$err" 'warning: --tracer atime: .*overlayfs.*fanotify' 'where no access times are kept the program says so'
is "$(sed -n 's/^tracer //p' out.trace)" fanotify 'and the trace, whose it is'
refuse 3 'the root is an ext4.*--tracer fanotify or atime' 'reads of an ext4' trace in.iso --tracer blocks

# --- access times ---
"$IMAGES/tiny-iso" --image-dir LiveOS --root ext4-in-squashfs \
	--cmdline 'root=live:CDLABEL=REORDER_TINY rd.live.image quiet tiny.writable' writable.iso || exit 1
run "$PROGRAM" trace writable.iso -o fanotify.trace --until idle:4
is "$status" 0 'a root that is written to: fanotify' || diag "$err"
run "$PROGRAM" trace writable.iso -o atime.trace --until idle:4 --tracer atime
is "$status" 0 'the same by access times' || diag "$err"
unlike "$err" warning 'which work there'
is "$(sed -n 's/^tracer //p' atime.trace)" atime 'the tracer is named'
is "$(sed -n 's/^lost-events //p' atime.trace)" 0 'nothing is lost'
# One file has several names, of which the sweep takes the first.
files() { awk '$2 == "f" { print $6 }' "$1" | sed 's,^usr/lib/third-name$,usr/share/links/hot,' | sort; }
files fanotify.trace >wanted
files atime.trace >got
ok 'both find the same files' diff wanted got
is "$(awk '$2 == "f" && $3 != "atime" { print $6 }' atime.trace | head -n 3 | tr '\n' ' ')" \
	'usr/sbin/init usr/bin/busybox etc/tiny.conf ' 'what was read before the root was writable is fanotify'"'"'s'
is "$(awk '$6 == "usr/share/big/part-6" { print $2, $3 }' atime.trace)" 'f atime' 'what was read afterwards is not'
is "$(awk '$6 == "usr/share/small" { print $2, $3 }' atime.trace)" 'd atime' 'a directory that was listed'
is "$(awk '$6 == "e" { print $2, $3 }' atime.trace)" 'l atime' 'a link that was followed, which fanotify does not see'
ok 'cold files are not in it' awk '$6 ~ /big\/part-3$/ { exit 1 }' atime.trace
# The last access counts: of the list of files, which is read all the time, that is late.
run "$PROGRAM" trace --diff fanotify.trace atime.trace --json diff.json
ok 'the order is about the same' jq -e '.all.both > 50 and .all.kendall_distance < 0.1' diff.json
done_testing
