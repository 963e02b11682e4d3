#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# layouts.sh PROGRAM [OUT-DIR]: what boots of the console and of the desktop demo ISO and of one with
# an ext4 root (dracut) cost on modelled drives, by engine, layout and number of traces, and by the recipe
# of 2007: one boot of each from a drive without delay, whose log of reads is replayed on the others.
# What OUT-DIR has already is not made or booted again. ISOS says which (console desktop dracut).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
out=${2:-$(dirname "$program")/bench/layouts}
read -ra isos <<<"${ISOS:-console desktop dracut}"
mkdir -p "$out"
cd "$out"

make_iso() { # NAME
	case $1 in
	console) "$here/../images/demo-iso" "$1.iso" ;;
	desktop) "$here/../images/demo-iso" --desktop "$1.iso" ;;
	dracut) "$here/../images/dracut-iso" --ext4 "$1.iso" ;;
	esac
}

end_rule() { # NAME
	case $1 in
	console | dracut) echo 'console:login:' ;;
	desktop) echo 'console:desktop: ready' ;;
	esac
}

variants() { # NAME
	case $1 in
	console | desktop) echo mksquashfs front end two-traces ;;
	dracut) echo recipe-2007 front end two-traces ;;
	esac
}

# record ISO-NAME BOOTED [OPTION…]: BOOTED.trace and BOOTED.log of a boot of BOOTED.iso.
record() {
	local name=$1 iso=$2 work=work.$2
	shift 2
	[ ! -e "$iso.log" ] || return 0
	rm -rf "$work"
	mkdir "$work"
	"$program" trace "$iso.iso" -o "$iso.trace" --until "$(end_rule "$name")" --timeout 2400 \
		--work-dir "$work" --keep-work --force "$@" >&2
	mv "$work"/*/reads.log "$iso.log"
	rm -rf "$work"
}

reorder() { # ISO-NAME VARIANT
	local -a options=(--trace "$1.trace")
	case $2 in
	mksquashfs) options+=(--engine mksquashfs) ;;
	front | end) options+=(--layout "$2") ;;
	two-traces)
		ln -f "$1.iso" "$1-again.iso"
		record "$1" "$1-again"
		options+=(--trace "$1-again.trace")
		;;
	recipe-2007)
		ln -f "$1.iso" "$1-atime.iso"
		record "$1" "$1-atime" --tracer atime
		options=(--trace "$1-atime.trace" --order size --layout front)
		;;
	esac
	"$program" "$1.iso" "$1-$2.iso" "${options[@]}" --force >&2
}

row() { # TITLE LOG
	printf '| %s ' "$1"
	"$program" simulate "$2" --json - | jq -rj '.simulated | map({(.drive): .}) | add |
		"| \(.cd.requests) | \(.cd.bytes / 1e5 | round / 10) | \(.cd.long_seeks) | " +
		([.cd, .usb2, .bmc] | map(.busy_seconds * 10 | round / 10 | tostring) | join(" | ")) + " |\n"'
}

for name in "${isos[@]}"; do
	[ -e "$name.iso" ] || make_iso "$name"
	record "$name" "$name"
	for variant in $(variants "$name"); do
		[ -e "$name-$variant.log" ] || reorder "$name" "$variant"
		record "$name" "$name-$variant"
	done
done
{
	echo '| | requests | MB | long seeks (cd) | cd, s busy | usb2 | bmc |'
	echo '|---|---|---|---|---|---|---|'
	for name in "${isos[@]}"; do
		row "$name, original" "$name.log"
		for variant in $(variants "$name"); do
			row "$name, $variant" "$name-$variant.log"
		done
	done
} | tee layouts.md
