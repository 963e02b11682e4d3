#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# reorder-livecd compare, with real boots of small ISOs.
# VM: yes
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

requires qemu-system-x86_64 --version
requires nbdkit --version

cd "$TMP" || exit
"$IMAGES/tiny-iso" a.iso || exit
common=(--accel tcg --slow-motion 4 --until 'console:tiny: ready' --timeout 400)

# Another image in the same ISO: from a tree that COMMAND… has changed.
variant() { # OUT COMMAND…
	local out=$1
	shift
	xorriso -osirrox on -indev a.iso -extract /live/filesystem.squashfs root.squashfs >/dev/null 2>&1
	rm -rf root && unsquashfs -q -n -d root root.squashfs >/dev/null && "$@" root &&
		mksquashfs root new.squashfs -noappend -quiet -no-progress -comp zstd >/dev/null 2>&1 &&
		xorriso -indev a.iso -outdev "$out" -boot_image any replay -update new.squashfs \
			/live/filesystem.squashfs >/dev/null 2>&1
}
without_init() { rm "$1/usr/sbin/init"; }
# What a boot does not start any more, it does not read.
without_program() { sed -i '/capable/d' "$1/etc/read-order"; }

# -- two boots of the same

run "$PROGRAM" compare a.iso a.iso -n 2 "${common[@]}" --drive cd --json same.json --report same.html --work-dir .
is "$status" 0 'compare: exit status' || diag "$err"
get() { jq -c "$1" same.json; }
is "$(get '[.a, .b | .runs | length]')" '[2,2]' 'two boots of each'
is "$(get '[.drive.name, .firmware, .accelerator, .slow_motion, .cpu]')" '["cd","direct","tcg",4,"laptop2008"]' \
	'the conditions'
is "$(get '[.a.runs[].end_reason] | unique')" '["console"]' 'they end by the same rule'
is "$(get '.a.runs[0].phases | keys')" '["initramfs","kernel","kernel_to_end","total","userspace"]' 'the phases'
ok 'the phases add up' jq -e '.a.runs[0].phases |
	(.kernel.seconds + .initramfs.seconds + .userspace.seconds - .total.seconds | fabs) < 0.001' same.json
ok 'every phase takes time' jq -e '[.a, .b | .runs[].phases[] | .seconds] | min > 0' same.json
ok 'the kernel says when it unpacked the initramfs' jq -e '.a.runs[0].initramfs_unpack_seconds > 0' same.json
is "$(get '.results.total.bytes | .a.median == .b.median')" true 'they read the same'
ok 'the drive seeks' jq -e '.a.runs[0].phases.total.long_seeks > 3' same.json
is "$(get '.a.floor.phases.total | [.busy_seconds, .long_seeks]')" '[0,0]' 'without delay it does not'
ok 'the medium costs time' jq -e '.a.runs[0].phases.total.busy_seconds > 1' same.json
ok 'the simulated drive agrees with the measured one' jq -e '.a as $a |
	($a.simulated[] | select(.drive == "cd") | .busy_seconds) /
	([$a.runs[].phases.total.busy_seconds] | add / 2) - 1 | fabs < 0.05' same.json
is "$(get '.missing')" '[]' 'nothing is missing'
is "$(get '.a.sha256')" "\"$(sha256sum a.iso | cut -d' ' -f1)\"" 'the hash of the ISO'
is "$(get '[.a.loader_files[] | .path]')" '["/live/vmlinuz","/live/initrd.img"]' 'kernel and initrd'
is "$(get '[.a.loader_files[] | .compression]')" '["xz","zstd"]' 'and their compression'
like "$out" 'A  a.iso .*sha256 ' 'text: what was compared'
like "$out" 'total +[0-9.]+ ± [0-9.]+ +[0-9.]+ ± [0-9.]+ +[0-9.]+ ' 'text: the total'
like "$(cat same.html)" '</html>' 'the report is whole'
ok 'nothing is left behind' sh -c '! find . -name "reorder-livecd-*" -o -name "*.tmp-*" | grep .'

# -- what does not boot, or not to the same

variant broken.iso without_init || exit
run "$PROGRAM" compare a.iso broken.iso -n 1 "${common[@]}" --drive usb2 --work-dir .
is "$status" 4 'an ISO that does not boot: exit status'
like "$err" '^reorder-livecd: broken.iso, the boot without delay: ' 'which of the two, and when'
like "$err" 'the last lines of its console:' 'its console'
like "$err" 'init' 'what it lacks'

variant lacking.iso without_program || exit
run "$PROGRAM" compare a.iso lacking.iso -n 1 "${common[@]}" --drive usb2 --work-dir . --json lacking.json
is "$status" 4 'an ISO that starts less: exit status'
like "$err" 'lacking.iso: never started /usr/bin/capable, which a.iso always does' 'what it lacks'
like "$err" 'tiny: ready' 'and its console'
is "$(jq '.missing | length' lacking.json)" 1 'the same in JSON'

# -- behind the whole job

cat >boot.trace <<'EOT'
reorder-livecd trace 1
1 f read - /live/filesystem.squashfs usr/sbin/init
2 f read - /live/filesystem.squashfs usr/bin/busybox
3 f read - /live/filesystem.squashfs usr/share/big/part-4
end 3
EOT
run "$PROGRAM" a.iso new.iso --trace boot.trace --compare -n 1 "${common[@]}" --drive usb2 --json job.json \
	--report job.html --work-dir .
is "$status" 0 '--compare: exit status' || diag "$err"
is "$(jq -c '[.image.in_place, .compare.b.path, (.compare.b.runs | length)]' job.json)" '[3,"new.iso",1]' \
	'one JSON with both'
like "$out" '3 of 3 boot files in place' 'the summary'
like "$out" 'in a single boot of each' 'the comparison behind it'

# -- through the firmware, with menus that wait for 1 and for 10 seconds

"$IMAGES/tiny-iso" --bootloader grub --timeout 1 short.iso || exit
"$IMAGES/tiny-iso" --bootloader grub --timeout 10 long.iso || exit
run "$PROGRAM" compare short.iso long.iso -n 1 "${common[@]}" --drive usb2 --firmware bios --json bios.json --work-dir .
is "$status" 0 'bios: exit status' || diag "$err"
ok 'there is a loader' jq -e '[.a, .b | .runs[0].phases.loader.seconds] | min > 0' bios.json
ok 'which reads kernel and initrd' jq -e '(.a.runs[0].phases.loader.bytes) > ([.a.loader_files[].size] | add) * 0.99' \
	bios.json
ok 'the menu is answered' jq -e '.b.runs[0].menu_wait_seconds < 2' bios.json
ok 'and its time not counted' jq -e '[.b.runs[0].menu_wait_seconds, .b.floor.menu_wait_seconds] | min > 0.1' bios.json
done_testing
