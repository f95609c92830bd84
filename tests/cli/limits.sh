#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Training with little address space or few threads: it succeeds, or ends with the matching error.
# OpenBLAS alone would wait for ever or end the process.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
not_when_sanitized "the program reserves terabytes"
needs_command timeout
needs_digits
# Not the build's wrapper script, which starts other programs.
program=$TENON_BUILD/.libs/tenon
[ -x "$program" ] || program=$tenon

as= # whose processes are counted

# limited NAME COMMAND: trains under the limit that the shell's COMMAND sets, if it can
limited() {
	status=0
	# shellcheck disable=SC2086 # $as is words
	LD_LIBRARY_PATH=$TENON_BUILD/.libs $as timeout -s KILL 60 sh -c \
		"($2) 2>/dev/null || exit 77; $2 2>/dev/null; exec \"\$@\"" sh \
		"$program" train mlp --data digits --epochs 1 --seed 1 >"$dir/out" 2>"$dir/err" \
		</dev/null || status=$?
	case $status in
	0) out_has 'test accuracy' ;;
	1) err_has 'OUT_OF_MEMORY' ;;
	77) return ;;
	127) err_has 'error while loading shared libraries' ;; # not even the program itself
	*)
		cat "$dir/out" "$dir/err" >&2
		fail "$1: exit status $status: expected 0, or 1 for want of memory"
		;;
	esac
	grep -q 'OpenBLAS' "$dir/err" && printf '%s: %s\n' "$1" "$(grep OpenBLAS "$dir/err")"
	return 0
}
# A pipe in place of OpenBLAS does not block.
mkfifo "$dir/pipe"
TENON_CPU_OPENBLAS=$dir/pipe limited 'a pipe for a library' :
err_has 'pipe is not a regular file'
for kib in 50000 100000 150000 200000 300000 450000 600000 900000; do
	limited "ulimit -v $kib" "ulimit -v $kib"
done
for kib in 100000 300000; do
	limited "ulimit -d $kib" "ulimit -d $kib"
done
# Root's processes are not counted, and the option's name differs from shell to shell.
nobody='setpriv --reuid=65534 --clear-groups'
[ "$(id -u)" -ne 0 ] || ! $nobody test -r "$program" 2>/dev/null || as=$nobody
limited 'one process' 'ulimit -u 1 || ulimit -p 1'
