#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The modules, the optimizers and the gradient scaler on the simulated CUDA against recorded PyTorch
# numbers, and networks of all dtypes and mixed precision.  Modules, whose layers level 3 of the
# conformance kit has, and optimizers need TENON_TEST_WHOLE=1.
simulated=${TENON_BUILD:?}/tests/with-simcuda
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
whole='parity/modules parity/optimizers'
is_whole || whole=
for test in $whole parity/scaler unit/nn_dtypes unit/optim_masters unit/optim_scaler \
	unit/optim_shard; do
	"$simulated" "$TENON_BUILD/tests/$test" 'cuda!' || exit 1
done
