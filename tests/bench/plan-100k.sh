#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# plan-100k.sh PROGRAM : time and peak memory of "plan" for a trace of 100,000 files.
set -euo pipefail
program=$(realpath "$1")
count=100000
tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/reorder-bench-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

# Small files in 1,000 directories, accessed in an order that is far from theirs.
perl -e '
	mkdir for qw(root root/etc root/usr root/usr/share iso iso/live);
	for my $i (0 .. $ARGV[0] - 1) {
		my $dir = sprintf("root/usr/share/package-%04d", $i / 100);
		mkdir $dir if $i % 100 == 0;
		open(my $f, ">", sprintf("%s/data-file-%06d", $dir, $i)); print $f "content $i\n";
	}' "$count"
echo ID=bench >root/etc/os-release # makes it a root filesystem
# Without -no-duplicates it would compare all files of one size with each other.
mksquashfs root iso/live/filesystem.squashfs -quiet -no-progress -no-duplicates -comp gzip
head -c 2048 /dev/zero >iso/boot.img
xorriso -as mkisofs -quiet -r -V BENCH -b boot.img -no-emul-boot -boot-load-size 4 -o b.iso iso 2>/dev/null
perl -e '
	my $n = $ARGV[0];
	print "reorder-livecd trace 1\n";
	for my $i (0 .. $n - 1) {
		my $k = $i * 7919 % $n;
		printf("%.6f f open 10 /live/filesystem.squashfs usr/share/package-%04d/data-file-%06d\n",
			$i / 1000, $k / 100, $k);
	}
	print "end $n\n"' "$count" >b.trace

for format in plan mksquashfs gensquashfs; do
	for order in access random; do
		command time -f "$format, $order: %e s (processor %U + %S), %M KiB" \
			"$program" plan b.iso --trace b.trace --order "$order" --format "$format" -o "$tmp/out" --force
	done
done
command time -f "plan, access, --also modules: %e s (processor %U + %S), %M KiB" \
	"$program" plan b.iso --trace b.trace --also modules -o "$tmp/out" --force
wc -l "$tmp/out"
