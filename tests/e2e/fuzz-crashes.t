#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The fuzz targets without a fuzzer, on what fuzzing starts with and on what it has found: the inputs in
# tests/fuzz/crashes, which crashed, hung or took memory without end once.

# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# Leaks hide in GLib's own allocator. Memory as in tests/fuzz/run.
export G_SLICE=always-malloc ASAN_OPTIONS=max_allocation_size_mb=600:hard_rss_limit_mb=2048
targets=$(dirname "$PROGRAM")/fuzz

ok 'the seeds are made' "$TOP/tests/fuzz/seeds" "$TMP/seeds"
for source in "$TOP"/tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != replay ] || continue
	ok "$target: an empty input and the seeds" "$targets/$target" /dev/null "$TMP/seeds/$target"/*
	for input in "$TOP/tests/fuzz/crashes/$target"/*; do
		[ ! -f "$input" ] || ok "$target: $(basename "$input")" "$targets/$target" "$input"
	done
done
done_testing
