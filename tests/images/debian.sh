# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the builders of real Debian 12 live systems share; each sources it after lib.sh. A file of
# its own, so that a change here leaves what other builders have cached as it is.

# Whose versions an ISO depends on, beside the packages in it.
# shellcheck disable=SC2034  # of those who source this
host_packages=(isolinux syslinux-common grub-efi-amd64-bin squashfs-tools xorriso)

need_root() {
	[[ $(id -u) = 0 ]] || die 'needs root: it unpacks a Debian system'
}

# bootstrap ROOT PACKAGE…
bootstrap() {
	local root=$1 list
	local -a sources
	shift
	mapfile -t sources < <(debian_sources)
	((${#sources[@]})) || die 'apt has no package lists: run apt-get update'
	list=$(IFS=,; printf '%s' "$*")
	# INITRD=No: the kernel's hook would make an initrd before the live
	# packages have their say; it is made once, at the end.
	INITRD=No mmdebstrap --quiet --mode=root --variant=minbase \
		--dpkgopt=force-unsafe-io \
		--aptopt='APT::Install-Recommends "false"' \
		--include="$list" bookworm "$root" "${sources[@]}"
}

# base_archive PACKAGE… OUT.tar.zst
base_archive() {
	local out=${*: -1} root
	root=$(dirname "$out")/root
	bootstrap "$root" "${@:1:$#-1}"
	tar -C "$root" --xattrs -c . | zstd -q -1 >"$out"
}

# base_key PACKAGE…
base_key() {
	{ candidate_versions "$@"; declare -f bootstrap base_archive; } |
		cache_key "${BASH_SOURCE[0]%/*}/lib.sh"
}

# unpack_base ROOT PACKAGE… : what they install, as it is; made once.
unpack_base() {
	local root=$1 archive
	shift
	archive=$(cached "$(base_key "$@")" root.tar.zst base_archive "$@")
	mkdir "$root"
	tar -C "$root" --xattrs --xattrs-include='*' -xf "$archive" -I zstd
}

# settle ROOT : what every one of them has, so that a boot does not make it.
settle() {
	local root=$1
	echo debian >"$root/etc/hostname"
	printf '127.0.0.1\tlocalhost debian\n::1\tlocalhost\n' >"$root/etc/hosts"
	chroot "$root" systemctl --quiet disable NetworkManager-wait-online.service
	: >"$root/etc/machine-id"
	rm -f "$root/var/lib/dbus/machine-id" "$root/etc/resolv.conf"
	# squashfs holds no ACLs; systemd sets this one again. Nor may tar have kept them.
	setfattr -x system.posix_acl_access "$root/var/log/journal" 2>/dev/null || true
	setfattr -x system.posix_acl_default "$root/var/log/journal" 2>/dev/null || true
}

# take_kernel ROOT DIR : the kernel and the initrd move to the ISO.
take_kernel() {
	local root=$1 to=$2
	mkdir -p "$to"
	mv "$root"/boot/vmlinuz-* "$to/vmlinuz"
	mv "$root"/boot/initrd.img* "$to/initrd.img"
	chmod 0644 "$to/initrd.img"
	rm -f "$root"/{vmlinuz,initrd.img}{,.old}
}

# squash TREE OUT : level 8 packs in a tenth of the time of the default level and
# its images are 5 % bigger; being no default it is stored in the image, where a
# rebuild has to find it.
squash() {
	mksquashfs "$1" "$2" -noappend -quiet -no-progress -comp zstd \
		-Xcompression-level 8
}

# hybrid_iso TREE OUT VOLID
hybrid_iso() {
	make_iso "$1" "$2" "$3" isolinux tree -J -joliet-long
	implantisomd5 --force "$2" >/dev/null
}

# hand_over ISO [OUT.iso] : prints its path, or copies it.
hand_over() {
	if [[ -n ${2-} ]]; then
		cp --reflink=auto "$1" "$2"
	else
		printf '%s\n' "$1"
	fi
}
