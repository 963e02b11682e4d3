#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
#
# The demo: a Debian live ISO, the whole job, the result booted in every way the input offers.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
"$IMAGES/demo-iso" in.iso >/dev/null || exit
input_sum=$(sha256sum <in.iso)

run "$PROGRAM" in.iso out.iso --json result.json --save-trace boot.trace --engine mksquashfs
is "$status" 0 'the whole job ends well' || diag "$err"
diag "$out"
value() { jq "$1" "$2.json"; }
is "$(value '.image.in_place == .image.planned' result)" true 'every boot file is in place'
is "$(value '.image.planned > 300' result)" true 'the boot files are many'
is "$(value '.trace.coverage >= 0.95' result)" true "the trace explains $(value .trace.coverage result) of the reads"
is "$(value .trace.lost_events result)" 0 'no event was lost'
is "$(sha256sum <in.iso)" "$input_sum" 'the input is untouched'
ok 'the implanted MD5 is right' checkisomd5 out.iso
for report in el_torito system_area; do
	ok "xorriso reports the same $report" diff \
		<(xorriso -indev in.iso "-report_$report" plain 2>/dev/null | sed -E 's/ +[0-9]+/ N/g') \
		<(xorriso -indev out.iso "-report_$report" plain 2>/dev/null | sed -E 's/ +[0-9]+/ N/g')
done

# Two machines at a time: each needs about one processor.
declare -A boots
for mode in bios-cd uefi-cd; do
	"$IMAGES/boot-check" out.iso $mode 900 >"$mode.log" 2>&1 &
	boots[$mode]=$!
done
for mode in bios-cd uefi-cd; do
	wait "${boots[$mode]}"
	report $? "boots to the login prompt: $mode" || diag "$(tail -n 20 "$mode.log")"
done
"$IMAGES/boot-check" out.iso uefi-usb 900 >uefi-usb.log 2>&1 &
usb=$!

# The same boot again from the new ISO: what is read now, and from where.
run "$PROGRAM" trace out.iso -o second.trace --json second.json
is "$status" 0 'the new ISO can be traced' || diag "$err"
diag "$err"
wait "$usb"
report $? 'boots to the login prompt: uefi-usb' || diag "$(tail -n 20 uefi-usb.log)"
ok 'boots to the login prompt: bios-usb' "$IMAGES/boot-check" out.iso bios-usb 900

share() { jq -n --argjson a "$(value "$1" second)" --argjson b "$(value "$1" result)" '$a / $b'; }
requests=$(share .trace.image.requests)
bytes=$(share .trace.image.bytes)
diag "requests of the image: $requests of the original's; bytes: $bytes"
is "$(jq -n "$requests <= 0.65")" true 'at most 65 % of the requests'
is "$(jq -n "$bytes <= 0.70")" true 'at most 70 % of the bytes'
done_testing
