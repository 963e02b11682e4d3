#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# reorder-livecd trace without a boot: two traces explained, and a trace of a log of reads. No virtual machine.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit

# --- trace --diff ---
# trace NAME HEADER-LINE… : the events come from standard input.
trace() {
	local name=$1
	shift
	{
		printf 'reorder-livecd trace 1\nvolume-id LIVE\nimage /live/i\n'
		printf '%s\n' "$@"
		tee events
		printf 'end %d\n' "$(wc -l <events)"
	} >"$name"
}
trace a.trace 'image-checksum 11' 'tracer fanotify' 'end-time 10' 'cmdline boot=live' <<'EOL'
1 f read - /live/i usr/sbin/init
2 f read - /live/i usr/lib/libc.so.6
3 d read - /live/i usr/share
4 f open - /live/i usr/lib/modules/6.1/a.ko
5 f read - /live/i etc/passwd
EOL
trace b.trace 'image-checksum 11' 'tracer blocks' 'end-time 30' 'cmdline boot=live quiet' <<'EOL'
1 f blocks - /live/i usr/lib/libc.so.6
2 f blocks - /live/i usr/sbin/init
3 f blocks - /live/i etc/passwd
8 f blocks - /live/i usr/lib/modules/6.1/b.ko
20 f blocks - /live/i usr/lib/modules/6.1/c\040d.ko
EOL
run "$PROGRAM" trace --diff a.trace b.trace --json diff.json
is "$status $err" '0 ' 'two traces are compared'
like "$out" '^kernel modules +1 +2 +0 +1 +2 +-$' 'a class by itself'
# One of the three pairs stands in the other order.
like "$out" '^all +5 +5 +3 +2 +2 +0\.333$' 'all of them, and the distance of the orders'
like "$out" '^only in B: 2, 1 of them after the 10\.0 s that A took$' 'what a longer boot has more is told apart'
like "$out" 'blocks +kernel modules +usr/lib/modules/6\.1/c d\.ko$' 'and named'
like "$out" '^   B  boot=live quiet$' 'the command lines differ'
is "$(jq -c '[.same_image, .all.both, (.all.kendall_distance * 3 | round), .only_b_after_end_of_a]' diff.json)" \
	'[true,3,1,1]' 'JSON: the whole'
is "$(jq -r '.only_a[].path' diff.json | tr '\n' ' ')" 'usr/share usr/lib/modules/6.1/a.ko ' 'JSON: what only one has'
is "$(jq -c '[.classes[].a] | add' diff.json)" 5 'JSON: every path is of one class'
run "$PROGRAM" trace --diff a.trace a.trace --json -
is "$(jq -c '[.all.both, .all.kendall_distance, (.only_a + .only_b | length)]' <<<"$out")" '[5,0,0]' \
	'a trace and itself'

sed 's/checksum 11/checksum 22/' b.trace >newer.trace
run "$PROGRAM" trace --diff a.trace newer.trace -q
is "$status $out" '0 ' 'another build can be compared'
like "$err" 'warning: .*different builds' 'with a warning'
sed 's, /live/i , /casper/i ,; s,LIVE,OTHER,' b.trace >other.trace
refuse 3 'no path is in both, .*of volume LIVE.*of volume OTHER' 'another system' trace --diff a.trace other.trace
head -n 8 b.trace >cut.trace
printf 'a\0b\n' >tar
refuse 2 'tar:1: not a trace' 'what is no trace' trace --diff a.trace tar
refuse 2 'name of the input is empty' 'no name' trace --diff a.trace ''
refuse 1 'none: open: No such file' 'a trace that is not there' trace --diff a.trace none
refuse 1 '\.: read: Is a directory' 'a directory' trace --diff a.trace .
refuse 2 'a\.trace: this is an input' 'JSON over a trace' trace --diff b.trace a.trace --json a.trace --force
refuse 2 'cut\.trace:9: .*cut off' 'a trace that is not whole' trace --diff a.trace cut.trace

seq 12 | sed 's,.*,& f read - /live/i more/&,' | trace many.trace 'end-time 30'
cat a.trace many.trace | grep -E '^[0-9]' | trace both.trace 'end-time 30'
run "$PROGRAM" trace --diff a.trace both.trace
is "$(grep -c ' more/' <<<"$out")" 10 'of many paths ten are named'
like "$out" '… and 2 more ' 'and the rest counted'
run "$PROGRAM" trace --diff a.trace both.trace --verbose
is "$(grep -c ' more/' <<<"$out")" 12 '--verbose names all'

# --- trace --read-log ---
"$IMAGES/tiny-iso" --fast tiny.iso >/dev/null || exit
osirrox -indev tiny.iso -extract /live/filesystem.squashfs squashfs >/dev/null 2>&1
unsquashfs -d tree squashfs >/dev/null 2>&1 # without root there are no devices
offset=$(xorriso -indev tiny.iso -find /live/filesystem.squashfs -exec report_lba 2>/dev/null |
	awk -F, '/^File data lba/ { print $2 * 2048 }')
size=$(stat -c %s squashfs)

# log NAME: the reads, "SECONDS PLACE LENGTH" with the place in the image, come from standard input.
log() {
	printf 'reorder-livecd reads 1\n# size %d\n# start 1000.0\n# slow 1\n# drive none\n' "$(stat -c %s tiny.iso)" >"$1"
	awk -v o="$offset" '{ printf "%f %d %d 0.0\n", $1, o + $2, $3 }' >>"$1"
}
awk -v size="$size" 'BEGIN { for (at = 0; at < size; at += 131072)
	print at / 13107200, at, at + 131072 < size ? 131072 : size - at }' | log whole.log
run "$PROGRAM" trace tiny.iso --read-log whole.log -o whole.trace --json whole.json
is "$status" 0 'a trace of a log' || diag "$err"
is "$(awk '$2 == "f"' whole.trace | wc -l)" "$(find tree -type f -size +0 -printf '%i\n' | sort -u | wc -l)" \
	'whoever reads everything has read every file that has data'
is "$(awk '$2 == "f" { print $3, $6 }' whole.trace | grep -c '^blocks usr/share/small/.*-part-007$')" 1 'by name'
is "$(jq -c '[.trace.tracer, .trace.coverage, .trace.booted]' whole.json)" '["blocks",null,false]' 'the tracer is named'
like "$err" 'by the reads alone' 'and for people'
run "$PROGRAM" plan tiny.iso --trace whole.trace
is "$(grep -c '^hot [0-9]* f .* blocks$' <<<"$out")" "$(awk '$2 == "f"' whole.trace | wc -l)" 'a plan can be made of it'

refuse 2 'whole\.trace:1: .*not a read log' 'what is no log' trace tiny.iso --read-log whole.trace -o no.trace
refuse 1 'none: open: No such file' 'no log' trace tiny.iso --read-log none -o no.trace
refuse 1 '\.: read: Is a directory' 'a directory instead of a log' trace tiny.iso --read-log . -o no.trace
refuse 2 'whole.log: this is the log' 'a trace over the log' trace tiny.iso --read-log whole.log -o whole.log --force
refuse 1 'no/such: cannot be created' 'no place for the trace' trace tiny.iso --read-log whole.log -o no/such
refuse 2 'whole.trace: exists' 'a trace that is there' trace tiny.iso --read-log whole.log -o whole.trace
refuse 2 'both go to standard output' 'two things on one output' trace tiny.iso --read-log whole.log --json -

# --- trace --make-boot-segment, --from-frames: what is refused without a boot ---
refuse 2 'tiny.iso: this is the input' 'a segment over the ISO' trace tiny.iso --make-boot-segment tiny.iso --force
refuse 2 'not a regular file' 'a segment in place of a directory' trace --make-boot-segment . --force
refuse 1 'no/such: cannot be created' 'no place for the segment' trace --make-boot-segment no/such
refuse 1 'none: No such file' 'an ISO that is not there' trace none --make-boot-segment segment
refuse 3 'not an ISO' 'what is no ISO' trace whole.log --make-boot-segment segment
ok 'and no segment is left' test ! -e segment
: >empty
refuse 3 'empty: no recording of a boot' 'an empty recording' trace tiny.iso --from-frames empty -o no.trace
refuse 1 '\.: read: Is a directory' 'a directory instead of a recording' trace tiny.iso --from-frames . -o no.trace
refuse 2 'name of the input is empty' 'a recording without a name' trace tiny.iso --from-frames '' -o no.trace
refuse 2 'empty: this is the recording' 'a trace over the recording' trace tiny.iso --from-frames empty -o empty --force

echo "1 0 96" | log super.log
refuse 3 'no block of a file of it was read' 'a log without a file' trace tiny.iso --read-log super.log -o no.trace
ok 'and no trace is left' test ! -e no.trace
done_testing
