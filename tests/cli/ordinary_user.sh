#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Folders that may be written but not read, or read but not written.  Root may do either, so that
# root runs this as the user nobody.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_ordinary_user
trap 'chmod -R u+rwx "$place"; rm -rf "$dir" "$place"' EXIT
needs_digits

# run_there EXPECTED-STATUS ARGUMENTS...: run, as that user
run_there() {
	expected=$1 status=0
	shift
	$as "$tenon_there" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
	[ "$status" -eq "$expected" ] || {
		cat "$dir/out" "$dir/err" >&2
		fail "tenon $*: expected exit status $expected, found $status"
	}
}
# folder MODE NAME: one of that user's
folder() {
	mkdir -p "$place/$2" && chmod "$1" "$place/$2"
	[ -z "$as" ] || chown 65534 "$place/$2"
}

# Checkpoints in a folder that cannot be written: refused before the training.
folder 755 kept
run_there 0 train mlp --data digits --epochs 1 --quiet --checkpoint "$place/kept"
folder 555 kept
run_there 1 train mlp --data digits --epochs 2 --quiet --checkpoint "$place/kept" --resume
err_has "$place/kept: the folder cannot be written: Permission denied"

# Saving into a folder that can be written but not read.
folder 300 drop
run_there 0 train mlp --data digits --epochs 1 --quiet --save "$place/drop/net"

# A new plugin in a folder that cannot be written.
folder 555 locked
run_there 1 plugin new acme --directory "$place/locked/acme"
err_has 'ermission'
run_there 1 plugin new acme --directory "$place/locked"
err_has 'ermission'
chmod 755 "$place/kept" "$place/drop" "$place/locked"
[ -s "$place/drop/net" ] || fail "nothing was saved into the folder"
[ -z "$(ls -A "$place/locked")" ] || fail "something was left in the folder"
