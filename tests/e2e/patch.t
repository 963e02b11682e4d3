#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The patch writer: only the image and its checksums differ, whatever else is on the ISO; and the same in place, also
# when the run is killed at any point.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154  # status, out and err are set by run

cd "$TMP" || exit
requires genisoimage --version
image=live/filesystem.squashfs
trace() { # PATH…
	local i=0 path
	echo 'reorder-livecd trace 1'
	for path; do
		i=$((i + 1))
		echo "$i.0 f read - /$image $path"
	done
	echo "end $#"
}
trace usr/sbin/init usr/share/big/part-5 usr/bin/busybox >boot.trace
extract() { # ISO DIR
	rm -rf "$2"
	xorriso -osirrox on -indev "$1" -extract / "$2" >/dev/null 2>&1
	chmod -R u+w "$2"
}

"$IMAGES/tiny-iso" --fast --md5sum --sha512-beside --isomd5 isolinux-hybrid.iso || exit
"$IMAGES/tiny-iso" --fast --md5sum --sha512-beside --boot-style grub2-appended-esp gpt-appended-esp.iso || exit
extract isolinux-hybrid.iso tree
seq 30000 >tree/zisofs.txt
bios=(-b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table)
mbr=$(find /usr/lib/ISOLINUX /usr/lib/syslinux /usr/share/syslinux -name isohdpfx.bin 2>/dev/null | head -n 1)
efi=$(cd tree && find . -name 'efi*.img' | head -n 1)
genisoimage -quiet -J -l -V JOLIET -o joliet-only.iso "${bios[@]}" tree 2>genisoimage.err || diag "$(cat genisoimage.err)"
genisoimage -quiet -udf -J -R -allow-limited-size -V UDF -o udf-bridge.iso "${bios[@]}" tree 2>genisoimage.err ||
	diag "$(cat genisoimage.err)"
xorriso -as mkisofs -quiet -o apm.iso -V APM -J -R -isohybrid-mbr "$mbr" "${bios[@]}" -eltorito-alt-boot \
	-e "${efi#./}" -no-emul-boot -isohybrid-gpt-basdat -isohybrid-apm-hfsplus tree 2>/dev/null
xorriso -indev apm.iso -outdev zisofs.iso -boot_image any replay -set_filter --zisofs /zisofs.txt -- \
	-commit >/dev/null 2>&1
implantisomd5 udf-bridge.iso >/dev/null

# Sectors of a file.
sectors() { # ISO PATH
	xorriso -indev "$1" -find "$2" -exec report_lba -- 2>/dev/null | awk -F, '/^File data/ {print $2 * 2048, ($2 + $3) * 2048}'
}
lists() { (cd tree && find . -name md5sum.txt -o -name '*.sha512' | sed 's/^\.//'); }
only_listed_bytes_differ() { # OLD NEW
	local path
	{
		echo $((32768 + 883)) $((32768 + 883 + 512))
		for path in "/$image" $(lists); do sectors "$1" "$path"; done
	} >ranges
	[ "$(stat -c %s "$1")" = "$(stat -c %s "$2")" ] || return 1
	cmp -l "$1" "$2" | awk 'NR == FNR {from[NR] = $1; to[NR] = $2; n = NR; next}
		{at = $1 - 1; ok = 0; for (i = 1; i <= n; i++) if (at >= from[i] && at < to[i]) ok = 1
		if (!ok) {print "byte " at; exit 1}}' ranges -
}
differs() { ! cmp -s "$1" "$2"; }

for name in isolinux-hybrid gpt-appended-esp joliet-only udf-bridge apm zisofs; do
	case $name in joliet-only) plain=-joliet ;; *) plain= ;; esac
	run "$PROGRAM" "$name.iso" "$name.out" --trace boot.trace --json "$name.json"
	is "$status" 0 "$name: exit status" || diag "$err"
	is "$(jq -r .output.writer "$name.json")" patch "$name: the patch writer"
	like "$out" 'writer +patch: the new image fits' "$name: and why"
	ok "$name: something differs" differs "$name.iso" "$name.out"
	if [ -z "$plain" ]; then
		ok "$name: nothing but the image and its checksums" only_listed_bytes_differ "$name.iso" "$name.out"
	fi
	if checkisomd5 "$name.iso" >/dev/null 2>&1; then
		ok "$name: the implanted MD5 is right" checkisomd5 "$name.out"
	fi
	extract "$name.out" new
	if [ -z "$plain" ]; then
		ok "$name: md5sum.txt is right" sh -c 'cd new && md5sum --quiet -c md5sum.txt 2>/dev/null || md5sum -c md5sum.txt | grep -c FAILED | grep -qx "$(cd ../tree && md5sum -c md5sum.txt 2>/dev/null | grep -c FAILED)"'
		ok "$name: the list beside the image is right" sh -c 'cd new/live && sha512sum --quiet -c *.sha512'
		ok "$name: unsquashfs takes the image" unsquashfs -llc "new/$image"
	fi
done
is "$(jq -c '[.output.checksum_lines_renewed, .output.isomd5_renewed]' isolinux-hybrid.json)" '[3,true]' 'what was renewed'
ok 'implantisomd5 would write the same' sh -c 'cp isolinux-hybrid.out i.iso && implantisomd5 -f i.iso >/dev/null && cmp i.iso isolinux-hybrid.out'
is "$(blkid -p -s TYPE -o value udf-bridge.out)" "$(blkid -p -s TYPE -o value udf-bridge.iso)" 'udf-bridge: blkid sees the same'
run "$PROGRAM" isolinux-hybrid.out again.iso --trace boot.trace -q
ok 'reordered again: the same bytes' cmp again.iso isolinux-hybrid.out

for name in udf-bridge:UDF zisofs:zisofs joliet-only:'Rock Ridge'; do
	refuse 3 "${name#*:}" "${name%%:*}: not with the rebuild writer" "${name%%:*}.iso" no.iso --trace boot.trace \
		--writer rebuild
done

# Without reflinks and copy_file_range: from another filesystem.
if mkdir other && mount -t tmpfs -o size=40M none other 2>/dev/null; then
	at_exit 'umount -l "$TMP/other"'
	run "$PROGRAM" isolinux-hybrid.iso other/out.iso --trace boot.trace --work-dir other
	is "$status" 0 'to another filesystem' || diag "$err"
	ok 'to another filesystem: the same bytes' cmp other/out.iso isolinux-hybrid.out
	rm other/out.iso && cp isolinux-hybrid.iso other/in.iso
	head -c $((40 * 1048576 - 7340032 - 3000000)) /dev/zero >other/ballast
	run "$PROGRAM" other/in.iso --in-place --trace boot.trace --work-dir .
	is "$status" 1 'no room for the journal: exit status'
	like "$err" 'MB free.*needed for the undo journal' 'no room for the journal: the reason'
	ok 'no room for the journal: the ISO is as it was' cmp other/in.iso isolinux-hybrid.iso
else
	skip 'another filesystem' 'tmpfs cannot be mounted'
fi
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	chmod 755 "$TMP" && mkdir -m 777 public
	unprivileged() { setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"; }
	run unprivileged "$PROGRAM" udf-bridge.iso public/out.iso --trace boot.trace --work-dir public
	is "$status" 0 'without root' || diag "$err"
	ok 'the same bytes as root makes' cmp public/out.iso udf-bridge.out
	cp isolinux-hybrid.iso public/mine.iso
	run unprivileged "$PROGRAM" public/mine.iso --in-place --trace boot.trace --work-dir public
	is "$status" 1 'in place without the right to write: exit status'
	like "$err" 'mine.iso: open to change it in place: Permission denied' 'in place without the right to write: the reason'
	chmod 666 public/mine.iso && chmod 755 public
	# Known before the work, for which there is no place either.
	run unprivileged "$PROGRAM" public/mine.iso --in-place --trace boot.trace --work-dir /nowhere
	is "$status" 1 'no place for the journal: exit status'
	like "$err" 'reorder-undo.tmp: the undo journal cannot be created: Permission denied' 'no place for the journal: the reason'
	ok 'no place for the journal: the ISO is as it was' cmp public/mine.iso isolinux-hybrid.iso
else
	skip 'unprivileged runs' 'needs root and setpriv'
fi

# In place
fresh() { cp isolinux-hybrid.iso mine.iso; }
nothing_left() { ! find . -name '*.reorder-undo*' -o -name '*.tmp-*' -o -name 'reorder-livecd-*' | grep .; }
fresh
run "$PROGRAM" mine.iso --in-place --trace boot.trace
is "$status" 0 'in place: exit status' || diag "$err"
ok 'in place: the same bytes as in a new file' cmp mine.iso isolinux-hybrid.out
ok 'in place: nothing is left' nothing_left
run "$PROGRAM" recover mine.iso
is "$status $out" '0 mine.iso: nothing to recover' 'recover finds nothing to do'

fresh
refuse 2 'one argument too many' 'in place with an output' mine.iso out.iso --in-place --trace boot.trace
refuse 2 'exclude each other' 'in place, rebuilt' mine.iso --in-place --writer rebuild --trace boot.trace
refuse 2 'exclude each other' 'in place, compared' mine.iso --in-place --compare --trace boot.trace
ln mine.iso second-name.iso
refuse 3 'hard links' 'in place with two names' mine.iso --in-place --trace boot.trace
rm second-name.iso
# The lock of another run, by descriptor 9 (iso/lock.h).
lock() { # F_RDLCK|F_WRLCK
	python3 -c 'import fcntl, struct, sys
fcntl.fcntl(9, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", getattr(fcntl, sys.argv[1]), 0, 0x726c6364 << 32, 1, 0))' "$1"
}
exec 9<>mine.iso && lock F_RDLCK
refuse 1 'in use by another run' 'in place while another run reads it' mine.iso --in-place --trace boot.trace
lock F_WRLCK
refuse 1 'another run of reorder-livecd is changing it' 'reading while another run changes it' inspect mine.iso
exec 9<&-
ok 'refused: the ISO is as it was' cmp mine.iso isolinux-hybrid.iso
mkdir links && ln -s ../mine.iso links/link.iso
run "$PROGRAM" links/link.iso --in-place --trace boot.trace -q
is "$status" 0 'in place through a symlink' || diag "$err"
ok 'in place through a symlink: the file it leads to' cmp mine.iso isolinux-hybrid.out
ok 'in place through a symlink: it is still one' test -L links/link.iso

# An image that grows: two kinds of text that a boot reads in turn; gzip has nothing to pack tighter with.
mkdir -p root/usr/sbin root/etc root/a root/b
printf '#!/bin/sh\n' >root/usr/sbin/init
printf 'ID=test\n' >root/etc/os-release
chmod +x root/usr/sbin/init
hot=()
for i in $(seq 100 299); do
	seq $((i * 37)) $((i * 37 + 400)) >"root/a/$i"
	seq $((i * 37)) $((i * 37 + 400)) | base64 >"root/b/$i"
	[ $((i % 3)) != 0 ] || hot+=("a/$i" "b/$((399 - i))")
done
trace "${hot[@]}" >grow.trace
mksquashfs root grow.squashfs -quiet -no-progress -all-root -comp gzip
cp -r tree grown && cp grow.squashfs "grown/$image" && rm grown/live/*.sha512 grown/md5sum.txt
genisoimage -quiet -J -R -no-pad -V GROW -o tight.iso "${bios[@]}" grown 2>/dev/null
genisoimage -quiet -udf -J -R -no-pad -V GROW -o tight-udf.iso "${bios[@]}" grown 2>/dev/null
echo "grown/$image -1000" >order
genisoimage -quiet -J -R -pad -sort order -V GROW -o roomy.iso "${bios[@]}" grown 2>/dev/null
run "$PROGRAM" tight.iso tight.out --trace grow.trace
is "$status" 0 'too large: exit status' || diag "$err"
like "$out" 'writer +rebuild: the new image is [0-9]+ bytes too large for the place of the old one' 'too large: rebuilt, and why'
refuse 3 'bytes too large.*use --writer rebuild' 'too large for --writer patch' tight.iso no.iso --trace grow.trace --writer patch -q
cp tight.iso mine.iso
refuse 3 'bytes too large.*write a new ISO' 'too large for in place' mine.iso --in-place --trace grow.trace -q
ok 'too large: the ISO is as it was' cmp tight.iso mine.iso
run "$PROGRAM" tight-udf.iso no.iso --trace grow.trace -q
is "$status" 3 'too large, and a UDF bridge: exit status'
like "$err" 'bytes too large.*made anew:.*UDF' 'too large, and a UDF bridge: the reason'
is "$(grep -vc 'warning: tight-udf.iso: UDF' <<<"$err")" 1 'too large, and a UDF bridge: one line, as it was warned of'
ok 'too large: no output' test ! -e no.iso
run "$PROGRAM" roomy.iso roomy.out --trace grow.trace
like "$out" 'writer +patch' 'larger, with free sectors behind it: patched' || diag "$err"
size_in() { isoinfo "$2" -l -i "$1" 2>/dev/null | awk '/squashfs/ {print $5}'; }
is "$(size_in roomy.out -R)" "$(size_in roomy.out -J)" 'larger: the same size in both trees'
extract roomy.iso old && extract roomy.out new
ok 'larger: it has grown' test "$(stat -c %s "new/$image")" -gt "$(stat -c %s "old/$image")"
ok 'larger: the same files' sqfsdiff -a "old/$image" -b "new/$image"
ok 'larger: nothing else changed' sh -c "rm old/$image new/$image && diff -r old new"

# Killed at every point from the first byte of the journal on
fresh
${CC:-cc} -shared -fPIC -O1 -D_FILE_OFFSET_BITS=64 -D_GNU_SOURCE -o kill-at.so "$TOP/tests/e2e/kill-at.c" || exit
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
killable() { { LD_PRELOAD=$TMP/kill-at.so "$PROGRAM" "$@" >/dev/null; } 2>killed.err; }
KILL_COUNT=$TMP/count killable mine.iso --in-place --trace boot.trace
calls=$(cat count)
ok "there are points to be killed at ($calls)" test "$calls" -gt 15
points=0 old=0 new=0 wrong=0
for how in before torn after; do
	for at in $(seq "$calls"); do
		fresh
		KILL_AT=$at KILL_HOW=$how killable mine.iso --in-place --trace boot.trace
		[ $? = 137 ] || continue
		points=$((points + 1))
		if [ -e mine.iso.reorder-undo ]; then
			"$PROGRAM" inspect mine.iso >/dev/null 2>inspect.err && wrong=$((wrong + 1))
			grep -q 'reorder-livecd recover' inspect.err || wrong=$((wrong + 1))
		fi
		case $((at % 2)) in
		0) "$PROGRAM" recover mine.iso >/dev/null || wrong=$((wrong + 1)) ;;
		1) # and killed again while it recovers
			KILL_UNDO=1 KILL_AT=$((at / 2 + 1)) KILL_HOW=$how killable recover mine.iso
			"$PROGRAM" recover mine.iso >/dev/null || wrong=$((wrong + 1))
			;;
		esac
		if cmp -s mine.iso isolinux-hybrid.iso; then old=$((old + 1)); elif cmp -s mine.iso isolinux-hybrid.out; then
			new=$((new + 1)); else wrong=$((wrong + 1)); fi
		rm -rf reorder-livecd-*
		find . -maxdepth 1 -name '*.reorder-undo*' | grep -q . && wrong=$((wrong + 1))
	done
done
diag "killed at $points points: old $old, new $new"
ok 'at least 50 points' test "$points" -ge 50
is "$wrong" 0 'recovered every time: the old or the new ISO, whole'
ok 'both happen' test "$old" -gt 0 -a "$new" -gt 0

# The next run in place puts things in order by itself.
fresh
KILL_AT=$((calls - 4)) KILL_HOW=before killable mine.iso --in-place --trace boot.trace
ok 'a journal is left' test -e mine.iso.reorder-undo
cp mine.iso half.iso && cp mine.iso.reorder-undo half.iso.reorder-undo
run "$PROGRAM" mine.iso --in-place --trace boot.trace
is "$status" 0 'the next run' || diag "$err"
like "$err" 'interrupted is undone' 'the next run says so'
ok 'the next run: the new ISO' cmp mine.iso isolinux-hybrid.out

# Journals that are not to be trusted
flip() { printf '\377' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
cp half.iso.reorder-undo good-journal && cp half.iso half-copy.iso
for at in 0 20 40 200000; do
	cp good-journal half.iso.reorder-undo && flip half.iso.reorder-undo "$at"
	refuse 1 'damaged' "a journal with a wrong byte at $at" recover half.iso
done
head -c 300000 good-journal >half.iso.reorder-undo
refuse 1 'damaged' 'half a journal' recover half.iso
ok 'nothing was changed by these' cmp half.iso half-copy.iso
cp good-journal half.iso.reorder-undo && flip half.iso 33000
refuse 1 'not the ISO that .* was made for' 'the journal of another ISO' recover half.iso
cp half-copy.iso half.iso
mkfifo fifo
for odd in good-journal fifo /nowhere; do
	ln -sf "$odd" half.iso.reorder-undo
	refuse 1 'reorder-undo: not a file' "a journal that is a symlink to $odd" recover half.iso
done
rm half.iso.reorder-undo && mkfifo half.iso.reorder-undo
run timeout 60 "$PROGRAM" recover half.iso
is "$status" 1 'a journal that is a FIFO: exit status'
like "$err" 'reorder-undo: not a file' 'a journal that is a FIFO: the reason'
rm half.iso.reorder-undo && cp good-journal half.iso.reorder-undo
if [ "$(id -u)" = 0 ]; then
	chown 65533 half.iso.reorder-undo
	refuse 1 'neither yours nor' 'a journal of somebody else' recover half.iso
else
	skip 'a journal of somebody else' 'needs root'
fi
ok 'nothing was changed by these either' cmp half.iso half-copy.iso
done_testing
