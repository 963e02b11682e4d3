# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# For the end-to-end tests (tests/e2e/*.t): TAP output, a scratch directory, cleanup on any exit.
# A test sets up, calls ok/is/like/… and ends with done_testing. The program under test is $PROGRAM.

set -u
export LC_ALL=C
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$TOP/$O ;; esac
PROGRAM=${PROGRAM:-$O/reorder-livecd}
IMAGES=$TOP/tests/images
tests_run=0
tests_failed=0

# Scratch, removed at the end unless KEEP is set.
TMP=$(mktemp -d "${TMPDIR:-/var/tmp}/reorder-test-XXXXXX")
cleanup_commands=()
at_exit() { cleanup_commands+=("$1"); }
run_cleanup() {
	local command
	for command in "${cleanup_commands[@]}"; do eval "$command"; done
	[ -n "${KEEP:-}" ] || rm -rf "$TMP"
}
trap run_cleanup EXIT
trap 'exit 130' INT TERM

diag() { printf '%s\n' "$*" | sed 's/^/# /' >&2; }

report() { # STATUS NAME
	tests_run=$((tests_run + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tests_run" "$2"
	else
		tests_failed=$((tests_failed + 1))
		printf 'not ok %d - %s\n' "$tests_run" "$2"
	fi
	return "$1"
}

# ok NAME COMMAND…: the command succeeds.
ok() {
	local name=$1
	shift
	if "$@" >"$TMP/.ok" 2>&1; then report 0 "$name"; else
		report 1 "$name"
		diag "$(tail -n 20 "$TMP/.ok")"
		return 1
	fi
}

# is GOT WANTED NAME
is() {
	[ "$1" = "$2" ]
	report $? "$3" || {
		diag "got:    $1"
		diag "wanted: $2"
		return 1
	}
}

# like TEXT EXTENDED-REGEX NAME; unlike is its opposite.
like() {
	grep -qE -- "$2" <<<"$1"
	report $? "$3" || {
		diag "text:   $(head -c 2000 <<<"$1")"
		diag "regex:  $2"
		return 1
	}
}
unlike() {
	! grep -qE -- "$2" <<<"$1"
	report $? "$3" || {
		diag "unwanted: $(grep -E -- "$2" <<<"$1" | head -n 3)"
		return 1
	}
}

# run COMMAND…: sets $status, $out and $err.
# shellcheck disable=SC2034
run() {
	"$@" >"$TMP/.out" 2>"$TMP/.err" </dev/null
	status=$?
	out=$(tr -d '\0' <"$TMP/.out")
	err=$(tr -d '\0' <"$TMP/.err")
}

# refuse STATUS REGEX NAME ARGUMENT…: the program ends so, with one line that says why.
refuse() {
	local wanted=$1 regex=$2 name=$3
	shift 3
	run "$PROGRAM" "$@"
	is "$status" "$wanted" "$name: exit status"
	like "$err" "$regex" "$name: the reason"
	is "$(grep -c . <<<"$err")" 1 "$name: one line"
}

# tiny_reads SQUASHFS: what the guest of tests/images/tiny-iso reads of its image, in its order.
tiny_reads() {
	printf '%s\n' usr/sbin/init usr/bin/busybox etc/tiny.conf etc/read-order
	unsquashfs -cat "$1" etc/read-order |
		sed 's/^[a-z]* //; s,^/e/,/etc/,; s,^/bin/,/usr/bin/,; s,^/,,; s,^\\043,#,; s,/\\043,/#,'
}

# requires COMMAND…: skips the whole test unless the command succeeds.
requires() {
	"$@" >/dev/null 2>&1 && return
	echo "1..0 # SKIP needs: $*"
	exit 0
}

# skip NAME REASON
skip() {
	tests_run=$((tests_run + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tests_run" "$1" "$2"
}

done_testing() {
	echo "1..$tests_run"
	[ "$tests_failed" -eq 0 ]
	exit $?
}
