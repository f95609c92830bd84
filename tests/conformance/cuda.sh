#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The CUDA backend on the simulated CUDA: levels 0, 1 and 5; then two devices, deferred work, and
# streams that overtake each other.
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
