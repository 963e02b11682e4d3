#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# compare.sh PROGRAM [OUT-DIR]: how much faster the demo ISO boots, as the README's table. On 2 quiet
# processors it takes about an hour. RUNS sets the boots of each (5).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$1
out=${2:-$(dirname "$program")/bench}
runs=${RUNS:-5}
rules=(--accel tcg --until 'console:login:')

mkdir -p "$out"
in=$out/in.iso new=$out/out.iso
[ -e "$in" ] || "$here/../images/demo-iso" "$in"
"$program" --force "$in" "$new" --json "$out/reorder.json"
"$program" --force "$in" "$out/random.iso" --order random --json "$out/random.json"

# compare NAME A B OPTION…
compare() {
	local name=$1
	shift
	"$program" compare "$@" "${rules[@]}" --force --report "$out/$name.html" --json "$out/$name.json" >&2
}
compare laptop2008 "$in" "$new" --drive cd -n "$runs"
compare modern "$in" "$new" --drive cd -n 2 --slow-motion 15
compare same "$in" "$in" --drive cd -n 4
compare random "$in" "$out/random.iso" --drive cd -n 2

# row NAME TITLE
row() {
	jq -r --arg title "$2" 'def two: . * 100 | round / 100; def one: . * 10 | round / 10;
		.results.total as $t |
		[$title, (.slow_motion | one),
		"\($t.seconds.a.median | one) ± \($t.seconds.a.sd | one) s",
		"\($t.seconds.b.median | one) ± \($t.seconds.b.sd | one) s",
		"\($t.seconds.ratio | two) (\($t.seconds.low | two) to \($t.seconds.high | two))",
		"\($t.long_seeks.a.median) → \($t.long_seeks.b.median)",
		"\($t.busy_seconds.a.median | one) → \($t.busy_seconds.b.median | one) s",
		"\(.a.above_floor * 100 | round) → \(.b.above_floor * 100 | round) %"] |
		"| " + (map(tostring) | join(" | ")) + " |"' "$out/$1.json"
}
{
	printf '%s, %s, load %s when it began\n\n' "$(date -u +%F)" "$("$program" --version)" \
		"$(jq '.host_load' "$out/laptop2008.json")"
	echo '| | slow motion | before | after | before / after (95 %) | long seeks | drive busy | above the floor |'
	echo '|---|---|---|---|---|---|---|---|'
	row laptop2008 'CD, laptop of 2008'
	row modern 'CD, modern machine'
	row same 'the same ISO twice'
	row random '`--order random`'
} | tee "$out/compare.md"
