#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# What ./quickstart check says of tests that fail, that cannot be built or that are not there, and
# of a path that make cannot do with.  The build folder has a Makefile of this test's own.
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
fail() {
	cat "$dir/out" >&2
	echo "FAILED: $*" >&2
	exit 1
}

# check EXPECTED-STATUS: ./quickstart check in the folder $dir/build
check() {
	status=0
	TENON_BUILD_DIR=$dir/build sh "${quickstart:-./quickstart}" --no-install check \
		>"$dir/out" 2>&1 </dev/null || status=$?
	! grep -q 'packages are missing' "$dir/out" || skip "packages are missing"
	[ $status -eq "$1" ] || fail "expected exit status $1, found $status"
}
has() { grep -q -x -F -e "$1" "$dir/out" || fail "expected the line '$1'"; }

# Programs and a script; five of them fail, in different folders, one because it was not built.
mkdir -p "$dir/build/tests/unit" "$dir/build/tests/cli" "$dir/build/tests/faults"
echo '#define HAVE_CMOCKA 1' >"$dir/build/config.h"
cat >"$dir/build/Makefile" <<'END'
all:
check:
	@echo 'PASS: tests/unit/first'
	@echo 'FAIL: tests/unit/second'
	@echo 'SKIP: tests/unit/third'
	@echo 'FAIL: tests/cli/fourth.sh'
	@echo 'FAIL: tests/faults/fifth.c'
	@echo 'FAIL: tests/unit/sixth'
	@echo 'FAIL: tests/unit/seventh'
	@printf '# %s\n' 'TOTAL: 7' 'PASS:  1' 'SKIP:  1' 'XFAIL: 0'
	@printf '# %s\n' 'FAIL:  5' 'XPASS: 0' 'ERROR: 0'
	@exit 2
END
cat >"$dir/build/tests/unit/second.log" <<'END'
[ RUN      ] a_test
[  ERROR   ] --- 2 != 3
[   LINE   ] --- tests/unit/second.c:17: error: Failure!
[  FAILED  ] a_test
FAIL tests/unit/second (exit status: 1)
END
printf 'skipped: no such device\nSKIP tests/unit/third (exit status: 77)\n' \
	>"$dir/build/tests/unit/third.log"
printf 'found\nFAILED: expected 1\nmore\n' >"$dir/build/tests/cli/fourth.sh.log"
echo '[  ERROR   ] --- [   LINE   ] --- tests/unit/seventh.c:9: error: Failure!' \
	>"$dir/build/tests/unit/seventh.log"
echo 'no fault is found' >"$dir/build/tests/faults/fifth.log"
check 1
has 'FAIL tests/faults/fifth.c: no fault is found'
has 'FAIL tests/unit/seventh: tests/unit/seventh.c:9:'
has 'FAIL tests/unit/sixth: it could not be built'
has 'FAIL tests/unit/second: 2 != 3 (tests/unit/second.c:17:)'
has 'FAIL tests/cli/fourth.sh: FAILED: expected 1'
has 'SKIP tests/unit/third: skipped: no such device'
has '7 tests: 1 passed, 5 failed, 0 with errors, 1 skipped.'
! grep -q 'All tests passed' "$dir/out" || fail "they have not passed"
[ "$(wc -l <"$dir/out")" -eq 11 ] || fail "expected a line for each test, and four more"

# A program that cannot be built.
printf 'all:\ncheck:\n\t@echo "x.c:1: error: no"; exit 2\n' \
	>"$dir/build/Makefile"
check 1
has 'x.c:1: error: no'
grep -q 'could not be built, and none ran' "$dir/out" || fail "it is not said"

# No cmocka.
echo '/* #undef HAVE_CMOCKA */' >"$dir/build/config.h"
check 1
grep -q 'the tests need cmocka' "$dir/out" || fail "a build without cmocka"
! grep -q -x Testing "$dir/out" || fail "tests without cmocka"

# A path with a space.
mkdir "$dir/a space" && cp quickstart packages.txt "$dir/a space/"
quickstart="$dir/a space/quickstart" check 1
grep -q 'make cannot use a path with a space' "$dir/out" ||
	fail "a path with a space"
