#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# tools/gpu-check on the simulated CUDA: every step that needs no GPU passes, and the table and the
# JSON are printed.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
not_when_brief
not_when_sanitized "the limits are those of a GPU"
is_whole || skip "it takes long: TENON_TEST_WHOLE=1 runs it"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export GPU_CHECK_PATIENCE=10 # other tests run beside it
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

"${TENON_SOURCE:?}/tools/gpu-check" --simulate --build "$TENON_BUILD" --out "$work/out" \
	>"$work/log" 2>&1 || {
	cat "$work/log"
	fail "a step"
}
cat "$work/log"
cudnn=cudnn # a build without its headers leaves it out
[ -e "$TENON_BUILD/tests/simcuda/.libs/libcudnn.so.9" ] || cudnn=
checks=checks # and a build without cmocka this
[ -x "$TENON_BUILD/tests/simcuda/real_checks" ] || checks=
for step in info faults simulator bench doctor conformance $cudnn $checks; do
	grep -q "^$step  *ok " "$work/log" || fail "step $step"
done
grep -q '^map z = a\*x + y  *GB/s .* cudaMemcpy  *>= 0.9' "$work/out/summary.txt" ||
	fail "no map in the table"
! grep -q '^copy .*>=' "$work/out/summary.txt" || fail "the table asks something of a copy"
json() { "$TENON_BUILD/tests/cli/json_value" "$@" <"$work/out/result.json"; }
[ "$(json simulated)" = true ] || fail "result.json: simulated"
[ "$(json steps 0 state)" = '"ok"' ] || fail "result.json: steps"
[ "$(json bench 0 unit)" = '"GB/s"' ] || fail "result.json: bench"

# A failure is reported, and the other steps run.
SIMCUDA_FAIL='cudaLaunchKernel:1=719:sticky' "$TENON_SOURCE/tools/gpu-check" --simulate \
	--build "$TENON_BUILD" \
	--out "$work/bad" >"$work/log" 2>&1 && fail "a device that fails passes"
grep -q '^bench  *FAILED' "$work/log" || fail "the failure is not named"
grep -q '^conformance ' "$work/log" || fail "it stopped at a failure"
exit 0
