#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Losses, activations, shapes, trainings, universal functions and their methods, signals,
# statistics, indexing, texts and comparisons on the simulated CUDA against recorded numbers.
simulated=${TENON_BUILD:?}/tests/with-simcuda
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
# Every dtype has kernels of its own to compile.
export MANIPULATE_DTYPES='f32 c64'
for name in activations losses manipulate training; do
	TENON_BACKEND='cuda!' "$simulated" "$TENON_BUILD/tests/parity/$name" || exit 1
done
# Of the universal functions only those of f32: each is compiled for each dtype.
TENON_BACKEND='cuda!' "$simulated" "$TENON_BUILD/tests/parity/ufuncs" f32 || exit 1
for name in histograms index index_functions reduce sets signal statistics testing text \
	ufunc_methods; do
	"$simulated" "$TENON_BUILD/tests/parity/$name" 'cuda!' || exit 1
done
