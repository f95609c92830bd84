#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The CUDA backend names the reason of its absence, and the visible devices.  Runs on the simulated
# CUDA.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
simulated=${TENON_BUILD:?}/tests/with-simcuda
if [ -z "${TENON_TEST_SIMULATED:-}" ]; then
	needs_simulated_cuda
	TENON_TEST_SIMULATED=1 exec "$simulated" sh "$0"
fi
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
unset CUDA_VISIBLE_DEVICES
TENON_BACKEND='^cuda' needs_digits

libraries=$LD_LIBRARY_PATH
run 0 info
out_has 'cuda:0'
for library in libcudart.so.12 libcublas.so.12 libcublasLt.so.12 libnvrtc.so.12; do
	cuda_without 12 "$library"
	TENON_BACKEND='cuda!' run 3 train mlp --data digits --epochs 1
	err_has "MISSING_LIBRARY"
	err_has "$library"
done
TENON_BACKEND=cuda run 0 train mlp --data digits --epochs 1
err_has "cuda not used.*$library"
# cuDNN is optional, and so are the libraries that it opens itself, without which the real one ends
# the process.
if [ -e "$TENON_BUILD/tests/simcuda/.libs/libcudnn.so.9" ]; then
	for library in libcudnn.so.9 libcudnn_ops.so.9 libcudnn_engines_precompiled.so.9; do
		cuda_without 13 "$library"
		TENON_CUDA_CUDNN=on TENON_BACKEND='cuda!' "$TENON_BUILD/tests/simcuda/lenet" 1 1 \
			>"$dir/out" 2>"$dir/err" ||
			fail "a step of LeNet without $library"
		err_has "cuDNN is not used: $library"
	done
fi
cuda_without 13 libnvidia-ml.so.1
if [ ! -e /proc/driver/nvidia ]; then
	TENON_BACKEND='cuda!' run 3 info
	err_has 'NO_DRIVER: no NVIDIA driver is installed'
fi
LD_LIBRARY_PATH=$libraries
unset TENON_CUDA_LIBRARIES SIMCUDA_DRIVER

# devices VISIBLE EXPECTED: how many of four are left
devices() {
	SIMCUDA_DEVICES=4 CUDA_VISIBLE_DEVICES=$1 run 0 info
	found=$(grep -c 'cuda:[0-9]' "$dir/out")
	[ "$found" -eq "$2" ] || fail "CUDA_VISIBLE_DEVICES='$1': expected $2 devices, found $found"
}
SIMCUDA_DEVICES=4 run 0 info
out_has 'cuda:3'
devices 0,1,2,3 4
# The backend reads the files of an installed driver, which list the machine's own GPUs.
[ -e /proc/driver/nvidia/gpus ] || devices 3,1 2
devices 0,9,1 1
devices 0,-1,1 1
devices 0,x,1 1
devices 2,2 0
devices '' 0
devices GPU-none-such 0
SIMCUDA_DEVICES=4 CUDA_VISIBLE_DEVICES='' TENON_BACKEND='cuda!' run 3 info
err_has NO_DEVICE
err_has CUDA_VISIBLE_DEVICES
