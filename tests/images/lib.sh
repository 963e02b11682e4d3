# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the image builders share. Source it; it sets no shell option.

# One fixed date for everything that carries one: 2024-01-01 00:00:00 UTC.
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-1704067200}"
export LC_ALL=C TZ=UTC

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

cache_dir() {
	printf '%s\n' "${REORDER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/reorder-livecd}"
}

# Versions apt would install now: what an image made of PACKAGE… will hold.
candidate_versions() {
	apt-cache policy "$@" | awk '/^[^ ]/ { p = $1 } /Candidate:/ { print p, $2 }'
}

# Versions of the host's own tools and boot loaders.
installed_versions() {
	dpkg-query -W -f '${Package} ${Version}\n' "$@"
}

# cache_key FILE… : of the text of the builders and of what comes on stdin.
cache_key() {
	{ cat -- "$@" -; printf '%s\n' "$SOURCE_DATE_EPOCH"; } | sha256sum | cut -c1-16
}

# cached KEY NAME CMD… : runs `CMD… TEMP` unless it was run before and prints
# the path of the result. Two that want the same thing build it once.
cached() {
	local key=$1 name=$2 dir out
	shift 2
	dir=$(cache_dir)
	out=$dir/$key/$name
	if [[ ! -e $out ]]; then
		mkdir -p "$dir/$key"
		(
			flock 9
			[[ ! -e $out ]] || exit 0
			rm -rf "$out.tmp"
			"$@" "$out.tmp" >&2 || { rm -rf "$out.tmp"; exit 1; }
			mv -T "$out.tmp" "$out"
		) 9>"$dir/$key/$name.lock" || return 1
	fi
	printf '%s\n' "$out"
}

# The Debian sources of this machine, as one-line entries. Nothing here names a mirror.
debian_sources() {
	apt-get indextargets \
		--format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
		'Created-By: Packages' 'Origin: Debian'
}

# efi_image OUT MARKER : a FAT image with GRUB for x86_64, which takes its
# configuration from the volume that holds the file MARKER.
efi_image() {
	local out=$1 marker=$2 tmp
	tmp=$(mktemp -d)
	cat >"$tmp/early.cfg" <<-EOF
		search --no-floppy --file --set=root $marker
		set prefix=(\$root)/boot/grub
		configfile /boot/grub/grub.cfg
	EOF
	grub-mkimage -O x86_64-efi -p /boot/grub -c "$tmp/early.cfg" \
		-o "$tmp/bootx64.efi" part_gpt part_msdos fat iso9660 normal linux \
		search search_fs_file search_label search_fs_uuid configfile echo \
		test sleep all_video gfxterm font loadenv ls cat halt reboot
	touch -d "@$SOURCE_DATE_EPOCH" "$tmp/bootx64.efi"
	rm -f "$out"
	mkfs.vfat --invariant -n ESP -C "$out" 1440 >/dev/null
	mmd -i "$out" ::/EFI ::/EFI/BOOT
	mcopy -m -i "$out" "$tmp/bootx64.efi" ::/EFI/BOOT/BOOTX64.EFI
	rm -r "$tmp"
}

# grub_bios_image OUT : GRUB's El Torito image for BIOS, in the same manner.
grub_bios_image() {
	local out=$1 marker=$2 tmp
	tmp=$(mktemp -d)
	cat >"$tmp/early.cfg" <<-EOF
		search --no-floppy --file --set=root $marker
		set prefix=(\$root)/boot/grub
		configfile /boot/grub/grub.cfg
	EOF
	grub-mkimage -O i386-pc -p /boot/grub -c "$tmp/early.cfg" -o "$tmp/core.img" \
		biosdisk part_gpt part_msdos iso9660 normal linux search \
		search_fs_file configfile echo test all_video
	cat /usr/lib/grub/i386-pc/cdboot.img "$tmp/core.img" >"$out"
	rm -r "$tmp"
}

# isolinux_files DIR : the loader and the modules its menu needs.
isolinux_files() {
	local c32=/usr/lib/syslinux/modules/bios
	mkdir -p "$1"
	cp /usr/lib/ISOLINUX/isolinux.bin "$c32"/{ldlinux,libutil,menu}.c32 "$1"
}

# checksum_list TREE PROGRAM LIST : as Debian writes them, paths sorted, in
# the root of TREE. isolinux.bin and the catalogue change when the ISO is made.
checksum_list() {
	(
		cd "$1" || exit
		find . -type f ! -name '*sum.txt' ! -path ./isolinux/isolinux.bin \
			! -name boot.cat -print0 | sort -z | xargs -0 "$2" >"$3.new"
		mv "$3.new" "$3"
	)
}

# boot_options TREE BIOS EFI : sets the array boot.
boot_options() {
	boot=()
	case $2 in
	isolinux) boot+=(-isohybrid-mbr /usr/lib/ISOLINUX/isohdpfx.bin
		-c isolinux/boot.cat -b isolinux/isolinux.bin
		-no-emul-boot -boot-load-size 4 -boot-info-table) ;;
	grub) boot+=(--grub2-mbr /usr/lib/grub/i386-pc/boot_hybrid.img
		--protective-msdos-label -partition_cyl_align off
		-partition_offset 16 --mbr-force-bootable
		-c boot.catalog -b boot/grub/i386-pc/eltorito.img -no-emul-boot
		-boot-load-size 4 -boot-info-table --grub2-boot-info) ;;
	none) ;;
	*) die "unknown BIOS boot loader $2" ;;
	esac
	[[ $2 = none || $3 = none ]] || boot+=(-eltorito-alt-boot)
	case $3 in
	tree) boot+=(-e boot/grub/efi.img -no-emul-boot)
		[[ $2 != isolinux ]] || boot+=(-isohybrid-gpt-basdat) ;;
	appended) boot+=(-append_partition 2 28732ac11ff8d211ba4b00a0c93ec93b
		"$1.esp" -appended_part_as_gpt
		-iso_mbr_part_type a2a0d0ebe5b9334487c068b6b72699c7
		-e --interval:appended_partition_2:all:: -no-emul-boot) ;;
	none) ;;
	*) die "unknown place of the EFI image $3" ;;
	esac
}

# make_iso TREE OUT VOLID BIOS EFI [XORRISO-OPTION…]
# BIOS: isolinux, grub or none. EFI: tree (Debian: /boot/grub/efi.img in the
# ISO), appended (Ubuntu: a partition behind the ISO's filesystem, taken from
# TREE.esp) or none.
make_iso() {
	local tree=$1 out=$2 volid=$3
	local -a boot
	boot_options "$tree" "$4" "$5"
	shift 5
	find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	rm -f "$out"
	xorriso -report_about SORRY -as mkisofs -quiet -r -V "$volid" \
		"${boot[@]}" "$@" -o "$out" "$tree" 2> >(grep -v '^xorriso 1\|^$' >&2)
}
