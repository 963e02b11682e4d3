#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The whole job with a kept trace, on a small ISO: no virtual machine.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
"$IMAGES/tiny-iso" --fast --md5sum --isomd5 in.iso || exit
input_sum=$(sha256sum <in.iso)

# The files that the guest would read, in an order of their own; odd names among them.
hot=(usr/sbin/init usr/bin/busybox usr/share/big/part-5 usr/share/big/part-2 'usr/share/odd/a\040b'
	'usr/share/odd/new\012line' 'usr/share/odd/back\134slash' usr/share/links/hot etc/hostname etc/os-release)
write_trace() { # FILE PATH…
	local file=$1 path i=0
	shift
	{
		echo 'reorder-livecd trace 1'
		for path; do
			i=$((i + 1))
			echo "$i.0 f read - /live/filesystem.squashfs $path"
		done
		echo "end $#"
	} >"$file"
}
write_trace boot.trace "${hot[@]}"

extract() { xorriso -osirrox on -indev "$1" -extract /live/filesystem.squashfs "$2" >/dev/null 2>&1; }
nothing_left() { ! find . -name '*.tmp-*' -o -name 'reorder-livecd-*' | grep .; }
tree_of() { unsquashfs -llc "$1" | sed 's/squashfs-root//' | sort -k6; }

for engine in mksquashfs splice; do
	run "$PROGRAM" in.iso "$engine.iso" --trace boot.trace --engine "$engine" --json "$engine.json"
	is "$status" 0 "$engine: exit status" || diag "$err"
	like "$out" '10 of 10 boot files in place' "$engine: all boot files are in place"
	is "$(jq -c '[.image.planned, .image.in_place, .plan.unmatched, .image.engine]' "$engine.json")" \
		"[10,10,0,\"$engine\"]" "$engine: the same in JSON"
	is "$(jq -c '[(.images | length), .images[0].reordered, .images[0].plan == .plan]' "$engine.json")" \
		'[1,true,true]' "$engine: and as the one of a list"
	ok "$engine: nothing is left behind" nothing_left
	ok "$engine: the implanted MD5 is right" checkisomd5 "$engine.iso"
	extract in.iso old.squashfs
	extract "$engine.iso" new.squashfs
	ok "$engine: unsquashfs finds the same tree" diff <(tree_of old.squashfs) <(tree_of new.squashfs)
	ok "$engine: sqfsdiff finds no difference" sqfsdiff -a old.squashfs -b new.squashfs
	mkdir x && xorriso -osirrox on -indev "$engine.iso" -extract / x >/dev/null 2>&1
	ok "$engine: md5sum.txt is right" sh -c 'cd x && md5sum --quiet -c md5sum.txt'
	chmod -R u+w x && rm -rf x old.squashfs new.squashfs
	is "$(blkid -o value -s UUID -s LABEL -p "$engine.iso" | sort | xargs)" \
		"$(blkid -o value -s UUID -s LABEL -p in.iso | sort | xargs)" "$engine: label and UUID"
done
is "$(sha256sum <in.iso)" "$input_sum" 'the input is untouched'

run "$PROGRAM" in.iso again.iso --trace boot.trace --engine splice -q
ok 'the same again gives the same bytes' cmp splice.iso again.iso
is "$out$err" '' '-q says nothing'

# Layouts and orders
run "$PROGRAM" in.iso front.iso --trace boot.trace --layout front --order size
is "$status" 0 'layout front, order size' || diag "$err"
run "$PROGRAM" in.iso random.iso --trace boot.trace --order random --seed 3
is "$status" 0 'order random' || diag "$err"

# Names
cp in.iso -- "-odd, 'name\" x.iso"
run "$PROGRAM" --trace boot.trace -- "-odd, 'name\" x.iso" "-out, 'o\".iso"
is "$status" 0 'names with dash, comma, quotes and spaces' || diag "$err"
ok 'the output has its odd name' test -s "./-out, 'o\".iso"

# What is refused
ln -s in.iso symlink.iso && ln in.iso hardlink.iso
refuse 2 'the input itself' 'output = input' in.iso in.iso --trace boot.trace --force
refuse 2 'the input itself' 'output = ./input' in.iso ./in.iso --trace boot.trace --force
refuse 2 'the input itself' 'output is a symlink to the input' in.iso symlink.iso --trace boot.trace --force
refuse 2 'the input itself' 'output is a hard link to the input' in.iso hardlink.iso --trace boot.trace --force
refuse 2 'exists; use --force' 'output exists' in.iso front.iso --trace boot.trace
refuse 1 'No such file' 'no directory for the output' in.iso no/such/out.iso --trace boot.trace
refuse 1 'missing.iso: No such file' 'no input' missing.iso out.iso --trace boot.trace
head -c 100000 /dev/urandom >garbage.iso
refuse 3 'garbage.iso' 'garbage' garbage.iso out.iso --trace boot.trace
head -c 3000000 in.iso >short.iso
refuse 3 'truncated' 'a truncated ISO' short.iso out.iso --trace boot.trace
write_trace foreign.trace nope/a nope/b nope/c
refuse 3 'another build' 'a trace of another build' in.iso out.iso --trace foreign.trace
echo broken >>foreign.trace
refuse 2 'foreign.trace:[0-9]+: ' 'a broken trace' in.iso out.iso --trace foreign.trace
refuse 1 'missing.trace.*No such file' 'no trace' in.iso out.iso --trace missing.trace
is "$(sha256sum <in.iso)" "$input_sum" 'the input is still untouched'
ok 'no output of a refused run' test ! -e out.iso
ok 'nothing is left of the refused runs' nothing_left

# Outputs that would destroy something
refuse 2 'the input itself' '--json is the input' in.iso out.iso --trace boot.trace --json ./in.iso --force
refuse 2 'a trace that is read' '--json is the trace' in.iso out.iso --trace boot.trace --json boot.trace --force
refuse 2 'another output' '--json is the output' in.iso out.iso --trace boot.trace --json ./out.iso --force
refuse 2 'another output' '--save-trace is the output' in.iso out.iso --save-trace out.iso
refuse 2 'exists; use --force' '--json exists' in.iso out.iso --trace boot.trace --json splice.json
refuse 2 'the input itself' 'inspect: --json is the input' inspect in.iso --json in.iso --force
refuse 1 'nosuch' '--json has no directory' in.iso out.iso --trace boot.trace --json nosuch/x.json
refuse 2 'name of an output is empty' 'an empty output' in.iso '' --trace boot.trace
refuse 2 'name of the input is empty' 'an empty input' '' out.iso --trace boot.trace
refuse 2 'both go to standard output' 'plan and JSON to standard output' plan in.iso -t boot.trace --json -
is "$(sha256sum <in.iso)" "$input_sum" 'no output was written over the input'

# A limit on file sizes
run bash -c 'ulimit -f 100; exec "$@"' - "$PROGRAM" in.iso out.iso --trace boot.trace
is "$status" 1 'a limit on file sizes: exit status' || diag "$err"
ok 'a limit on file sizes: nothing is left' nothing_left

# Space and permissions
mkdir small ro
if mount -t tmpfs -o size=1M none small 2>/dev/null; then
	at_exit 'umount -l "$TMP/small"'
	refuse 1 'MB free.*needed' 'no space in the work directory' in.iso out.iso --trace boot.trace --work-dir small
	refuse 1 'MB free.*needed' 'no space for the output' in.iso small/out.iso --trace boot.trace --work-dir .
	refuse 1 'MB free.*needed' 'TMPDIR is honoured' in.iso out.iso --trace boot.trace --work-dir small
	ok 'the small filesystem is empty again' sh -c '! ls small | grep .'
else
	skip 'no space' 'tmpfs cannot be mounted'
fi
if chattr +i ro 2>/dev/null; then
	at_exit 'chattr -i "$TMP/ro"'
	refuse 1 'ro/out.iso' 'an immutable output directory' in.iso ro/out.iso --trace boot.trace
else
	skip 'an immutable output directory' 'chattr +i does not work here'
fi
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	chmod 755 "$TMP" && mkdir -m 777 public
	unprivileged() { setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"; }
	run unprivileged "$PROGRAM" in.iso public/out.iso --trace boot.trace --engine mksquashfs
	is "$status" 1 'mksquashfs without root: exit status'
	like "$err" 'root' 'mksquashfs without root: the reason'
	run unprivileged "$PROGRAM" in.iso public/out.iso --trace boot.trace
	is "$status" 0 'splice without root' || diag "$err"
	ok 'the same bytes as root makes' cmp public/out.iso splice.iso
else
	skip 'unprivileged runs' 'needs root and setpriv'
fi

# Signals, in each phase: a program that hangs stands in for the real one.
hang_in() { # PROGRAM [ARGUMENT that makes it hang]
	mkdir -p shim && rm -f shim/*
	cat >"shim/$1" <<-EOF
		#!/bin/bash
		case " \$* " in *" ${2:-} "*) ;; *) exec $(command -v "$1") "\$@" ;; esac
		echo \$\$ >"$TMP/hanging"
		sleep 1000 & wait
	EOF
	chmod +x "shim/$1"
}
interrupt() { # SIGNAL NAME ARG…
	local signal=$1 name=$2 pid child
	shift 2
	rm -f hanging
	PATH=$TMP/shim:$PATH env --default-signal "$PROGRAM" "$@" >/dev/null 2>err.txt &
	pid=$!
	for _ in $(seq 100); do [ -s hanging ] && break; sleep 0.1; done
	child=$(cat hanging 2>/dev/null)
	kill "-$signal" "$pid"
	wait "$pid"
	is "$?" $((128 + $(kill -l "$signal"))) "$name: dies of SIG$signal" || diag "$(cat err.txt)"
	ok "$name: the child is gone" sh -c "! kill -0 ${child:-1}"
	ok "$name: nothing is left" nothing_left
	ok "$name: no output" test ! -e out.iso
}
hang_in mksquashfs -sort
interrupt INT 'rebuild' in.iso out.iso --trace boot.trace --engine mksquashfs
interrupt TERM 'rebuild' in.iso out.iso --trace boot.trace --engine mksquashfs
hang_in unsquashfs -dest
interrupt HUP 'unpack' in.iso out.iso --trace boot.trace --engine mksquashfs
hang_in xorriso -outdev
interrupt TERM 'write' in.iso out.iso --trace boot.trace --writer rebuild
# A tool that hangs after it has closed its output, one that lies, and one that is overtaken
hang_in xorriso -outdev
sed -i 's/^sleep/exec >\&- 2>\&-; sleep/' shim/xorriso
interrupt TERM 'write, output closed' in.iso out.iso --trace boot.trace --writer rebuild
shim_xorriso() { # SCRIPT to run instead of writing
	printf '#!/bin/bash\ncase " $* " in *" -outdev "*) %s ;; esac\nexec %s "$@"\n' "$1" "$(command -v xorriso)" >shim/xorriso
}
with_shim() { PATH=$TMP/shim:$PATH run "$PROGRAM" in.iso out.iso --trace boot.trace --writer rebuild; }
shim_xorriso 'exit 0'
with_shim
is "$status" 1 'an xorriso that writes nothing: exit status' || diag "$err"
shim_xorriso 'for a; do case $a in stdio:*iso.tmp-*) head -c 9000000 /dev/urandom >"${a#stdio:}" ;; esac; done; exit 0'
with_shim
is "$status" 1 'an xorriso that writes garbage: exit status' || diag "$err"
shim_xorriso "echo precious >'$TMP/out.iso'"
with_shim
is "$status $(cat out.iso)" '1 precious' 'a file that appears during the run is not replaced' || diag "$err"
rm -f out.iso
ok 'nothing is left of these' nothing_left
is "$(sha256sum <in.iso)" "$input_sum" 'the input survived the signals'

# Two traces: what both have first, and what that means told
write_trace one.trace "${hot[@]}"
write_trace two.trace "${hot[@]:1}"
run "$PROGRAM" in.iso merged.iso -t one.trace -t two.trace --engine splice --json merged.json
is "$status" 0 'two traces: exit status' || diag "$err"
like "$out" 'merged +2 traces: 9 in all of them, 1 in some; hardware decides about 0 groups' 'two traces: the summary'
is "$(jq -c '.plan.merged | [.traces, .in_all, .in_some.programs, .hardware]' merged.json)" '[2,9,1,{}]' 'the same in JSON'
run "$PROGRAM" plan in.iso -t one.trace -t two.trace
is "$(grep '^hot .* f ' <<<"$out" | tail -n 1)" 'hot 9 f usr/sbin/init read, 1 of 2 traces' 'and in the plan, with the reason'
run "$PROGRAM" plan in.iso -t one.trace -t two.trace --also auto
like "$err" 'warning: --also auto: the traces differ in no modules, firmware or display drivers' \
	'where hardware decides about nothing, --also auto says so'

# Damage to the input that shows only when it is compared: its attributes
if [ "$(id -u)" = 0 ]; then
	number() { od -An -t u8 -j "$1" -N 8 in.iso; }
	image=$(($(xorriso -indev in.iso -find /live/filesystem.squashfs -exec report_lba -- 2>/dev/null |
		awk -F, '/^File data/ { print $2 }') * 2048))
	attributes=$(($(number $((image + $(number $((image + 56)))))))) # where they begin
	cp in.iso damaged.iso
	printf '\377\377\377\377' | dd of=damaged.iso bs=1 seek=$((image + attributes + 2)) conv=notrunc status=none
	run "$PROGRAM" damaged.iso out.iso --trace boot.trace -q
	is "$status" 3 'damaged attributes: exit status'
	like "$err" '^reorder-livecd: damaged\.iso:/live/filesystem\.squashfs: attribute table: .*damaged$' \
		'damaged attributes: the reason'
	ok 'damaged attributes: nothing is left' nothing_left
else
	skip 'damaged attributes' 'needs root'
fi

# Without standard streams
(
	exec <&- >&- 2>&-
	"$PROGRAM" in.iso closed.iso --trace boot.trace
)
is "$?" 0 'standard streams closed'
ok 'standard streams closed: the same bytes' cmp closed.iso splice.iso

# Output to a full device, to a closed pipe
run sh -c '"$0" inspect in.iso >/dev/full' "$PROGRAM"
is "$status" 1 'a full standard output is an error'
ok 'a reader that goes away' sh -c '"$0" inspect in.iso | head -n 1' "$PROGRAM"
done_testing
