# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of reorder-livecd for bash. The options come from the program itself.

_reorder_livecd() {
	local cur prev words cword verb=
	_init_completion -s || return
	case ${words[1]:-} in trace | plan | inspect | compare | simulate | recover | hotmap | dm) verb=${words[1]} ;; esac

	case $prev in
	--order) mapfile -t COMPREPLY < <(compgen -W 'access size path random' -- "$cur") && return ;;
	--layout) mapfile -t COMPREPLY < <(compgen -W 'end front' -- "$cur") && return ;;
	--engine) mapfile -t COMPREPLY < <(compgen -W 'auto splice mksquashfs' -- "$cur") && return ;;
	--writer) mapfile -t COMPREPLY < <(compgen -W 'auto patch rebuild' -- "$cur") && return ;;
	--preload) mapfile -t COMPREPLY < <(compgen -W 'none dm auto' -- "$cur") && return ;;
	--tracer) mapfile -t COMPREPLY < <(compgen -W 'auto fanotify atime blocks' -- "$cur") && return ;;
	--accel) mapfile -t COMPREPLY < <(compgen -W 'auto kvm tcg' -- "$cur") && return ;;
	--format | -f) mapfile -t COMPREPLY < <(compgen -W 'plan mksquashfs gensquashfs' -- "$cur") && return ;;
	--until) mapfile -t COMPREPLY < <(compgen -W 'idle: console: time:' -- "$cur") && compopt -o nospace && return ;;
	--firmware) mapfile -t COMPREPLY < <(compgen -W 'direct bios uefi' -- "$cur") && return ;;
	--cpu) mapfile -t COMPREPLY < <(compgen -W 'laptop2008 laptop desktop' -- "$cur") && return ;;
	--machine) mapfile -t COMPREPLY < <(compgen -W 'q35 pc' -- "$cur") && return ;;
	--device)
		[ "$verb" != dm ] || { _filedir && return; }
		mapfile -t COMPREPLY < <(compgen -W 'e1000e e1000 rtl8139 pcnet vmxnet3 virtio-net std cirrus vmware qxl virtio-gpu
			ahci ide usb-storage virtio-blk virtio-scsi ac97 es1370 hda usb-tablet usb-kbd virtio-tablet virtio-rng
			virtio-balloon lsi megasas sdhci' -- "$cur")
		return
		;;
	--drive | -d)
		_filedir
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'cd dvd hdd usb2 usb3 bmc none' -- "$cur")
		return
		;;
	--work-dir) _filedir -d && return ;;
	--seed | --memory | -m | --cpus | --cpu-model | --timeout | --runs | -n | --slow-motion) return ;;
	--also) mapfile -t COMPREPLY < <(compgen -W 'modules auto' -- "$cur") && return ;;
	esac
	if [[ $cur == -* ]]; then
		# shellcheck disable=SC2086
		mapfile -t COMPREPLY < <(compgen -W "$("${words[0]}" $verb --list-options 2>/dev/null)" -- "$cur")
		return
	fi
	_filedir
	[ "$cword" -gt 1 ] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'trace plan inspect compare simulate recover hotmap dm' -- "$cur")
}
complete -F _reorder_livecd reorder-livecd
