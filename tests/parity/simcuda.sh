#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Losses, activations, trainings and universal functions on the simulated CUDA against recorded
# numbers.
simulated=${TENON_BUILD:?}/tests/with-simcuda
[ -f "$TENON_BUILD/.libs/backend_cuda.so" ] && "$simulated" true || exit 77
for name in activations losses training; do
	TENON_BACKEND='cuda!' "$simulated" "$TENON_BUILD/tests/parity/$name" || exit 1
done
# Of the universal functions only those of f32: each is compiled for each dtype.
TENON_BACKEND='cuda!' "$simulated" "$TENON_BUILD/tests/parity/ufuncs" f32
