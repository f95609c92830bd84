#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Losses, activations, shapes, trainings, universal functions and their methods, products, signals,
# statistics, indexing, texts and comparisons on the simulated CUDA against recorded numbers.  Those
# composed of other functions need TENON_TEST_WHOLE=1.
simulated=${TENON_BUILD:?}/tests/with-simcuda
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
# Every dtype has kernels of its own to compile.
export MANIPULATE_DTYPES='f32 c64'
composed='losses manipulate products ufuncs histograms index_functions sets signal statistics
	testing'
is_whole || composed=
for name in activations training index reduce text ufunc_methods $composed; do
	"$simulated" "$TENON_BUILD/tests/parity/$name" 'cuda!' || exit 1
done
