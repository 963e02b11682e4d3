#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
# The loader in a guest whose framework names the node first and, as live-boot does, takes whatever
# disc it finds where there is no such node. Whatever fails, the guest gets to its prompt.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

requires qemu-system-x86_64 --version
requires nbdkit --version
requires dmsetup --version
PLUGIN=$O/reorder-medium-plugin.so

# --- the disc: a system, and 48 MB that nothing reads ---
mkdir "$TMP/extra"
head -c 48M /dev/urandom >"$TMP/extra/ballast"
"$IMAGES/tiny-iso" --extra "$TMP/extra" --bootloader none "$TMP/tiny.iso" >/dev/null || exit 1
osirrox -indev "$TMP/tiny.iso" -extract /live/vmlinuz "$TMP/vmlinuz" -extract /live/initrd.img "$TMP/initrd" \
	-extract /live/filesystem.squashfs "$TMP/squashfs" >/dev/null 2>&1
uuid=$(blkid -o value -s UUID "$TMP/tiny.iso")
size=$(($(od -An -j 32848 -N 4 -tu4 "$TMP/tiny.iso") * 2048))
device_size=$(stat -c %s "$TMP/tiny.iso")
# place PATH: where a file lies, in whole pages, as OFFSET LENGTH.
place() {
	xorriso -indev "$TMP/tiny.iso" -find "$1" -exec report_lba 2>/dev/null |
		awk -F, '/^File data lba/ { start = int($2 / 2) * 4096; end = ($2 + $3) * 2048; print start, int((end - start + 4095) / 4096) * 4096 }'
}
squashfs=$(place /live/filesystem.squashfs)
ballast=$(place /ballast)
# What touches is one extent.
extents=$(printf '%s\n' '32768 4096' "$squashfs" "$ballast" | sort -n | awk '
	NR > 1 && $1 > end { print start, end - start }
	NR == 1 || $1 > end { start = $1 }
	{ end = $1 + $2 }
	END { print start, end - start }')
hot=$(awk '{ sum += $2 } END { print sum }' <<<"$extents")

# --- the guest ---
guest=$TMP/guest
mkdir -p "$guest"/reorder-agent
cp "$O/reorder-agent" "$guest/reorder-agent/init"
for file in /usr/sbin/dmsetup $(ldd /usr/sbin/dmsetup | grep -o '/[^ ]*'); do
	install -D "$file" "$guest/tools/${file#/usr}"
done

cat >"$guest/init" <<'EOF'
#!/bin/sh
export PATH=/bin
mount -t sysfs sysfs /sys
mount -t proc proc /proc
mount -t devtmpfs udev /dev
read -r cmdline </proc/cmdline
word() { for w in $cmdline; do case $w in "$1"=*) echo "${w#*=}" ;; esac; done; }
sleep "$(word t.late)"
while read -r path; do insmod "/lib/modules/$(uname -r)/$path"; done </conf/modules.core
mkdir -p /medium /lower /cow
try() { [ -b "$1" ] && mount -t iso9660 -o ro "$1" /medium 2>/dev/null && source=$1; }
find_medium() {
	while :; do
		try "$(word live-media)" && return
		[ -n "$(word t.named)" ] || for sys in /sys/block/*; do
			case ${sys##*/} in loop* | dm-* | ram* | fd*) ;; *) try "/dev/${sys##*/}" && return ;; esac
		done
		sleep 0.1
	done
}
find_medium
# However slow the machine is: it is not released before that was looked at.
case $cmdline in *rd.reorder.release=20*) killall -STOP reorder-loader ;; esac
mount -t squashfs -o ro,loop /medium/live/filesystem.squashfs /lower
mount -t tmpfs tmpfs /cow
mkdir /cow/up /cow/work
mount -t overlay -o lowerdir=/lower,upperdir=/cow/up,workdir=/cow/work overlay /root
mkdir -p /root/medium /root/lower
cp -a /tools /check /bin/busybox /root/
for dir in dev sys proc medium lower; do mount -o move /$dir /root/$dir; done
echo "$source" >/root/source
exec switch_root /root /check
EOF
cat >"$guest/check" <<'EOF'
#!/busybox sh
for applet in $(/busybox --list); do /busybox ln -s /busybox /tools/$applet 2>/dev/null; done
PATH=/tools/sbin:/tools
export LD_LIBRARY_PATH=/tools/lib:/tools/lib/x86_64-linux-gnu
mkdir -p /lib64 && cp /tools/lib64/* /lib64/
exec >/dev/ttyS0 2>&1
say() { echo "T $*"; }
available() { sync; echo 3 >/proc/sys/vm/drop_caches; sleep 1; sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo; }
processes() { grep -lx reorder-loader /proc/[0-9]*/comm | wc -l; }
tree() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 cat | md5sum); }
released() { grep -q rd.reorder.release=20 /proc/cmdline; }
say source "$(cat /source)"
say mounted "$(sed -n 's,^\([^ ]*\) /medium .*,\1,p' /proc/mounts)"
say link "$(readlink /dev/mapper/reorder-hot)"
dmsetup table reorder-hot | sed 's/^/T table /'
if released; then
	say memory "$(available)"
	say running "$(processes)"
	say free "$(losetup -f)"
	say loop "$(blkid /dev/loop1000 || cat /sys/block/loop1000/ro)"
	say size "$(cat /sys/block/dm-1000/size) $(cat /sys/block/dm-1000/ro)"
fi
if grep -q t.disk /proc/cmdline; then
	for part in vda1 vda2; do mkdir -p /x; mount -o ro -t iso9660 /dev/$part /x && umount /x && say mountable $part; done
fi
if grep -q t.host /proc/cmdline; then
	while read -r path; do insmod "/tools/$path"; done </tools/modules.dm
	host() { LD_LIBRARY_PATH=/tools/host reorder-livecd dm /tools/map.iso "$@"; }
	host --device /dev/sr0 --activate 2>&1 | sed 's/^/T busy /'
	host --device /dev/sr1 --activate 2>&1 | sed 's/^/T activate /'
	dmsetup table reorder-hot | sed 's/^/T host-table /'
	host --status | sed 's/^/T status /'
	host --device /dev/sr1 --activate 2>&1 | sed 's/^/T again /'
	mkdir -p /x && mount -t iso9660 -o ro /dev/mapper/reorder-hot /x
	say host-medium "$(md5sum </x/ballast)"
	host --release 2>&1 | sed 's/^/T release /'
	dmsetup table reorder-hot | sed 's/^/T host-plain /'
	say host-loops "$(losetup -a | grep -c reorder-hot)"
	umount /x
	host --release 2>&1 | sed 's/^/T release /'
	host --status | sed 's/^/T gone /'
fi
say tree "$(tree /lower)"
if released; then
	killall -CONT reorder-loader
	until dmesg | grep -q 'RAM released'; do sleep 1; done
	say memory-after "$(available)"
	say running-after "$(processes)"
	dmsetup table reorder-hot | sed 's/^/T table-after /'
	say loops "$(ls -d /sys/block/loop1000 2>/dev/null)"
	say tree-after "$(tree /lower)"
	say medium "$(md5sum </medium/ballast)"
fi
dmesg | sed -n 's/^.*reorder-hot: /T log /p'
say prompt
poweroff -f
EOF
chmod +x "$guest/init" "$guest/check"

pack() { (cd "$1" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0); }
pad() { truncate -s %512 "$1"; }
pad "$TMP/initrd"
pack "$guest" >>"$TMP/initrd"
pad "$TMP/initrd"

release=$(zstd -dc "$TMP/initrd" 2>/dev/null | cpio -t --quiet 2>/dev/null | sed -n 's,^lib/modules/\([^/]*\)$,\1,p')
modules=$(zstd -dc "$TMP/initrd" 2>/dev/null | cpio -i --to-stdout --quiet conf/modules.dm 2>/dev/null)
loop=$(zstd -dc "$TMP/initrd" 2>/dev/null | cpio -i --to-stdout --quiet conf/modules.core 2>/dev/null | grep /loop.ko)

# map: the hot map, on stdout; what is set to something else is.
map() {
	local module
	{
		printf 'reorder-livecd hot map 1\nvolume-id %s\nvolume-uuid %s\nsize %s\npatience %s\n' \
			"${volume_id:-REORDER_TINY}" "${volume_uuid:-$uuid}" "$size" "${patience:-300}"
		for module in ${dm-$modules $loop}; do echo "module /lib/modules/$release/$module"; done
		awk '{ print "extent", $0 }' <<<"$extents"
	} >"$TMP/map"
	cat "$TMP/map"
	echo "crc32 $(gzip -c <"$TMP/map" | tail -c 8 | od -An -N 4 -tx4 | tr -d ' ')"
}

devices=(-device "ide-cd,drive=disc")
more=
# boot NAME CMDLINE [PLUGIN-PARAMETER…]: with the map of stdin. What the guest says is in $TMP/NAME.
# Set to something else: devices, of the machine; more, a tree for the initramfs.
boot() {
	local name=$1 words=$2 dir=$TMP/appended log=$TMP/$1.console
	local map=$dir/.reorder-hot/map
	shift 2
	rm -rf "$dir" && mkdir -p "$dir/.reorder-hot"
	cp "$O/reorder-hot-loader" "$dir/.reorder-hot/init"
	cat >"$map"
	[ -z "$more" ] || cp -a "$more/." "$dir/"
	cp "$TMP/initrd" "$TMP/initrd.all"
	pack "$dir" >>"$TMP/initrd.all"
	nbdkit -f --exit-with-parent -U "$TMP/nbd" -P "$TMP/pid" "$PLUGIN" file="$TMP/tiny.iso" log="$TMP/$name.reads" "$@" &
	local server=$!
	until [ -s "$TMP/pid" ]; do sleep 0.05; done
	timeout 600 qemu-system-x86_64 -machine q35 -accel tcg -m "${memory:-1024}" -nodefaults -display none \
		-no-reboot -serial stdio -kernel "$TMP/vmlinuz" -initrd "$TMP/initrd.all" \
		-drive if=none,id=disc,format=raw,readonly=on,file="nbd+unix:///?socket=$TMP/nbd" "${devices[@]}" \
		-append "console=ttyS0 quiet panic=-1 live-media=/dev/mapper/reorder-hot t.late=${late:-0} $words" </dev/null >"$log" 2>&1
	kill "$server"
	wait "$server" 2>/dev/null
	rm -f "$TMP/pid" "$TMP/nbd"
	tr -d '\r' <"$log" | sed -n 's/^.*\bT \([a-z-]* .*\|prompt\)$/\1/p' >"$TMP/$name"
	ok "$name: the prompt" grep -qx prompt "$TMP/$name" || diag "$(tail -n 20 "$log")"
	is "$(said "$name" tree)" "$tree" "$name: every file is right"
}
said() { sed -n "s/^$2 //p" "$TMP/$1"; }
loader=rdinit=/.reorder-hot/init
agent=rdinit=/reorder-agent/init
plain="0 $((device_size / 512)) linear 11:0 0"

unsquashfs -q -n -d "$TMP/root" "$TMP/squashfs" >/dev/null 2>&1
tree=$(cd "$TMP/root" && find . -type f -print0 | sort -z | xargs -0 cat | md5sum)

# --- all is well ---
# The table as it has to be: the store has a mebibyte of zeros in front.
table() {
	awk -v size="$device_size" '
		function line(start, length_, from) { if (length_ > 0) printf "%d %d linear %s\n", start / 512, length_ / 512, from }
		BEGIN { store = 1048576 }
		{ line(at, $1 - at, "11:0 " at / 512); line($1, $2, "7:1000 " store / 512); at = $1 + $2; store += $2 }
		END { line(at, size - at, "11:0 " at / 512) }' <<<"$extents"
}
boot good "rd.reorder.release=20 $loader $agent" < <(map)
is "$(said good source)" /dev/mapper/reorder-hot 'the framework, which looks for a disc all the time, mounts the node'
is "$(said good link)" ../dm-1000 'the node is a link as udev makes it'
is "$(said good table)" "$(table)" 'the table joins RAM and medium'
is "$(said good size)" "$((device_size / 512)) 1" 'the device is as long as the medium, and read-only'
is "$(said good free)" /dev/loop1 'loop devices are numbered as ever'
is "$(said good loop)" 1 'the loop device is read-only, and nobody takes it for a volume'
like "$(said good log)" "^$hot of $hot bytes of sr0 in RAM after [0-9.]+ s\$" 'the kernel log has a line'
is "$(said good running)" 1 'the loader has stayed'
is "$(said good running-after)" 0 'after the release no process is left'
is "$(said good table-after)" "$plain" 'the medium alone is in use'
is "$(said good loops)" '' 'the loop device is gone'
ok 'the RAM is back' awk -v a="$(said good memory)" -v b="$(said good memory-after)" -v hot="$hot" \
	'BEGIN { print b - a, hot / 1024; exit !((b - a) * 1024 >= 0.95 * hot) }'
is "$(said good tree-after)" "$tree" 'every file is right after the release'
is "$(said good medium)" "$(md5sum <"$TMP/extra/ballast")" 'so is what was in RAM only'

# --- what goes wrong ---
memory=256 boot small "$loader" < <(map)
is "$(said small table)" "$plain" 'little RAM: the medium alone'
like "$(said small log)" '^sr0 without RAM: there is too little RAM$' 'and the reason'

dm='' boot no-dm "$loader" < <(dm='' map)
is "$(said no-dm source) $(said no-dm link)" '/dev/mapper/reorder-hot ../sr0' 'no device-mapper: a link to the medium'
like "$(said no-dm log)" '^sr0 without RAM: no device-mapper; .* is a link to it$' 'and the reason'

boot broken "$loader" < <(map | head -c -20)
is "$(said broken source) $(said broken table)" "/dev/mapper/reorder-hot $plain" 'a truncated map: the medium alone'
like "$(said broken log)" '^sr0 without RAM: it ends early$' 'and the reason'

boot foreign "t.named=1 $loader" < <(volume_id=ANOTHER patience=40 map)
is "$(said foreign source) $(said foreign table)" "/dev/mapper/reorder-hot $plain" \
	'a map of another medium: the medium that there is, alone'
like "$(said foreign log)" '^sr0 without RAM: the hot map is of another medium$' 'and the reason'

boot garbage "t.named=1 rd.reorder.patience=40 $loader" < <(echo garbage)
is "$(said garbage source) $(said garbage link)" '/dev/mapper/reorder-hot ../sr0' 'no map at all: a link to the medium'
like "$(said garbage log)" '^sr0 without RAM: no device-mapper; ' 'and the reason'

boot namesake "t.named=1 $loader" < <(volume_uuid=2023-01-01-00-00-00-00 map)
is "$(said namesake source) $(said namesake table)" "/dev/mapper/reorder-hot $plain" \
	'a map of a medium that had the same name: the medium alone'
like "$(said namesake log)" '^sr0 without RAM: the hot map is of another medium$' 'and the reason'

# The agent's word first: the loader starts the agent, which starts /init.
late=8 boot late "$agent $loader" < <(map)
is "$(said late source) $(said late table)" "/dev/mapper/reorder-hot $(table)" 'a medium that comes late'

# The disc is bad in the fifth mebibyte of the second extent, behind 4 KiB and 4 MiB.
second=$(sed -n '2s/ .*//p' <<<"$extents")
boot error "$loader" error=$((second + 5000000)):2048 < <(map)
is "$(said error table)" "$(extents=$(echo "32768 4096"; echo "$second 4194304") table)" \
	'a read error: what lies in front of it is in RAM'
like "$(said error log)" "^4198400 of $hot bytes of sr0 in RAM after .* \\(I/O error\\)\$" 'and the reason'

boot cut "$loader rd.reorder.patience=60" rate_inner=300000 rate_outer=300000 < <(map)
like "$(said cut log)" "^[0-9]+ of $hot bytes of sr0 in RAM after .* \\(cut off\\)\$" 'a sweep that lasts too long is cut off'
like "$(said cut table)" ' linear 7:1000 ' 'and what was read is used'

# --- on a running system ---
unpacked() { zstd -dc "$TMP/initrd" 2>/dev/null | cpio -i --to-stdout --quiet "$1" 2>/dev/null; }
more=$TMP/more
mkdir -p "$TMP/extra2/live" "$TMP/mapped/.reorder-hot" "$more/tools/host"
"$IMAGES/tiny-iso" --fast "$TMP/fast.iso" >/dev/null
osirrox -indev "$TMP/fast.iso" -extract /live/initrd.img "$TMP/extra2/live/initrd.img" >/dev/null 2>&1
map >"$TMP/mapped/.reorder-hot/map"
pad "$TMP/extra2/live/initrd.img"
pack "$TMP/mapped" >>"$TMP/extra2/live/initrd.img"
"$IMAGES/tiny-iso" --fast --extra "$TMP/extra2" "$more/tools/map.iso" >/dev/null
cp "$O/reorder-livecd" "$more/tools/"
for file in $(ldd "$O/reorder-livecd" | grep -o '/[^ ]*'); do cp "$file" "$more/tools/host/"; done
for path in $modules; do
	unpacked "lib/modules/$release/$path" >"$more/tools/${path##*/}"
	echo "${path##*/}" >>"$more/tools/modules.dm"
done
devices=(-device "ide-cd,drive=disc,bus=ide.0" -device "ide-cd,drive=second,bus=ide.1"
	-drive "if=none,id=second,format=raw,readonly=on,file=nbd+unix:///?socket=$TMP/nbd")
boot host t.host=1 < <(map)
like "$(said host busy)" '/dev/sr0: cannot be opened; it must not be mounted: .*busy' 'dm: a disc that is mounted is refused'
is "$(said host activate)" "/dev/mapper/reorder-hot: $hot bytes of /dev/sr1 in RAM" 'dm --activate'
is "$(said host host-table)" "$(table | sed 's/ 7:1000 / 7:1 /; s/ 11:0 / 11:1 /')" 'makes the table of the loader'
is "$(said host status)" "/dev/mapper/reorder-hot: $hot of $device_size bytes in RAM, the others on 11:1; in use by 0" 'dm --status'
like "$(said host again)" 'is there already' 'dm --activate, again'
is "$(said host host-medium)" "$(md5sum <"$TMP/extra/ballast")" 'what is in RAM is right'
is "$(said host release)" "/dev/mapper/reorder-hot: the RAM is given back; the device is in use, it stays
/dev/mapper/reorder-hot: the RAM is given back; the device is gone" 'dm --release, in use and not'
is "$(said host host-plain)" "${plain/11:0/11:1}" 'in use, the medium alone stays'
is "$(said host host-loops)" 0 'the loop device is gone'
is "$(said host gone)" '/dev/mapper/reorder-hot: is not there' 'dm --status of nothing'
more=

# --- on a disk: the partition that holds the volume is enough, the others stay free ---
start=$((device_size / 512 + 2048))
dd if="$TMP/fast.iso" of="$TMP/tiny.iso" bs=512 seek=$start conv=notrunc status=none
perl -e 'print pack("x4Cx3VV" x 2 . "x32v", 0x17, 0, $ARGV[0] / 512, 0x83, $ARGV[1], $ARGV[2] / 512, 0xaa55)' "$device_size" $start \
	"$(stat -c %s "$TMP/fast.iso")" |
	dd of="$TMP/tiny.iso" bs=1 seek=446 conv=notrunc status=none
devices=(-device "virtio-blk-pci,drive=disc")
boot disk "t.disk=1 $loader" < <(map)
is "$(said disk source)" /dev/mapper/reorder-hot 'a disk: the node'
like "$(said disk log)" "^$hot of $hot bytes of vda1 in RAM" 'a partition that holds the volume is taken'
is "$(said disk mountable)" vda2 'the other one can be mounted'
done_testing
