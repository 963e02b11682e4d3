#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
# The virtual boot: what a trace records, and how a boot that fails is called.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

requires qemu-system-x86_64 --version
requires nbdkit --version

iso() { "$IMAGES/tiny-iso" "$@" >/dev/null || exit 1; }

# trace NAME OPTION…: records a boot of $TMP/NAME.iso into $TMP/NAME.trace.
trace() {
	local name=$1
	shift
	rm -f "$TMP/$name.trace"
	run "$PROGRAM" trace "$TMP/$name.iso" -o "$TMP/$name.trace" --work-dir "${work:-$TMP}" "$@"
	[ "$status" -eq "${wanted:-0}" ] || diag "$err"
}
paths() { awk 'NF == 6 && $2 ~ /^[fdl]$/ { print $6 }' "$TMP/$1.trace"; }
header() { sed -n "s/^$2 //p" "$TMP/$1.trace"; }
fails() { # NAME REGEX: exit 4, the first line says why, no trace is left
	is "$status" 4 "$1: exit 4"
	like "$(grep -m 1 "^reorder-livecd: [^w]" <<<"$err")" "$2" "$1: the reason"
	ok "$1: no trace" test ! -e "$TMP/$1.trace"
}

# Does a guest start on KVM here?
kvm_hangs() {
	[ -w /dev/kvm ] && ! timeout 15 qemu-system-x86_64 -accel kvm -machine q35 -display none -nodefaults \
		-no-reboot -kernel "$TMP/vmlinuz" -append 'console=ttyS0 panic=-1' -serial stdio </dev/null 2>&1 |
		grep -q 'Linux version'
}

# --- a boot that works ---
# Its menus wait for a key, and its command line names no serial console.
iso --timeout 0 "$TMP/ok.iso"
before=$(sha256sum <"$TMP/ok.iso")
osirrox -indev "$TMP/ok.iso" -extract /live/vmlinuz "$TMP/vmlinuz" \
	-extract /live/filesystem.squashfs "$TMP/squashfs" >/dev/null 2>&1

# The path of its scratch files is longer than a socket's, and has commas and blanks in it; another program has a lock on the ISO.
work=$TMP/$(printf 'w,=%.0s' {1..40})/'a b'
mkdir -p "$work"
exec 8<"$TMP/ok.iso"
flock -x 8
trace ok --until idle:4
exec 8<&-
is "$status" 0 'a live system is traced'
is "$(ls -A "$work")" '' 'no scratch files stay'
work=

# What its init reads, in its order; links resolved as in the image.
tiny_reads "$TMP/squashfs" >"$TMP/wanted"
paths ok >"$TMP/got"
ok 'every file that the guest reads, in its order, from the first' diff "$TMP/wanted" "$TMP/got"
is "$(awk '$6 == "usr/share/small" { print $2, $3 }' "$TMP/ok.trace")" 'd read' 'a listed directory is one'
is "$(awk '$6 == "usr/sbin/init" { print $2, $3 }' "$TMP/ok.trace")" 'f read' 'init is in the trace'
is "$(header ok lost-events)" 0 'nothing is lost'
is "$(header ok end-reason)" idle 'the end rule is named'
is "$(header ok tracer)" fanotify 'the tracer is named'
like "$(header ok kernel-version)" '^[0-9]+\.[0-9]+' 'the kernel is named'
like "$(header ok accelerator)" '^(kvm|tcg)$' 'the accelerator is named'
like "$(header ok cmdline)" '^boot=live components quiet console=tty0 console=ttyS0 ' 'the command line is the entry'"'"'s'
ok 'the root was switched before the end' awk -v r="$(header ok root-time)" -v e="$(header ok end-time)" \
	'BEGIN { exit !(r > 0 && e > r + 4) }'
ok 'coverage of 90 % or more' awk -v c="$(header ok coverage)" 'BEGIN { exit !(c >= 0.9) }'
# A file of 1.1 MB of which a page was read: what was read is not all of it.
ok 'a file that is read in part is known as such' \
	awk '$6 == "usr/share/big/one-page" { exit !($4 > 0 && $4 < 700000) }' "$TMP/ok.trace"
is "$(sha256sum <"$TMP/ok.iso")" "$before" 'the ISO is untouched'

if kvm_hangs; then
	like "$err" '/dev/kvm: the guest hung at its start' 'a KVM that hangs is left, with a warning'
	is "$(header ok accelerator)" tcg 'and emulation takes its place'
else
	skip 'a KVM that hangs is left' 'none here that hangs'
fi

# --- end rules ---
# On another machine: the agent is in a guest that UEFI has started, and the medium is elsewhere.
trace ok --accel tcg --until console:'tiny: started' --until idle:500 --machine pc --firmware uefi \
	--device rtl8139 --device cirrus --device virtio-scsi --cpu-model Nehalem
is "$status $(header ok end-reason)" '0 console' 'a text on the console ends the boot'
is "$(header ok machine), $(header ok devices), $(header ok cpu-model), $(header ok firmware)" \
	'pc, rtl8139 cirrus virtio-scsi, Nehalem, uefi' 'the machine is in the trace'

iso --init chatty "$TMP/chatty.iso"
trace chatty --accel tcg --until idle:5 --until time:25
is "$status $(header chatty end-reason)" '0 time' 'a guest that never settles ends with its time'
ok 'and has what it read until then' grep -q ' usr/share/chatty/3$' "$TMP/chatty.trace"
trace chatty --accel tcg --until idle:100 --timeout 60
is "$status $(header chatty end-reason)" '0 timeout' 'the longest time on the host is no error'
like "$err" 'warning: .*--timeout' 'but there is a warning'

# --- boots that fail ---
wanted=4
for init in panic reboot shell; do
	iso --init $init "$TMP/$init.iso"
	trace $init --accel tcg --until idle:10 --timeout 300
	case $init in
	panic) fails panic "kernel panicked .*Attempted to kill init" ;;
	reboot) fails reboot 'restarted or switched itself off' ;;
	shell) fails shell 'emergency shell of its initramfs .*\(initramfs\)'
		like "$err" 'Unable to find a medium' 'shell: the console tells more' ;;
	esac
done
for init in noswitch hang; do
	iso --init $init "$TMP/$init.iso"
	trace $init --accel tcg --until idle:1 --timeout 60
	fails $init 'did not get to its root filesystem after 60 s; .*--timeout'
done
trace ok --accel tcg --until time:1
fails ok 'did not get to its root filesystem'
trace ok --accel tcg --memory 80M --until idle:4 --timeout 120
fails ok 'ran out of memory .*--memory'
trace ok --accel tcg --memory 64M --until idle:4 --timeout 120
fails ok 'did not even start: .*--memory'

# --- accelerators ---
if [ "$(id -u)" = 0 ] && [ -e /dev/kvm ] && unshare -m true 2>/dev/null; then
	run unshare -m sh -c 'mount --bind /dev/null /dev/kvm && exec "$@"' sh \
		"$PROGRAM" trace "$TMP/ok.iso" -o "$TMP/kvm.trace" --accel kvm --work-dir "$TMP"
	is "$status" 1 'a device that is no KVM: exit 1'
	like "$err" '^reorder-livecd: /dev/kvm: ' 'and the reason'
else
	skip 'a device that is no KVM' 'needs root, /dev/kvm and a mount namespace'
fi

# A QEMU that gives up on KVM.
mkdir "$TMP/bin"
cat >"$TMP/bin/qemu-system-x86_64" <<EOT
#!/bin/sh
case " \$* " in *' -accel kvm '*) echo 'qemu: no such processor' >&2; exit 1 ;; esac
exec $(command -v qemu-system-x86_64) "\$@"
EOT
chmod +x "$TMP/bin/qemu-system-x86_64"
if [ -w /dev/kvm ]; then
	PATH=$TMP/bin:$PATH wanted=1 trace ok --accel kvm
	is "$status" 1 'KVM was asked for and does not work: exit 1'
	like "$err" '^reorder-livecd: QEMU: qemu: no such processor' 'and the reason'
	PATH=$TMP/bin:$PATH wanted=0 trace ok --until console:'tiny: started'
	is "$status $(header ok accelerator)" '0 tcg' 'where it was not, emulation takes its place'
else
	skip 'a QEMU that gives up on KVM' 'needs /dev/kvm'
fi

# --- kernels that can less: the same agent, with system calls that fail ---
# agent NAME SHIM: a program in $TMP/NAME/ with an agent of which the shim is part.
agent() {
	mkdir -p "$TMP/$1"
	cat >"$TMP/$1/shim.h"
	cp "$PROGRAM" "$O/reorder-medium-plugin.so" "$TMP/$1/"
	musl-gcc -std=gnu11 -I"$TOP" -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Os -static \
		-include "$TMP/$1/shim.h" -o "$TMP/$1/reorder-agent" "$TOP"/trace/agent/*.c "$TOP/reorder/guest/guest.c" \
		-idirafter /usr/include -idirafter "/usr/include/$(gcc -print-multiarch)"
}

agent no-fanotify <<'EOT'
#include <errno.h>
#include <sys/fanotify.h>
#define fanotify_init(flags, mode) (errno = ENOSYS, -1)
EOT
PROGRAM=$TMP/no-fanotify/reorder-livecd wanted=3 trace ok --accel tcg --until idle:4 --tracer fanotify
is "$status" 3 'a kernel without fanotify: exit 3'
like "$err" 'no fanotify .*--tracer blocks.*--trace' 'and what to do'
PROGRAM=$TMP/no-fanotify/reorder-livecd wanted=0 trace ok --accel tcg --until idle:4
is "$status $(header ok tracer)" '0 blocks' 'auto: the reads of the medium have to do'
like "$err" 'warning: .*has no fanotify .*reads of the medium' 'and the program says so'
cp "$TMP/ok.trace" "$TMP/auto.trace"

# Linux before 4.20 and 5.0: no marks on filesystems, no exec events.
agent old-kernel <<'EOT'
#include <errno.h>
#include <sys/fanotify.h>
#define fanotify_mark(fan, flags, mask, dir, path) \
	((flags) & FAN_MARK_FILESYSTEM || (mask) & FAN_OPEN_EXEC ? (errno = EINVAL, -1) \
	: (fanotify_mark)(fan, flags, mask, dir, path))
EOT
mkdir "$TMP/kept"
work=$TMP/kept PROGRAM=$TMP/old-kernel/reorder-livecd wanted=0 trace ok --accel tcg --until idle:4 --keep-work
paths ok >"$TMP/got"
ok 'an old kernel gives the same trace' diff "$TMP/wanted" "$TMP/got"

# --- by the reads of the medium alone ---
# The files that fanotify saw being read and that have data, by the name that the other has for the inode.
awk '$2 == "f" && $3 == "read" && $6 !~ /\/empty$/ { print $6 }' "$TMP/ok.trace" |
	sed 's,^usr/share/links/hot$,usr/share/links/cold,' | sort >"$TMP/read"
missed() { awk '$2 == "f" { print $6 }' "$TMP/$1.trace" | sort | comm -13 - "$TMP/read"; }
run "$PROGRAM" trace "$TMP/ok.iso" --read-log "$TMP"/kept/*/reads.log -o "$TMP/log.trace"
ok 'enough files to be a check' test "$(wc -l <"$TMP/read")" -gt 50
is "$(missed log)" '' 'the log of the same boot has every file that was read'
is "$(missed auto)" '' 'so has a boot without fanotify'
ok 'but not all that the image has' test "$(awk '$2 == "f"' "$TMP/log.trace" | wc -l)" \
	-lt "$(unsquashfs -ll "$TMP/squashfs" | grep -c ^-)"

# A kernel that says that it is a 32-bit one (xloadflags of its header) gets no agent.
mkdir -p "$TMP/extra/live"
cp "$TMP/vmlinuz" "$TMP/extra/live/vmlinuz"
printf '\0\0' | dd of="$TMP/extra/live/vmlinuz" bs=1 seek=$((0x236)) conv=notrunc status=none
iso --extra "$TMP/extra" "$TMP/32.iso"
wanted=3 trace 32 --accel tcg --tracer fanotify
is "$status" 3 'the agent does not run on a 32-bit kernel'
like "$err" '32-bit kernel.*--tracer blocks' 'and what to do'
trace 32 --accel tcg --until idle:4
is "$status $(header 32 tracer) $(header 32 end-reason)" '0 blocks idle' 'auto: without it the boot ends when it is idle'
like "$err" 'warning: the kernel is a 32-bit one: .*reads of the medium' 'and the program says so'
is "$(missed 32)" '' 'and has every file that was read'
unlike "$(header 32 cmdline)" rdinit 'the guest is as it is'
is "$(header 32 kernel-version)" "$(header ok kernel-version)" 'the kernel is known by its file'
trace 32 --accel tcg --tracer blocks --until console:'tiny: ready' --until idle:100
is "$status $(header 32 end-reason)" '0 console' 'a text on the console ends it, too'

# A queue that is too short for a reader that sleeps.
agent overflow <<'EOT'
#include <errno.h>
#include <fcntl.h>
#include <sys/fanotify.h>
#include <unistd.h>
extern int ag_proc;
static inline int short_queue(unsigned flags, unsigned mode)
{
	int fd = openat(ag_proc, "sys/fs/fanotify/max_queued_events", O_WRONLY);
	(void)!write(fd, "8", 1);
	close(fd);
	return (fanotify_init)(flags & ~FAN_UNLIMITED_QUEUE, mode);
}
static inline ssize_t slow_read(int fd, void *buffer, size_t length)
{
	if (length == 4096)
		usleep(400000);
	return (read)(fd, buffer, length);
}
#define fanotify_init short_queue
#define read slow_read
EOT
PROGRAM=$TMP/overflow/reorder-livecd wanted=0 trace ok --accel tcg --until idle:4
is "$status" 0 'events are lost: still a trace'
ok 'the lost ones are counted' test "$(header ok lost-events)" -gt 0
like "$err" 'warning: .*events were lost' 'and there is a warning'
done_testing
