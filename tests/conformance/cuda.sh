#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The CUDA backend on the simulated CUDA: levels 0, 1 and 5; then two devices, deferred work, and
# streams that overtake each other; then a device that fails on request.
# shellcheck source=cuda_lib.sh
. "$(dirname "$0")/cuda_lib.sh"
level 0
level 1
[ -z "${TENON_TEST_BRIEF:-}" ] || exit 0
level 5
SIMCUDA_DEVICES=2 conform --exclude="$out.left" --filter='threads.*'
grep -q 'threads.devices.*passed' "$out" || exit 1
seeds=1
! is_whole || seeds='1 2'
for seed in $seeds; do
	SIMCUDA_DEFER=1 SIMCUDA_SEED=$seed SIMCUDA_DEVICES=2 conform --level=1
	grep -q 'peer.order.*passed' "$out" || exit 1
done
export PROVOKE_PLUGIN="$plugin"
plugin=$TENON_BUILD/tests/simcuda/.libs/backend_provoke.so
for defer in 0 1; do
	SIMCUDA_DEFER=$defer conform --filter='faults.*'
	[ "$(grep -c '^L5  faults.* passed' "$out")" -eq 3 ] || exit 1
done
