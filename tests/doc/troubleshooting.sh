#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Runs every example of tenon-troubleshooting(7) and checks for the lines shown in the page.  The
# page's /opt/backends is a folder of fixtures; "..." at the end of a line stands for anything.
set -u
page=${TENON_SOURCE:?}/man/tenon-troubleshooting.7
fixtures=${TENON_BUILD:?}/tests/plugins/.libs
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/backends"
built=$TENON_PLUGIN_PATH
PATH=$TENON_BUILD:$PATH
export TENON_PLUGIN_PATH
unset TENON_BACKEND TENON_SEED TENON_FALLBACK TENON_SIMULATE TENON_LOG
failed=0 commands=0 lines=0

# The folder contains only the fixtures that a command names, while it runs.
prepare() {
	rm -f "$dir"/backends/*
	for fixture in no_note null_slot old_minor fails crashes hangs twin copyonly paired; do
		case $1 in *"$fixture"*) cp "$fixtures/backend_$fixture.so" "$dir/backends" ;; esac
	done
	case $1 in
	*twin*) cp "$fixtures/backend_ok.so" "$dir/backends" ;;
	*paired*) cp "$fixtures/backend_two_devices.so" "$dir/backends" ;;
	esac
	TENON_PLUGIN_PATH=$dir/backends:$built
}

run() {
	commands=$((commands + 1))
	prepare "$1"
	(cd "$dir" && eval "$(printf '%s' "$1" | sed "s,/opt/backends,$dir/backends,g")") \
		>"$dir/raw" 2>&1 </dev/null
	sed "s,$dir/backends,/opt/backends,g" "$dir/raw" >"$dir/out"
}

# Searches a line of the page in the output of the last command.
expect() {
	lines=$((lines + 1))
	text=${1%...}
	grep -q -F -e "$text" "$dir/out" && return
	# A sanitizer catches the signal, and a build without zlib cannot read the digits.
	case $1 in
	*SIGSEGV*) grep -q 'it ended the process with status' "$dir/out" && return ;;
	esac
	grep -q 'no zlib' "$dir/out" && return
	echo "FAILED: $command"
	echo "  expected: $1"
	sed 's/^/  found: /' "$dir/out"
	failed=1
}

awk '/^\.Bd/ { literal = 1; next } /^\.Ed/ { literal = 0 } literal' "$page" |
	sed 's/\\&//g; s/\\e/\\/g' >"$dir/examples"
command=
while IFS= read -r line; do
	case $line in
	'$ '*)
		command=${line#??}
		run "$command"
		;;
	*) expect "$line" ;;
	esac
done <"$dir/examples"
echo "$commands commands, $lines lines"
[ "$commands" -ge 15 ] && [ "$lines" -ge 20 ] || failed=1
exit $failed
