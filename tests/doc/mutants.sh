#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# What .ci/mutants says of planted faults that are found, that live, and that cannot be planted.
# The tree, its build and the list are this test's own.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_command bash
unset MAKEFLAGS MFLAGS TENON_CI_DIR
fail() {
	cat "$dir/out" >&2
	echo "FAILED: $*" >&2
	exit 1
}

tree=$dir/tree
mkdir -p "$tree/.ci" "$tree/core" "$tree/tests" "$tree/build/tests/unit" "$tree/build/tests/cli" &&
	cp "$TENON_SOURCE/.ci/mutants" "$TENON_SOURCE/.ci/plant.awk" "$TENON_SOURCE/.ci/steps.sh" \
		"$tree/.ci" && cp "$TENON_SOURCE/tests/environment.sh" "$tree/tests" || exit 1
cat >"$tree/core/sum.c" <<'END'
#include <stdlib.h>

static int sum(int a, int b)
{
	int total =
		a +
		b;
	if (b < 0)
		total = 0;
	return total;
}

static int is_asked(const char *text)
{
	return text && atoi(text) == sum(20, 22);
}

int main(void)
{
	return sum(2, 2) != 4 || is_asked(getenv("NOTHING"));
}
END
cat >"$tree/build/Makefile" <<END
CC = ${CC:-cc}
check: \$(check_PROGRAMS)
tests/unit/sum: $tree/core/sum.c
	\$(CC) -o \$@ \$<
tests/unit/fails tests/unit/skipped tests/cli/json_value:
	printf '#!/bin/sh\nexit %d\n' \$(if \$(filter %fails,\$@),1,77) >\$@ && chmod +x \$@
END
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec "$@"\n' >"$tree/build/tests/with-plugins"
chmod +x "$tree/build/tests/with-plugins"
list=tests/mutants.txt

# block FAULT FROM TO [TEST] [IN]: adds one to the list.
block() {
	{
		printf 'fault: %s\nfile: core/sum.c\n' "$1"
		[ -z "${5:-}" ] || printf 'in: %s\n' "$5"
		printf 'from: %s\nto: %s\ntest: %s\n\n' "$2" "$3" "${4:-tests/unit/sum}"
	} >>"$tree/$list"
}

# check STATUS LINE [ARGUMENT...]: what is said of the list, which is empty afterwards.
check() {
	expected=$1 line=$2 status=0
	shift 2
	"$tree/.ci/mutants" "$@" >"$dir/out" 2>&1 </dev/null || status=$?
	rm "$tree/$list"
	[ $status -eq "$expected" ] || fail "expected exit status $expected, found $status"
	grep -q -x -F -e "$line" "$dir/out" || fail "expected the line '$line'"
}
# Of the last one.
ends_with() { [ "$(tail -n 1 "$dir/out")" = "$1" ] || fail "expected '$1' at the end"; }

block 'a difference' 'a + b' 'a - b'
block 'always 5' "$(printf 'return\n\ttotal;')" "$(printf 'return\n\t5;')"
block 'found by one that runs' 'a + b' 'a - b' 'tests/unit/sum tests/unit/skipped'
block 'found by none that runs' 'a + b' 'a - b' 'tests/unit/skipped'
check 0 'not run here: fault 4, core/sum.c: found by none that runs'
ends_with '4 planted, 0 live, 1 not run here'

block 'a difference' 'a + b' 'a - b'
block 'negative sums' 'total = 0;' ';'
check 1 'lives: fault 2, core/sum.c: negative sums: no failure of tests/unit/sum'
ends_with '2 planted, 1 live'

# Two of three, of which the seed says the first.
for i in 1 2 3; do block "fault $i" 'total = 0;' ';'; done
TENON_CI_SEED=1 check 1 'lives: fault 3, core/sum.c: fault 3: no failure of tests/unit/sum' --some 2
grep -q 'fault 2,' "$dir/out" && fail 'fault 2 was planted'
ends_with '2 planted, 2 live'

block 'a difference' 'a + b' 'a - b'
check 1 'mutants: expected numbers of --list, found: 1 2' 1 2

# refuses WHY FAULT FROM TO [TEST] [IN]
refuses() {
	why=$1
	shift
	block "$@"
	check 1 "$list: fault 1, $1: $why"
}
refuses 'core/sum.c has not: a * b' 'another number' 'a * b' 'a'
refuses 'core/sum.c has more than once: total' 'each total' 'total' '0'
refuses 'core/sum.c has not: total' 'in another function' 'total' '1' '' is_asked
refuses 'core/sum.c has no function product' 'in no function' 'total' '1' '' product
refuses 'neither a whole statement nor a whole expression: + b' 'a part' '+ b' '- b'
refuses 'neither a whole statement nor a whole expression: sum(2' 'half a call' 'sum(2' '0'
refuses "'to' is 'from'" 'no change' 'a + b' 'a + b'
refuses "core/sum.c:6: expected expression before ')' token" 'no C' 'a + b' 'a +'
printf 'fault: half a block\nfile: core/sum.c\nfrom: a + b\n' >"$tree/$list"
check 1 "$list: fault 1, half a block: expected 'test:' and a text"

block 'a test that fails' 'a + b' 'a - b' tests/unit/fails
check 1 'without a fault: tests/unit/fails failed'
block 'no test' 'a + b' 'a - b' tests/unit/none
check 1 "make: *** No rule to make target 'tests/unit/none', needed by 'check'."
