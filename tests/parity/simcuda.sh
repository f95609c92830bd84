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
for name in activations losses manipulate training ufuncs histograms index index_functions \
	reduce sets signal statistics testing text ufunc_methods; do
	"$simulated" "$TENON_BUILD/tests/parity/$name" 'cuda!' || exit 1
done
