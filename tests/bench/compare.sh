#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# compare.sh PROGRAM [OUT-DIR]: how much faster the demo ISO boots, as the README's table. On 2 quiet
# processors it takes two and a half hours. What OUT-DIR has already is not made or measured again. RUNS
# sets the boots of each (5), ONLY the names of what is measured (laptop2008 same random modern).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$1
out=${2:-$(dirname "$program")/bench}
runs=${RUNS:-5}
rules=(--accel tcg --until 'console:login:')

mkdir -p "$out"
in=$out/in.iso new=$out/out.iso
[ -e "$in" ] || "$here/../images/demo-iso" "$in"
[ -e "$new" ] || "$program" "$in" "$new" --accel tcg --save-trace "$out/boot.trace" --force
[ -e "$out/random.iso" ] || "$program" "$in" "$out/random.iso" --trace "$out/boot.trace" --order random

# compare NAME A B OPTION…
compare() {
	local name=$1
	shift
	[ ! -e "$out/$name.json" ] || return 0
	case " ${ONLY:-$name} " in *" $name "*) ;; *) return 0 ;; esac
	"$program" compare "$@" "${rules[@]}" --report "$out/$name.html" --json "$out/$name.json" >&2
}
compare laptop2008 "$in" "$new" --drive cd -n "$runs"
# The others in the slow motion that was found then.
k=$(jq .slow_motion "$out/laptop2008.json")
compare same "$new" "$new" --drive cd -n 4 --slow-motion "$k"
compare random "$new" "$out/random.iso" --drive cd -n 2 --slow-motion "$k"
compare modern "$in" "$new" --drive cd -n 2 --slow-motion 15

# row NAME TITLE
row() {
	[ -e "$out/$1.json" ] || return 0
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
	printf '%s, %s, %s\n\n' "$(date -u +%F)" "$("$program" --version)" \
		"$(qemu-system-x86_64 --version | head -n 1)"
	echo '| | slow motion | before | after | before / after (95 %) | long seeks | drive busy | above the floor |'
	echo '|---|---|---|---|---|---|---|---|'
	row laptop2008 'original / reordered'
	row modern 'the same, a modern machine'
	row same 'reordered / the same'
	row random 'reordered / `--order random`'
} | tee "$out/compare.md"
