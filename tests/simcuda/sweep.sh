#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Each call of CUDA at a distinct place in the backend, or on a new path through the library, fails
# once: out of memory, with an unknown error, and with a lost device.  TENON_TEST_WHOLE=1 fails the
# calls that only repeat those as well, out of memory, and takes every step, not the three that
# stand for the others.  Compiled kernels are cached between processes, unless compiling is made to
# fail.  Under a sanitizer the program is shorter.
simulated=${TENON_BUILD:?}/tests/with-simcuda
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
# TENON_TEST_BRIEF: another build runs it.
not_when_brief
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for name in $(env | sed -n 's/^\(SIMCUDA_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset CUDA_LAUNCH_BLOCKING NVTX_INJECTION64_PATH TENON_BACKEND TENON_CUDA_CUDNN TENON_CUDA_TF32 \
	TENON_DETERMINISTIC TENON_FALLBACK TENON_LOG TENON_SEED TENON_SIMULATE
cache=$work failed=0
sweep() {
	"$simulated" env TENON_CACHE_DIR="$cache" "$TENON_BUILD/tests/simcuda/sweep" "$@" ||
		failed=1
}
! is_whole || sweep --all 'cuda*=2'
steps=
is_whole || steps='map product copy'
! grep -q '^TN_CFLAGS.*-fsanitize' "$TENON_BUILD/Makefile" || steps='map product'
# shellcheck disable=SC2086
sweep 'cuda*=2' $steps             # cudaErrorMemoryAllocation
# shellcheck disable=SC2086
sweep 'cuda*=700:sticky' $steps    # cudaErrorIllegalAddress
sweep 'cuda*=999' map product copy # cudaErrorUnknown
sweep 'cublas*=3' product          # CUBLAS_STATUS_ALLOC_FAILED
sweep 'cublas*=13' product         # CUBLAS_STATUS_EXECUTION_FAILED
sweep 'nvml*=999' map              # NVML_ERROR_UNKNOWN
if [ -e "$TENON_BUILD/tests/simcuda/.libs/libcudnn.so.9" ]; then
	export TENON_CUDA_CUDNN=on
	sweep 'cudnn*=4003' layers # CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED
	sweep 'cudnn*=5000' layers # CUDNN_STATUS_EXECUTION_FAILED
	unset TENON_CUDA_CUDNN
fi
cache=
# The leak detector itself crashes when it looks while threads of NVRTC end.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
sweep 'nvrtc*=1' map   # NVRTC_ERROR_OUT_OF_MEMORY
sweep 'nvrtc*=11' copy # NVRTC_ERROR_INTERNAL_ERROR
exit $failed
