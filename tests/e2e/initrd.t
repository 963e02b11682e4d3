#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# VM: yes
#
# A real kernel unpacks what is appended to initrds of every compression, with sizes that are no
# multiple of 4.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
append=${APPEND:-$O/tests/iso-initrd}
requires test -x "$append"
requires command -v qemu-system-x86_64 cpio lzop lz4 xz zstd bzip2

cd "$TMP" || exit 1
"$IMAGES/tiny-iso" tiny.iso >/dev/null 2>&1
xorriso -osirrox on -indev tiny.iso -extract /live/vmlinuz vmlinuz >/dev/null 2>&1
requires test -s vmlinuz

pack() {
	case $1 in
	none) cat ;;
	gzip) gzip -9n ;;
	bzip2) bzip2 ;;
	lzma) xz --format=lzma ;;
	xz) xz --check=crc32 ;;
	lzo) lzop ;;
	lz4) lz4 -lq ;;
	zstd) zstd -q ;;
	esac
}
archive() { (cd "$1" && find . | cpio --quiet -o -H newc -C4); }

# The first segment: an init that shows all files below /over and /new.
mkdir -p init/bin init/proc init/new init/over ucode/kernel/x86/microcode
cp /bin/busybox init/bin/
cat >init/init <<'EOF'
#!/bin/busybox sh
for file in /over/* /new/*; do
	echo "file $file $(/bin/busybox cat "$file")"
done
echo "all shown"
/bin/busybox reboot -f
EOF
chmod 755 init/init
echo code >ucode/kernel/x86/microcode/GenuineIntel.bin

# odd FORMAT SIZE-MODULO-4: a segment with /over/FORMAT, as odd as that; xz is always a multiple of 4.
odd() {
	local try
	rm -rf tree && mkdir -p tree/over
	echo old >"tree/over/$1"
	for try in {1..80}; do
		head -c $((try * 7)) /dev/urandom >tree/noise
		archive tree | pack "$1" >segment
		[ $(($(stat -c %s segment) % 4)) != "$2" ] || break
	done
}

# extend INITRD FORMAT RESIDUE: a segment of that format, then our files behind it.
extend() {
	truncate -s %4 "$1"
	odd "$2" "$3"
	cat segment >>"$1"
	"$append" --append "$1" "over/$2" "mine" >next && mv next "$1"
	"$append" --append "$1" "new/$2" "added" >next && mv next "$1"
}

boot() {
	timeout 120 qemu-system-x86_64 -accel tcg -m 512 -nodefaults -display none -no-reboot \
		-serial stdio -kernel vmlinuz -initrd "$1" -append 'console=ttyS0 panic=-1 quiet' \
		</dev/null 2>&1 | tr -d '\r'
}

archive ucode >many.img
truncate -s %512 many.img
archive init | gzip -9n >>many.img
expected=
residue=0
for format in none gzip bzip2 lzma xz lzo zstd; do
	extend many.img "$format" $((residue % 4))
	[ "$format" = none ] || [ "$format" = xz ] || residue=$((residue + 1))
	expected+=$format' '
done
out=$(boot many.img)
for format in $expected; do
	like "$out" "^file /over/$format mine$" "$format: our file takes the place of the old one"
	like "$out" "^file /new/$format added$" "$format: and a new one is there"
done
like "$out" '^all shown$' 'init ran to its end'
unlike "$out" 'Initramfs unpacking failed|Decoding failed' 'Linux is content'

archive ucode >lz4.img
truncate -s %512 lz4.img
archive init | lz4 -lq >>lz4.img
odd lz4 3
cat segment >>lz4.img
for file in over/lz4:mine new/lz4:added; do
	"$append" --append lz4.img "${file%:*}" "${file#*:}" >next && mv next lz4.img
done
out=$(boot lz4.img)
like "$out" '^file /over/lz4 mine$' 'lz4: our file takes the place of the old one'
like "$out" '^file /new/lz4 added$' 'lz4: and a new one is there'
unlike "$out" 'Initramfs unpacking failed|Decoding failed' 'lz4: Linux is content'

done_testing
