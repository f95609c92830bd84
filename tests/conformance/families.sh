#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The kit finds the families of faults of families.txt, gated by whatever numbers: the first fault
# of each line, or where all would take long, of two lines.
#
#	families.sh [all [PATTERN]]	every fault of the lines that match, several at once
#	families.sh one LINE		that one, of a line without braces
#
# The kit draws its cases, and a narrow gate may lie between those of one seed.  So a fault counts
# as found if one of three seeds finds it: TENON_CONFORM_SEED or 0, and the next two.  What needed
# more than the first is said, and the last lines say how many did, and what none of them found.
set -u
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
not_when_brief
not_when_sanitized "freed memory is kept, and leaks are found without the kit"
plugin=${TENON_BUILD:?}/tests/plugins/.libs/backend_faulty.so
export FAULTY_PLUGIN FAULT
[ -e "$TENON_BUILD/.libs/backend_cpu.so" ] || skip "there is no CPU backend"
out=$(mktemp)
# Of each fault one line: which seed found it (1, 2...; 0: none), and its sentence.
found=${FAMILIES_FOUND:-$out.found}
export FAMILIES_FOUND="$found"
trap 'rm -f "$out" "$out.found"' EXIT

step=70
! is_whole || step=1
[ -z "${1:-}" ] || step=1

# Every combination of the words in braces of each line; without "all" the first.
expand()
{
	sed -e ':a' -e '/\\$/N; s/ \\\n[[:space:]]*/ /; ta' -e '/^#/d; /^$/d' \
		"$TENON_SOURCE/tests/conformance/families.txt" | grep -e "${2:-}" |
		awk -v all="${1:-}" -v step=$step '
		function expand(line, begin, end, n, words, i) {
			# The checks are a pattern, in which the shell would not know braces.
			begin = index(line, "{")
			if (!begin) {
				if (all == "all" || !done) print line
				done = 1
				return
			}
			end = index(line, "}")
			n = split(substr(line, begin + 1, end - begin - 1), words, ",")
			for (i = 1; i <= n; i++)
				expand(substr(line, 1, begin - 1) words[i] substr(line, end + 1))
		}
		NR % step == 0 { done = 0; expand($0) }'
}

# Which of several devices is open is told apart by mock alone.
export TENON_MOCK=devices:4

backend_of()
{
	case $1 in
	mock) echo "$TENON_BUILD/plugins/mock/.libs/backend_mock.so" ;;
	loops) echo "$TENON_BUILD/tests/plugins/.libs/backend_loops.so" ;;
	*) echo "$TENON_BUILD/.libs/backend_cpu.so" ;;
	esac
}

# finds CHECKS: with one of the seeds, the nth.  Long cases are not left out on a busy machine.
finds()
{
	n=0
	while [ $n -lt 3 ]; do
		seed=$((${TENON_CONFORM_SEED:-0} + n))
		n=$((n + 1))
		if ! "$TENON_BUILD/tenon-conform" --seed=$seed --patience=600 --filter="$1" \
			"$plugin" >"$out" 2>&1 &&
			grep -q '^FAILED  L[0-5] ' "$out"; then
			return 0
		fi
	done
	n=0
	return 1
}

# try LINE: of families.txt, without braces.
try()
{
	IFS='|' read -r checks backend fault <<TEXT
$1
TEXT
	checks=${checks% } backend=${backend# }
	FAULTY_PLUGIN=$(backend_of "${backend% }")
	FAULT=${fault# }
	if finds "$checks"; then
		with=
		[ $n -eq 1 ] || with=", not before seed $seed"
		echo "$FAULT: $(sed -n '/^FAILED/{s/^FAILED  //; s/: .*//p; q}' "$out")$with"
	else
		echo "$checks does not find $FAULT"
		tail -5 "$out"
	fi
	echo "$n $1" >>"$found"
	[ $n -gt 0 ]
}

# What was found by the first seed, by another one, and not at all.
summary()
{
	awk '{ counts[$1 > 1 ? 2 : $1]++ }
		END {
			printf "%d faults: %d found by the first seed, ", NR, counts[1]
			printf "%d by a later one, %d missed\n", counts[2], counts[0]
		}' "$found"
	sed -n 's/^0 /missed: /p' "$found"
}

case ${1:-} in
one)
	try "$2"
	;;
*)
	processes=1
	[ -z "${1:-}" ] || processes=$(nproc)
	: >"$found"
	expand "${1:-}" "${2:-}" | xargs -r -d '\n' -n 1 -P "$processes" sh "$0" one
	status=$?
	summary
	exit $status
	;;
esac
