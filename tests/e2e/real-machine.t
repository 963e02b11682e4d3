#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
# A recording without a host beside the guest: the segment that a user adds at the boot prompt, the
# partition or the serial line that takes the frames, and the trace that is made of them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

requires qemu-system-x86_64 --version
requires mcopy --version
cd "$TMP" || exit 1

"$IMAGES/tiny-iso" --bootloader isolinux --initrd-comp lz4 ok.iso >/dev/null || exit 1
osirrox -indev ok.iso -extract /live/vmlinuz vmlinuz -extract /live/initrd.img initrd \
	-extract /live/filesystem.squashfs squashfs >/dev/null 2>&1
tiny_reads squashfs >wanted

paths() { awk 'NF == 6 && $2 ~ /^[fdl]$/ { print $6 }' "$1"; }

# boot WORD… : starts the machine as a user would; ends it when it says that the trace is safe.
boot() {
	local i
	truncate -s "$((($(stat -c %s initrd) + 3) / 4 * 4))" initrd # as a boot loader does
	cat initrd segment >both
	rm -f console
	qemu-system-x86_64 -machine pc -accel tcg -cpu max,-erms,-fsrm -m 512 -nodefaults -display none -no-reboot -kernel vmlinuz \
		-initrd both -append "boot=live components quiet console=ttyS0 panic=-1 rdinit=/reorder-agent/init $*" \
		-cdrom ok.iso -drive file=stick,format=raw,if=virtio -chardev file,id=c,path=console -serial chardev:c \
		-chardev file,id=f,path=serial.frames -serial chardev:f 2>qemu.err &
	at_exit "kill $! 2>/dev/null"
	for ((i = 0; i < 1800; i++)); do
		grep -q 'reorder-agent: the trace is ' console 2>/dev/null && break
		kill -0 $! 2>/dev/null || break
		sleep 0.2
	done
	kill $! 2>/dev/null
	wait $!
}

# --- before ---
refuse 2 'console: a machine of its own' 'a rule that needs a host' trace --make-boot-segment x --until console:a
refuse 2 'exclude each other' 'before and after at once' trace ok.iso --make-boot-segment x --from-frames y
refuse 2 'exclude each other' 'a trace before the boot' trace --make-boot-segment x -o y
ok 'nothing is left of them' test ! -e x
head -c 100000 /dev/urandom >noise
refuse 3 'noise: no recording of a boot' 'noise instead of frames' trace ok.iso --from-frames noise -o noise.trace
refuse 2 'noise: this is the recording that is read' 'a trace over the recording' trace ok.iso --from-frames noise -o noise --force
refuse 1 'none: No such file' 'no frames' trace ok.iso --from-frames none -o none.trace

# Its initrd is LZ4, so that the segment has to be LZ4, too; the one for any other is a plain archive.
run "$PROGRAM" trace ok.iso --make-boot-segment segment --until idle:3
is "$status" 0 'the segment is written'
like "$out" '^  rdinit=/reorder-agent/init$' 'the word for the command line is told'
like "$out" 'initrd=/live/initrd.img,/segment' 'and where it goes'
is "$(xxd -p -s 8 -l 4 segment)" 02214c18 'an LZ4 frame behind an LZ4 initrd'
run "$PROGRAM" trace --make-boot-segment plain
is "$status $(tail -c +9 plain | cpio -it --quiet | tr '\n' ' ')" '0 reorder-agent reorder-agent/init reorder-agent/alone ' \
	'without an ISO an archive'
is "$(tail -c +9 plain | cpio -i --quiet --to-stdout reorder-agent/alone)" 'idle 20' 'with the usual rule'
refuse 2 'segment: exists' 'a file that exists stays' trace --make-boot-segment segment

# --- the recording goes to a stick, beside one that is there ---
mkfs.vfat -C -n REORDER-LOG stick 16384 >/dev/null
# as Windows names one: in the root directory alone
printf 'NO NAME    ' | dd of=stick bs=1 seek=43 conv=notrunc status=none
echo old >old && mcopy -i stick old ::reorder-001.frames
boot tiny.fat
like "$(tr -d '\r' <console)" 'reorder-agent: the trace is saved' 'the machine says that the trace is saved'
is "$(mtype -i stick ::reorder-001.frames)" old 'an older recording stays'
mcopy -i stick ::reorder-002.frames stick.frames
# Its label is one of the files.
like "$(fsck.vfat -n stick)" '^stick: 3 files, ' 'the stick is whole'
unlike "$(fsck.vfat -n stick)" '[Dd]irty|[Ww]rong|[Ll]ost' 'and was put down cleanly'
run "$PROGRAM" trace ok.iso --from-frames stick.frames -o stick.trace
is "$status" 0 'a trace is made of it'
is "$err" "$(grep -v warning <<<"$err")" 'without a warning'
paths stick.trace >got
ok 'every file that the guest reads, in its order, as in a trace of a virtual boot' diff wanted got
is "$(sed -n 's/^lost-events //p' stick.trace)" 0 'nothing is lost'
unlike "$(cat stick.trace)" '^(machine|accelerator) ' 'nothing is claimed about the machine'

# Cut off in the middle: what is there counts, if the root is.
head -c $(($(stat -c %s stick.frames) - 40)) stick.frames >cut.frames
run "$PROGRAM" trace ok.iso --from-frames cut.frames -o cut.trace
like "$status $err" '^0 .*warning: cut.frames: has no end' 'without an end there is a warning'
head -c 600 stick.frames >short.frames
refuse 3 'short.frames: ends before that boot got to its root' 'a recording that breaks off early' \
	trace ok.iso --from-frames short.frames -o short.trace

# --- or to a serial line ---
boot reorder.trace=ttyS1
like "$(tr -d '\r' <console)" 'reorder-agent: the trace is complete' 'the machine says that the trace is complete'
run "$PROGRAM" trace ok.iso --from-frames serial.frames -o serial.trace
is "$status" 0 'a trace is made of what came over the line'
paths serial.trace >got
ok 'with the same files' diff wanted got
done_testing
