#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The medium plugin, with QEMU's block layer as the client.

# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

requires nbdkit --version
requires qemu-io --version
PLUGIN=$O/reorder-medium-plugin.so
requires test -e "$PLUGIN"

# serve NAME PARAMETER…: starts nbdkit; $uri leads to it, $pid is it, $log is its log.
serve() {
	local name=$1
	shift
	log=$TMP/$name.log
	uri="nbd+unix:///?socket=$TMP/$name.sock"
	nbdkit -f --exit-with-parent -U "$TMP/$name.sock" -P "$TMP/$name.pid" "$PLUGIN" \
		log="$log" "$@" 2>"$TMP/$name.err" &
	pid=$!
	for _ in $(seq 500); do
		[ -s "$TMP/$name.pid" ] && return
		sleep 0.02
	done
	diag "$(cat "$TMP/$name.err")"
	return 1
}
stop() {
	kill "$pid"
	wait "$pid"
}
reads() { grep -v -e '^#' -e '^reorder-livecd ' "$log"; }
# Offsets and lengths as "0+4096 8192+512".
requests() { reads | awk '{ printf "%s%d+%d", (NR > 1 ? " " : ""), $2, $3 }'; }
# calc EXPRESSION: 1 if it holds.
holds() { awk "BEGIN { exit !($1) }"; }
# seconds COMMAND…: wall time.
seconds() {
	local start=$EPOCHREALTIME
	"$@" >"$TMP/.seconds" 2>&1
	awk "BEGIN { print $EPOCHREALTIME - $start }"
}
io() { qemu-io -r -f raw "$@" "$uri"; }

dd if=/dev/urandom of="$TMP/medium, 1.iso" bs=1000 count=3001 2>/dev/null
truncate -s 700000000 "$TMP/disc"

# -- contents

serve plain "$TMP/medium, 1.iso"
ok "the medium has its size" test "$(qemu-img info --output=json "$uri" | jq '."virtual-size"')" -ge 3001000
: >"$TMP/copy"
qemu-img convert -f raw -O raw "$uri" "$TMP/copy" 2>/dev/null
ok "the contents come over unchanged" cmp -n 3001000 "$TMP/medium, 1.iso" "$TMP/copy"
run qemu-io -f raw -c 'write 0 4k' "$uri"
like "$out$err" '[Rr]ead.?only|Permission' "it cannot be written to"
stop
is "$(head -n 1 "$log")" "reorder-livecd reads 1" "the log says what it is"
is "$(grep '^# ' "$log" | grep -v '^# start [0-9.]*$' | tr '\n' ',')" \
	"# size 3001000,# slow 1,# drive none,# rate_inner 0,# rate_outer 0,# capacity 700000000,# seek_min 0,# seek_full 0,# request 0,# buffer 0,# gap 0," \
	"the log names the drive and its numbers"
is "$(reads | awk '$4 != 0' | wc -l)" 0 "no drive, no delay"
is "$(reads | awk '{ s += $3 } END { print (s >= 3001000) }')" 1 "all bytes are in the log"

# -- the log

serve exact "$TMP/disc"
io -c 'read 1M 64k' -c 'read 0 4k' -c 'read 699994112 2048' >/dev/null
stop
is "$(requests)" "1048576+65536 0+4096 699994112+2048" "each request is logged as it came"
is "$(reads | awk '$1 < last { bad = 1 } { last = $1 } END { print bad + 0 }')" 0 "times do not decrease"
is "$(reads | grep -vcE '^[0-9]+\.[0-9]{6} [0-9]+ [0-9]+ [0-9]+\.[0-9]{6}$')" 0 "lines are as documented"

# -- the drive

# Without read-ahead the delays don't depend on the client's pace.
serve cd "$TMP/disc" drive=cd buffer=0
taken=$(seconds io -c 'read 0 32k' -c 'read 175000064 2k' -c 'read 175002112 30k' -c 'read 0 2k')
stop
# Numerically integrated: 32 KiB at the hub; a quarter of the disc further on; sequential; all the way back.
is "$(reads | awk '{ printf "%s ", $4 }')" "0.021844 0.120917 0.013839 0.121371 " \
	"a CD takes what the model says"
sum=$(reads | awk '{ s += $4 } END { print s }')
ok "and the client waits for it ($taken s, modelled $sum s)" holds "$taken >= $sum && $taken < $sum + 0.5"

serve slow "$TMP/disc" drive=cd buffer=0 slow=5
taken=$(seconds io -c 'read 0 32k' -c 'read 175000064 2k' -c 'read 175002112 30k' -c 'read 0 2k')
stop
is "$(reads | awk '{ printf "%s ", $4 }')" "0.021844 0.120917 0.013839 0.121371 " \
	"in slow motion the log has modelled seconds"
ok "and the client waits five times as long ($taken s)" holds "$taken >= 5 * $sum && $taken < 5 * $sum + 0.5"
ok "the clock is slow, too" holds "$(reads | tail -n 1 | cut -d' ' -f1) < $taken / 2"

serve ahead "$TMP/disc" drive=cd
io -c 'read 0 32k' -c 'sleep 1000' -c 'read 32k 1M' -c 'read 500k 4k' >/dev/null
stop
is "$(reads | awk 'NR > 1 { printf "%s ", $4 }')" "0.000000 0.000000 " "what was read ahead is there at once"

serve bmc "$TMP/disc" drive=bmc
taken=$(seconds qemu-img bench -f raw -c 16 -d 8 -s 65536 "$uri")
stop
is "$(reads | awk '$4 != "0.031384"' | wc -l)" 0 "virtual media: 15 ms and 4 MB/s each"
ok "requests side by side are served one after the other ($taken s)" holds "$taken >= 16 * 0.031384"

serve stick "$TMP/disc" drive=usb2 request=0.05
io -c 'read 0 28000256' >/dev/null
stop
is "$(reads | awk '{ s += $4; n++ } END { printf "%.5f", s - n * 0.05 }')" "1.00001" "a number of the drive can be overridden"
like "$(cat "$log")" '^# request 0\.05$' "the log has the number as it was used"

# -- bytes that cannot be read

serve bad "$TMP/medium, 1.iso" error=65536:2048
run io -c 'read 61440 4096' -c 'read 67584 512'
is "$status" 0 "what is beside the bad bytes can be read"
for request in '61440 8192' '67072 512' '0 1M'; do
	run io -c "read $request"
	like "$status $out$err" '^1 .*Input/output error' "what touches them cannot: $request"
done
stop
is "$(requests)" "61440+4096 67584+512 61440+8192 67072+512 0+1048576" "what failed is in the log, too"

# -- killed

serve killed "$TMP/disc" drive=bmc
qemu-img bench -f raw -c 1000 -d 4 -s 4096 "$uri" >/dev/null 2>&1 &
client=$!
while [ "$(reads | wc -l)" -lt 20 ]; do sleep 0.02; done
disown "$pid"
kill -KILL "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
kill "$client" 2>/dev/null
wait "$client" 2>/dev/null
ok "a killed server leaves a log" test "$(reads | wc -l)" -ge 20
is "$(tail -c 1 "$log" | xxd -p)" 0a "its last line is whole"
is "$(reads | grep -vcE '^[0-9]+\.[0-9]{6} [0-9]+ 4096 0\.016024$')" 0 "so are the others"

serve ended "$TMP/disc" drive=bmc request=60
io -c 'read 0 4k' >/dev/null 2>&1 &
client=$!
while [ "$(reads | wc -l)" -lt 1 ]; do sleep 0.02; done
taken=$(seconds stop)
ok "a request that takes long does not hold up the end ($taken s)" holds "$taken < 20"
wait "$client"

# -- wrong use

fails() { # NAME REGEX PARAMETER…
	local name=$1 regex=$2
	shift 2
	run timeout 20 nbdkit -f -U "$TMP/fails.sock" "$PLUGIN" "$@"
	like "$status $err" "^1 .*$regex" "$name"
}
fails "a file is needed" 'file= and log= must be given' log="$TMP/x"
fails "a log is needed" 'file= and log= must be given' "$TMP/disc"
fails "the file must be there" 'none\.iso: open: No such file' "$TMP/none.iso" log="$TMP/x"
fails "the log must be writable" '/dev/full: write: No space' "$TMP/disc" log=/dev/full
fails "an unknown drive is refused" 'drive=floppy: no such drive' "$TMP/disc" log="$TMP/x" drive=floppy
fails "two drives are refused" 'drive=dvd: must be given once' "$TMP/disc" log="$TMP/x" drive=cd drive=dvd
fails "an unknown number is refused" 'warp=9: unknown' "$TMP/disc" log="$TMP/x" warp=9
fails "a negative number is refused" 'seek_min=-1: unknown parameter, or negative' "$TMP/disc" log="$TMP/x" seek_min=-1
fails "text is no number" 'seek_min=1ms: not a number' "$TMP/disc" log="$TMP/x" seek_min=1ms
fails "numbers must go together" 'rate_inner and rate_outer' "$TMP/disc" log="$TMP/x" rate_inner=5
for value in 1 1: :1 1:0 1:-1 1:2:3 x:1 1:99999999999999999999; do
	fails "bad bytes are two numbers, not $value" 'must be OFFSET:LENGTH' "$TMP/disc" log="$TMP/x" error=$value
done
fails "slow motion must be a sane factor" 'slow=0: must be from' "$TMP/disc" log="$TMP/x" slow=0

done_testing
