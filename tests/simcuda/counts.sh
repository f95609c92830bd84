#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The cost of kernels without a GPU: launches, instructions, and sectors of memory read and written,
# as counted by the simulated device, compared with counts.expected.  A higher cost fails; a lower
# one fails too, until it is recorded, so that it cannot be lost unnoticed.  Where the least traffic
# is known and a kernel has no reason for more, that is checked as well.
#
#   make check TESTS=tests/simcuda/counts.sh                                   compares
#   TENON_BUILD=$PWD TENON_SOURCE=.. sh ../tests/simcuda/counts.sh --record
#                                                       writes counts.expected anew
#
# Instructions are those of PTX, and sectors are counted for each instruction, as if there were no
# caches: this shows whether a change made kernels do more, not how long they take.
simulated=${TENON_BUILD:?}/tests/with-simcuda
expected=${TENON_SOURCE:?}/tests/simcuda/counts.expected
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
not_when_brief
not_when_sanitized "the numbers are the same"
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
for name in $(env | sed -n 's/^\(SIMCUDA_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset CUDA_LAUNCH_BLOCKING NVTX_INJECTION64_PATH TENON_CUDA_CUDNN TENON_CUDA_TF32 \
	TENON_DETERMINISTIC \
	TENON_FALLBACK TENON_LOG TENON_SIMULATE
# What is counted is what a GPU would run: kept apart from what other tests compile.
export SIMCUDA_OPTIMIZE=1
TENON_SIMCUDA_CACHE=${TENON_SIMCUDA_CACHE:-$TENON_BUILD/tests/simcuda/cache}/optimized
export TENON_SIMCUDA_CACHE
TENON_SEED=1 TENON_BACKEND='cuda!' "$simulated" "$TENON_BUILD/tests/simcuda/counts" >"$found" ||
	exit 1

if [ "${1:-}" = --record ]; then
	{
		sed -n '/^# NVRTC/q; p' "$expected"
		cat "$found"
	} >"$expected.new" && mv "$expected.new" "$expected"
	exit
fi

# One compiler makes the same PTX of the same text, and addresses are the same in every run:
# differences come from the backend.  Instructions may still differ by 2 %, so that a check before a
# loop needs no recording; sectors by 1 %, since they change only where an access does.  Another
# compiler schedules, unrolls and joins loads differently: a quarter more instructions and 5 % more
# sectors are allowed, and a lower cost is accepted.  Launches are the host's, and exact.
awk '
function tell(name, what, now, then, word) {
	printf "%s: %d %s, recorded are %d: %s\n", name, now, what, then, word
	bad = 1
}
function compare(name, what, now, then, band) {
	if (now > then * (1 + band))
		tell(name, what, now, then, "worse")
	else if (is_same && now < then * (1 - band)) {
		tell(name, what, now, then, "better")
		is_better = 1
	}
}
/^# NVRTC/ {
	head[NR == FNR] = $0
	is_same = head[0] == head[1]
}
/^#/ { next }
NR == FNR { recorded[$1] = $0; next }
!($1 in recorded) { print $1 ": it is not in the table"; bad = is_better = 1; next }
{
	split(recorded[$1], then)
	delete recorded[$1]
	compare($1, "launches", $2, then[2], 0)
	compare($1, "instructions", $3, then[3], is_same ? 0.02 : 0.25)
	compare($1, "sectors read", $4, then[4], is_same ? 0.01 : 0.05)
	compare($1, "sectors written", $5, then[5], is_same ? 0.01 : 0.05)
	most = $7 * (is_same ? 1 : 1.05)
	if ($7 > 0 && 32 * ($4 + $5) > $6 * most) {
		printf "%s: it moves %d bytes, %.2f times the least; %.2f is expected\n", \
			$1, 32 * ($4 + $5),
			32 * ($4 + $5) / $6, most
		bad = 1
	}
	n++
}
END {
	for (name in recorded) { print name ": it was not counted"; bad = 1 }
	if (!is_same)
		printf "%s; recorded with %s: compared by wide bands\n", \
			substr(head[0], 3), substr(head[1], 3)
	if (is_better)
		print "tests/simcuda/counts.sh --record writes the table anew"
	printf "%d operations\n", n
	exit bad || n == 0
}' "$expected" "$found"
