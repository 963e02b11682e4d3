#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
# --preload auto: both ISOs are booted, and where the preload does not pay the result is what there
# would be without the option.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

requires qemu-system-x86_64 --version
requires nbdkit --version
cd "$TMP" || exit 1

"$IMAGES/tiny-iso" --md5sum in.iso || exit
run "$PROGRAM" trace in.iso -o boot.trace --accel tcg --until 'console:tiny: ready'
is "$status" 0 'recorded' || diag "$err"
run "$PROGRAM" in.iso none.iso --trace boot.trace
is "$status" 0 'without a preload' || diag "$err"
run "$PROGRAM" in.iso out.iso --trace boot.trace --preload auto --json r.json --accel tcg \
	--until 'console:tiny: ready' --drive none -n 2 --slow-motion 3
is "$status" 0 'exit status' || diag "$err"
like "$out" 'preload +left out, not faster outside the noise: boot on none [0-9.]+ s without, [0-9.]+ s with it' \
	'the summary has both times'
is "$(jq -c '.preload | [.kept, .drive, .seconds_without > 0, .seconds_with > 0, .ratio_low <= 1]' r.json)" \
	'[false,"none",true,true,true]' 'so has the JSON'
is "$(jq -r .output.writer r.json)" patch 'the writer is that of an ISO without'
ok 'the result is that of no preload, byte for byte' cmp none.iso out.iso
ok 'nothing is left behind' sh -c '! find . -name "*.tmp-*" -o -name "reorder-livecd-*" | grep .'

done_testing
