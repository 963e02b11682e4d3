#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What fuzzing has found once: every input in tests/fuzz/crashes, and an empty one, by the fuzz targets without a fuzzer.

# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# A crash file shall not take more than it did when its fault was mended.
export G_SLICE=always-malloc ASAN_OPTIONS=max_allocation_size_mb=600:hard_rss_limit_mb=2048
targets=$(dirname "$PROGRAM")/fuzz

for source in "$TOP"/tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != replay ] || continue
	ok "$target: an empty input" "$targets/$target" /dev/null
	for input in "$TOP/tests/fuzz/crashes/$target"/*; do
		[ ! -f "$input" ] || ok "$target: $(basename "$input")" "$targets/$target" "$input"
	done
done
done_testing
