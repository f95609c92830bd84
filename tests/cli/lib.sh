# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# Functions of the command's tests.  They run through tests/with-plugins, which selects the build
# tree's plugins; $tenon is the command, $dir a folder that is removed at the end.
set -u
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
tenon=${TENON_BUILD:?}/tenon
dir=$(mktemp -d)
# Of a long path messages show the end alone.  Programs cannot run in every folder
# (tests/environment.sh).
[ ${#dir} -le 80 ] || [ -n "${TENON_TEST_NOEXEC:-}" ] || {
	rmdir "$dir"
	dir=$(TMPDIR=/tmp mktemp -d)
}
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
# cuda_without MAJOR NAME...: the loader, for the simulated CUDA, finds this version only, without
# these libraries; empty files hide the machine's own.
cuda_without() {
	SIMCUDA_DRIVER=${1}080
	from=$TENON_BUILD/tests/simcuda
	rm -rf "$dir/front"
	mkdir "$dir/front"
	ln -s "$from/.libs"/lib*.so.[19] "$dir/front"
	case $1 in
	12) ln -s "$from/12/.libs"/lib*.so.12* "$dir/front" ;;
	13) ln -s "$from/.libs"/lib*.so.13* "$dir/front" ;;
	esac
	shift
	for file in libcudart.so.13 libcublas.so.13 libcublasLt.so.13 libnvrtc.so.13 "$@"; do
		case " $* " in *" $file "*) rm -f "$dir/front/$file" ;; esac
		[ -e "$dir/front/$file" ] || : >"$dir/front/$file"
	done
	LD_LIBRARY_PATH=$dir/front TENON_CUDA_LIBRARIES=/none
	export LD_LIBRARY_PATH TENON_CUDA_LIBRARIES SIMCUDA_DRIVER
}
# The value of a key in the last line of a metrics file.
metric() { sed -n '$p' "$2" | sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p"; }
at_least() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }' || fail "expected at least $2, found $1"
}
# pictures DIR N: of N x N in a folder of two classes and two parts, 24 and 8 of them
pictures() {
	mkdir -p "$1/train/dark" "$1/train/light" "$1/test/dark" "$1/test/light"
	LC_ALL=C awk -v folder="$1" -v n="$2" 'BEGIN {
		srand(7)
		for (i = 0; i < 32; i++) {
			part = i < 24 ? "train" : "test"
			file = folder "/" part (i % 2 ? "/light/" : "/dark/") i ".pgm"
			printf "P5\n%d %d\n255\n", n, n >file
			for (k = 0; k < n * n; k++)
				printf "%c", 33 + int(40 * rand()) + i % 2 * 40 >file
			close(file)
		}
	}'
}
# Root may do everything: a test of what users may not do runs as the user nobody if root runs it,
# below $place, a folder that this user can reach wherever the clone lies.
# $as begins a command (nothing for an ordinary user), $tenon_there is the command for that user.
# The test is skipped, with the reason, where there is no such user or no such folder.
needs_ordinary_user() {
	as='' tenon_there=$tenon place=$dir
	[ "$(id -u)" -eq 0 ] || return 0
	as='setpriv --reuid=65534 --regid=65534 --clear-groups'
	$as true 2>/dev/null || skip "setpriv cannot become the user nobody"
	for parent in "${dir%/*}" /tmp /var/tmp; do
		place=$(mktemp -d "$parent/tenon-test-XXXXXX") || continue
		trap 'rm -rf "$dir" "$place"' EXIT
		chmod 755 "$place" && cp /bin/true "$place/probe" &&
			$as "$place/probe" 2>/dev/null && break
		rm -rf "$place"
		place=
	done
	[ -n "$place" ] || skip "the user nobody can run programs in no folder for temporary files"
	# Not the wrapper, whose folder this user may be unable to reach, but what it starts.
	mkdir "$place/tenon"
	cp "$TENON_BUILD/.libs/tenon" "$TENON_BUILD"/.libs/*.so* "$place/tenon"
	cp -R "$TENON_DATA_DIR" "$place/tenon/share"
	chmod -R a+rX "$place/tenon"
	# shellcheck disable=SC2034 # the tests use it
	tenon_there=$place/tenon/tenon
	export LD_LIBRARY_PATH="$place/tenon${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
	export TENON_PLUGIN_PATH="$place/tenon" TENON_DATA_DIR="$place/tenon/share"
}
# The test is skipped where there are no digits, or no zlib to read them.
needs_digits() {
	[ -f "${TENON_DATA_DIR:?}/data/digits/digits.csv.gz" ] || skip "there are no digits"
	"$tenon" train mlp --data digits --epochs 1 --quiet >/dev/null 2>"$dir/err" || {
		! grep -q zlib "$dir/err" || skip "the digits are gzipped, and there is no zlib"
		cat "$dir/err" >&2
		fail "digits"
	}
}
