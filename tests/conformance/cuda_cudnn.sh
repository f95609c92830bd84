#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Convolutions through cuDNN, if the build supports it.
# shellcheck source=cuda_lib.sh
. "$(dirname "$0")/cuda_lib.sh"
not_when_brief
[ -e "$TENON_BUILD/tests/simcuda/.libs/libcudnn.so.9" ] ||
	skip "the simulated cuDNN was not built: configure found no headers of cuDNN"
export TENON_CUDA_CUDNN=on
# The gradients' own check, conv2d.backward, is the longest of level 4.
conform --filter='conv2d.[ef]*'
check=gradients.conv2d
conform --filter=$check
# Each pass, and its check, must fail; otherwise the backend's own kernels computed it.
for pass in Forward BackwardData BackwardFilter; do
	if SIMCUDA_FAIL=cudnnConvolution$pass:1=5000 "$simulated" "$TENON_BUILD/tenon-conform" \
		--filter=$check "$plugin" >"$out"; then
		echo "$check does not use cudnnConvolution$pass"
		exit 1
	fi
done
