#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# splice.sh PROGRAM: how long the splice engine takes beside cp and beside unsquashfs + mksquashfs
# -sort, and its peak memory, on images of parts of this machine's /usr. The runs alternate, so that
# what else the machine does meets all of them. TREE_MB and COMPRESSORS say what is measured.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(dirname "$(realpath "$1")")
tree_mb=${TREE_MB:-500}
read -ra compressors <<<"${COMPRESSORS:-zstd-3 xz}"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/reorder-bench-XXXXXX")
trap 'rm -rf "$work"' EXIT

packages="glib-2.0 gio-2.0 json-glib-1.0 libsquashfs1 libisofs-1 blkid zlib liblzma libzstd liblz4"
# shellcheck disable=SC2046,SC2086
${CC:-cc} -O2 -std=gnu11 -D_GNU_SOURCE -I"$top" $(pkg-config --cflags $packages) \
	"$top/tests/bench/splice-image.c" "$build/libreorder.a" \
	$(pkg-config --libs $packages) -lbz2 -llzo2 -lm -o "$work/splice-image"

options() {
	case $1 in
	zstd-*) echo "-comp zstd -Xcompression-level ${1#zstd-}" ;;
	*) echo "-comp $1" ;;
	esac
}

# Files and their sizes, without those that change or are huge, up to the wanted sum.
make_list() {
	find /usr/bin /usr/lib /usr/share -xdev -type f -size -16M -printf '%s %P %H\n' |
		sort -k3 -k2 | awk -v max=$((tree_mb * 1000000)) \
		'NR % 7 == 0 { sum += $1; if (sum > max) exit; print $3 "/" $2 }'
}

seconds() { # COMMAND…: wall and processor seconds
	local TIMEFORMAT='%R %U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.2f %.2f\n", $1, $2 + $3 }'
}

mksquashfs_way() { # IMAGE OPTIONS…
	local image=$1
	shift
	rm -rf "$work/root" "$work/out.img"
	unsquashfs -quiet -no-progress -d "$work/root" "$image"
	mksquashfs "$work/root" "$work/out.img" -quiet -no-progress -sort "$work/sort" "$@"
}

make_list >"$work/list"
mkdir "$work/tree"
tar -C / -cf - -T "$work/list" 2>/dev/null | tar -C "$work/tree" -xf -
# A boot's share: every 13th file, in an order of its own.
awk 'NR % 13 == 0' "$work/list" | sort -t/ -k4 >"$work/hot"
awk '{ gsub(/[^A-Za-z0-9\/._-]/, "\\\\&"); print substr($0, 2), 32767 - NR }' \
	"$work/hot" >"$work/sort"
printf '%d files, %d hot\n' "$(wc -l <"$work/list")" "$(wc -l <"$work/hot")"
printf '%-8s %-16s %8s %8s %8s\n' image what wall cpu MB
for compressor in "${compressors[@]}"; do
	read -ra opts <<<"$(options "$compressor")"
	image=$work/$compressor.img
	mksquashfs "$work/tree" "$image" -quiet -no-progress "${opts[@]}"
	for _ in 1 2 3; do
		rm -f "$work/copy.img" "$work/out.img"
		read -r wall cpu <<<"$(seconds cp "$image" "$work/copy.img")"
		printf '%-8s %-16s %8s %8s\n' "$compressor" cp "$wall" "$cpu"
		read -r wall cpu mb <<<"$(TMPDIR=$work "$work/splice-image" "$image" "$work/hot" \
			"$work/out.img")"
		printf '%-8s %-16s %8s %8s %8s\n' "$compressor" splice "$wall" "$cpu" "$mb"
	done
	stat -c "$compressor before %s" "$image"
	stat -c "$compressor after  %s" "$work/out.img"
	if [ -z "${QUICK:-}" ]; then
		read -r wall cpu <<<"$(seconds mksquashfs_way "$image" "${opts[@]}")"
		printf '%-8s %-16s %8s %8s\n' "$compressor" mksquashfs "$wall" "$cpu"
	fi
done
