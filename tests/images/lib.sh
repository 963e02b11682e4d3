# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the image builders share; each sources it after `set -euo pipefail`.

# Without this a failure inside $(…) would go unnoticed.
shopt -s inherit_errexit

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

# cached KEY NAME CMD… : prints the path of what `CMD… OUT` made, running it
# only if it was not run before. The directory of OUT is scratch space. Two
# that want the same thing build it once. No || here: it would switch off -e.
cached() {
	local key=$1 name=$2 dir out tmp
	shift 2
	dir=$(cache_dir)/$key
	out=$dir/$name
	if [[ ! -e $out ]]; then
		mkdir -p "$dir"
		(
			flock 9
			[[ ! -e $out ]] || exit 0
			tmp=$(mktemp -d "$dir/tmp.XXXXXX")
			trap 'rm -rf --one-file-system "$tmp"' EXIT
			"$@" "$tmp/$name" >&2
			mv -T "$tmp/$name" "$out"
		) 9>"$dir/$name.lock"
	fi
	printf '%s\n' "$out"
}

# The Debian sources of this machine, as one-line entries. Nothing here names a mirror.
debian_sources() {
	apt-get indextargets \
		--format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
		'Created-By: Packages' 'Origin: Debian'
}

# early_config MARKER : for a GRUB that finds its configuration on the volume
# that holds the file MARKER.
early_config() {
	cat <<-EOF
		search --no-floppy --file --set=root $1
		set prefix=(\$root)/boot/grub
		configfile /boot/grub/grub.cfg
	EOF
}

# efi_image OUT MARKER : a FAT image with GRUB for x86_64.
efi_image() {
	local out=$1 marker=$2 tmp
	tmp=$(mktemp -d)
	early_config "$marker" >"$tmp/early.cfg"
	grub-mkimage -O x86_64-efi -p /boot/grub -c "$tmp/early.cfg" \
		-o "$tmp/bootx64.efi" part_gpt part_msdos fat iso9660 normal linux \
		search search_fs_file search_label search_fs_uuid configfile echo \
		test sleep all_video gfxterm font loadenv ls cat halt reboot
	touch -d "@$SOURCE_DATE_EPOCH" "$tmp/bootx64.efi"
	mkfs.vfat --invariant -n ESP -C "$out" 1440 >/dev/null
	mmd -i "$out" ::/EFI ::/EFI/BOOT
	mcopy -m -i "$out" "$tmp/bootx64.efi" ::/EFI/BOOT/BOOTX64.EFI
	rm -r "$tmp"
}

# grub_bios_image OUT MARKER : GRUB's El Torito image for BIOS.
grub_bios_image() {
	local out=$1 marker=$2 tmp
	tmp=$(mktemp -d)
	early_config "$marker" >"$tmp/early.cfg"
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
# the root of TREE. BIOS loaders and the catalogue change when the ISO is made.
checksum_list() {
	(
		cd "$1" || exit
		find . -type f ! -name '*sum.txt' ! -name isolinux.bin \
			! -name eltorito.img -print0 |
			sort -z | xargs -0 "$2" >"$3"
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
