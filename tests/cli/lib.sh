# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# Functions of the command's tests.  They run through tests/with-plugins, which selects the build
# tree's plugins; $tenon is the command, $dir a folder that is removed at the end.
set -u
tenon=${TENON_BUILD:?}/tenon
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset TENON_BACKEND TENON_SEED TENON_FALLBACK TENON_SIMULATE TENON_LOG

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# run EXPECTED-STATUS ARGUMENTS...: output in $dir/out and $dir/err
run() {
	expected=$1
	shift
	status=0
	"$tenon" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
	[ "$status" -eq "$expected" ] || {
		cat "$dir/out" "$dir/err" >&2
		fail "tenon $*: expected exit status $expected, found $status"
	}
}
out_has() { grep -q -e "$1" "$dir/out" || { cat "$dir/out" >&2; fail "expected '$1' on stdout"; }; }
err_has() { grep -q -e "$1" "$dir/err" || { cat "$dir/err" >&2; fail "expected '$1' on stderr"; }; }
err_lines() {
	# except the one notice that a build may have
	found=$(grep -c -v 'built without OpenBLAS' "$dir/err")
	[ "$found" -eq "$1" ] || {
		cat "$dir/err" >&2
		fail "expected $1 lines on stderr, found $found"
	}
}
# The value of a key in the last line of a metrics file.
metric() { sed -n '$p' "$2" | sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p"; }
at_least() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }' || fail "expected at least $2, found $1"
}
# The test is skipped where there are no digits, or no zlib to read them.
needs_digits() {
	[ -f "${TENON_DATA_DIR:?}/data/digits/digits.csv.gz" ] || exit 77
	"$tenon" train mlp --data digits --epochs 1 --quiet >/dev/null 2>"$dir/err" || {
		grep -q zlib "$dir/err" && exit 77
		cat "$dir/err" >&2
		fail "digits"
	}
}
