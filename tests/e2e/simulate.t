#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# reorder-livecd simulate: read logs on modelled drives, and what the options of a comparison refuse.
# No virtual machine.

# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit

# A log as of a drive without delay: 1.5 s of thinking, a read at the start of the disc, 0.5 s, one 350 MB further
# out, at once the one behind it.
cat >plain.log <<'EOL'
reorder-livecd reads 1
# size 700000000
# start 1000.000000
# slow 1
# drive none
1.500000 0 100000 0.000000
2.000000 350000000 100000 0.000000
2.000000 350100000 100000 0.000000
EOL

run "$PROGRAM" simulate plain.log --drive cd --json one.json
is "$status" 0 'simulate: exit status' || diag "$err"
# 100 kB at 1.5 MB/s; in the middle of the disc 2.758 MB/s, reached by a seek of 0.06 + 0.12 · sqrt(1/2) s.
is "$(jq -c '.simulated[0] | [.drive, .requests, .bytes, .jumps, .long_seeks]' one.json)" '["cd",3,300000,1,1]' \
	'counts by hand'
like "$(jq '.simulated[0].busy_seconds * 1000 | round' one.json)" '^28[34]$' 'drive time by hand'
like "$(jq '.simulated[0].seconds * 1000 | round' one.json)" '^228[34]$' 'the guest thinks 2 s more'
like "$out" '^cd +2\.28[0-9]{4} +0\.28[0-9]{4} +3 +300000 +1 +1$' 'the same for people, to the microsecond'

first=$("$PROGRAM" simulate plain.log --json a.json)
second=$("$PROGRAM" simulate plain.log --json b.json)
is "$second" "$first" 'the same log gives the same text'
ok 'and the same JSON' cmp a.json b.json
is "$(jq -r '[.simulated[].drive] | join(" ")' a.json)" 'cd dvd hdd usb2 usb3 bmc none' 'without --drive: all of them'
is "$(jq -c '.simulated[] | select(.drive == "none") | [.busy_seconds, .seconds]' a.json)" '[0,2]' \
	'none takes no time'
is "$(jq -c '.simulated[0].seconds == 2' <("$PROGRAM" simulate plain.log --drive none --slow-motion 4 --json - 2>/dev/null))" \
	false 'slow motion divides the thinking'
is "$(jq '.simulated[0].seconds' <("$PROGRAM" simulate plain.log --drive none --slow-motion 4 --json -))" 0.5 \
	'by the factor'

printf 'like usb2\nname mine\nabout a stick\nrequest 0.1\n' >mine.drive
run "$PROGRAM" simulate plain.log -d mine.drive --json -
is "$(jq -c '[.simulated[0].drive, (.simulated[0].busy_seconds * 1000 | round)]' <<<"$out")" '["mine",311]' \
	'a drive of the user'"'"'s own'

# What the plugin logs is what the simulator says.
if command -v nbdkit >/dev/null && command -v qemu-io >/dev/null && [ -e "$O/reorder-medium-plugin.so" ]; then
	truncate -s 700000000 disc
	nbdkit -f --exit-with-parent -U sock -P pid "$O/reorder-medium-plugin.so" file=disc log=cd.log drive=cd slow=0.01 &
	nbd=$!
	for _ in $(seq 500); do [ -s pid ] && break; sleep 0.02; done
	args=()
	for i in $(seq 40); do args+=(-c "read $((i * 7919 % 660 * 1000448)) 64k"); done
	qemu-io -r -f raw "${args[@]}" 'nbd+unix:///?socket=sock' >/dev/null
	kill "$nbd"
	wait "$nbd" 2>/dev/null
	logged=$(awk '!/^#/ && NF == 4 { busy += $4 } END { print busy }' cd.log)
	simulated=$("$PROGRAM" simulate cd.log -d cd --json - | jq '.simulated[0].busy_seconds')
	ok "simulated busy seconds ($simulated) are those of the drive ($logged)" \
		awk "BEGIN { d = $simulated / $logged - 1; exit !(d < 0.05 && d > -0.05) }"
else
	skip 'busy seconds as the plugin logs them' 'needs nbdkit and qemu-io'
fi

# What is refused
refuse 2 'READ-LOG is missing' 'no log' simulate
refuse 1 'No such file' 'a log that is not there' simulate nope.log
head -c 5000 /dev/urandom >garbage.log
refuse 2 'not a read log' 'garbage' simulate garbage.log
refuse 2 'neither one of cd, dvd' 'an unknown drive' simulate plain.log --drive floppy
printf 'like cd\nspeed 48\n' >bad.drive
refuse 2 'bad.drive:2: "speed": unknown' 'a bad drive file' simulate plain.log --drive bad.drive
refuse 2 'does not go with simulate' 'an option of another verb' simulate plain.log --runs 3
refuse 2 'B.iso is missing' 'compare with one ISO' compare a.iso
refuse 2 'needs --compare' 'options of a comparison alone' in.iso out.iso --drive cd
refuse 2 'not a whole number from 1 to 100' 'no boots' compare a.iso b.iso -n 0
refuse 2 'not a number from 0.1 to 1000' 'slow motion' compare a.iso b.iso --slow-motion -3
refuse 2 'laptop2008, laptop, desktop' 'a processor' compare a.iso b.iso --cpu 486
refuse 2 'direct, bios, uefi' 'a firmware' compare a.iso b.iso --firmware coreboot
refuse 1 'a.iso' 'an ISO that is not there' compare a.iso b.iso

"$IMAGES/tiny-iso" --fast fast.iso || exit
: >there.html
refuse 2 'there.html' 'a report that is there' compare fast.iso fast.iso --report there.html
refuse 1 'No such file' 'a report in no directory' compare fast.iso fast.iso --report no/such/r.html
refuse 1 'more than this machine can give' 'memory that nobody has' compare fast.iso fast.iso --memory 1000000G
refuse 3 'kernel|bzImage' 'an ISO without a kernel' compare fast.iso fast.iso
ok 'nothing is left of the refused runs' sh -c '! find . -name "reorder-livecd-*" | grep .'
done_testing
