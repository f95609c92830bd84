#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The modules and the gradient scaler on the simulated CUDA against recorded PyTorch numbers, and
# networks of all dtypes and mixed precision.  The modules need TENON_TEST_WHOLE=1: level 3 of the
# conformance kit has their layers.
simulated=${TENON_BUILD:?}/tests/with-simcuda
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
modules=parity/modules
is_whole || modules=
for test in $modules parity/scaler unit/nn_dtypes unit/optim_masters unit/optim_scaler \
	unit/optim_shard; do
	"$simulated" "$TENON_BUILD/tests/$test" 'cuda!' || exit 1
done
