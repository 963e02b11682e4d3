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

run "$PROGRAM" in.iso out.iso --json result.json --save-trace boot.trace
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

declare -A boots
start_boot() {
	"$IMAGES/boot-check" out.iso "$1" 900 >"$1.log" 2>&1 &
	boots[$1]=$!
}
end_boot() {
	wait "${boots[$1]}"
	report $? "boots to the login prompt: $1" || diag "$(tail -n 20 "$1.log")"
}
start_boot bios-cd
start_boot uefi-cd
end_boot bios-cd
end_boot uefi-cd
start_boot uefi-usb
start_boot bios-usb

# The same boot again from the new ISO: what is read now, and from where.
mkdir work
run "$PROGRAM" trace out.iso -o second.trace --json second.json --accel tcg --work-dir work --keep-work
is "$status" 0 'the new ISO can be traced' || diag "$err"
diag "$err"
end_boot uefi-usb
end_boot bios-usb

# With layout end everything from the first hot byte on is hot data or metadata.
image=$(xorriso -indev out.iso -find /live/filesystem.squashfs -exec report_lba 2>/dev/null |
	awk -F'[:,]' '/File data lba/ {print $3 * 2048, $5}')
hot_share=$(awk -v hot="$(value .image.hot_start result)" -v image="$image" '
	BEGIN { split(image, i, " "); start = i[1]; end = start + i[2] }
	/^[0-9]/ {
		from = $2 > start ? $2 : start; to = $2 + $3 < end ? $2 + $3 : end
		if (to <= from) next
		all += to - from
		if (to > start + hot) near += to - (from > start + hot ? from : start + hot)
	}
	END { print all ? near / all : 0 }' work/*/reads.log)
is "$(jq -n "$hot_share >= 0.95")" true "$hot_share of the bytes read are hot data or metadata"

share() { jq -n --argjson a "$(value "$1" second)" --argjson b "$(value "$1" result)" '$a / $b'; }
requests=$(share .trace.image.requests)
bytes=$(share .trace.image.bytes)
diag "requests of the image: $requests of the original's; bytes: $bytes"
is "$(jq -n "$requests <= 0.65")" true 'at most 65 % of the requests'
is "$(jq -n "$bytes <= 0.70")" true 'at most 70 % of the bytes'
done_testing
