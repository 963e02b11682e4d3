#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# remaster.sh PROGRAM: what a reorder with a kept trace takes, beside cp and beside unsquashfs +
# mksquashfs -sort + xorriso. The ISO is a boot-less one around a part of this machine's /usr; every
# 13th file is hot. The runs alternate, so that what else the machine does meets all of them. TREE_MB
# (before compression), COMPRESSORS and RUNS say what is measured, ISO and TRACE an ISO of one's own.
# QUICK leaves out the third way.
set -euo pipefail
export LC_ALL=C

program=$(realpath "$1") iso=${ISO:+$(realpath "$ISO")} trace=${TRACE:+$(realpath "$TRACE")}
tree_mb=${TREE_MB:-500} runs=${RUNS:-3}
read -ra compressors <<<"${COMPRESSORS:-zstd-3 xz}"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/reorder-bench-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

options() { # COMPRESSOR
	case $1 in
	zstd-*) echo "-comp zstd -Xcompression-level ${1#zstd-}" ;;
	*) echo "-comp $1" ;;
	esac
}

# Files of /usr up to the wanted sum, over and over with another end where there are too few.
make_tree() {
	local round=0 want=$((tree_mb * 1000000)) have=0
	find /usr/bin /usr/lib /usr/share -xdev -type f -size -16M -printf '%s %p\n' | sort -k2 >files
	mkdir -p tree/etc
	echo ID=bench >tree/etc/os-release # makes it a root filesystem
	while ((have < want)); do
		mkdir "tree/$round"
		awk -v left=$((want - have)) '{ if ((left -= $1) < 0) exit; sub(/^[0-9]+ /, ""); print }' \
			files >part
		tar -C / -cf - -T part 2>/dev/null | tar -C "tree/$round" -xf -
		((round == 0)) || find "tree/$round" -type f -exec sh -c \
			'for f; do echo "$0" >>"$f"; done' "$round" {} +
		have=$((have + $(awk '{ sum += $1 } END { printf "%d", sum }' files)))
		round=$((round + 1))
	done
}

make_iso() { # COMPRESSOR
	local -a opts
	read -ra opts <<<"$(options "$1")"
	rm -rf iso b.iso
	mkdir -p iso/live
	mksquashfs tree iso/live/filesystem.squashfs -quiet -no-progress "${opts[@]}"
	head -c 2048 /dev/zero >iso/boot.img
	xorriso -as mkisofs -quiet -r -V BENCH -b boot.img -no-emul-boot -boot-load-size 4 -o b.iso iso \
		2>/dev/null
	rm -rf iso
	(
		echo 'reorder-livecd trace 1'
		find tree -type f -size +0 -printf '%P\n' | sort -k1.2 | awk 'NR % 13 == 0 { n++
			gsub(/\\/, "\\134"); gsub(/ /, "\\040")
			printf "%.3f f open - /live/filesystem.squashfs %s\n", n / 1000, $0 }
			END { print "end", n }'
	) >b.trace
}

# timed NAME COMMAND…
timed() {
	local name=$1
	shift
	sync
	command time -o time -f '%e %U %S %M' "$@" >out 2>err || { cat err >&2; exit 1; }
	awk -v name="$name" '{ printf "%-12s %8.2f %8.2f %8.0f\n", name, $1, $2 + $3, $4 / 1024 }' time
}

# by_hand IN OUT: as is done today.
by_hand() {
	local path root
	path=$(awk '$5 ~ /^\// { print $5; exit }' b.trace) # the image
	root=root
	rm -rf root new.squashfs old.squashfs
	xorriso -osirrox on -indev "$1" -extract "$path" old.squashfs 2>/dev/null
	"$program" plan "$1" --trace b.trace -f mksquashfs -o sort --force 2>/dev/null
	unsquashfs -quiet -no-progress -d "$root" old.squashfs
	mksquashfs "$root" new.squashfs -quiet -no-progress -sort sort \
		-comp "$(unsquashfs -s old.squashfs | awk '$1 == "Compression" { print $2 }')"
	rm -f "$2"
	xorriso -indev "$1" -outdev "$2" -boot_image any replay -update new.squashfs "$path" 2>/dev/null
}
export program
export -f by_hand

measure() { # NAME
	local i
	printf '\n%s: ISO of %d MB, %d hot files\n' "$1" $(($(stat -Lc %s b.iso) / 1000000)) \
		"$(grep -c ' f ' b.trace)"
	printf '%-12s %8s %8s %8s\n' what wall cpu MiB
	for ((i = 0; i < runs; i++)); do
		rm -f copy.iso out.iso
		timed cp cp --reflink=never b.iso copy.iso
		rm -f copy.iso
		timed program "$program" b.iso out.iso --trace b.trace --json out.json --force
		jq -r '.seconds | to_entries | map("\(.key) \(.value * 100 | round / 100)") | join(", ")' \
			out.json 2>/dev/null || true
	done
	[ -n "${QUICK:-}" ] || timed 'by hand' bash -ec 'by_hand b.iso hand.iso'
}

if [ -n "$iso" ]; then
	ln -s "$iso" b.iso
	cp "$trace" b.trace
	measure "$(basename "$iso")"
	exit
fi
make_tree
for compressor in "${compressors[@]}"; do
	make_iso "$compressor"
	measure "$compressor"
done
