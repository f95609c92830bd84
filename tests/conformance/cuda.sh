#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The CUDA backend on the simulated CUDA; then two devices, and the lower levels with work that is deferred and
# streams that overtake each other.
simulated=${TENON_BUILD:?}/tests/with-simcuda
plugin=$TENON_BUILD/.libs/backend_cuda.so
[ -x "$simulated" ] && [ -f "$plugin" ] || exit 77
unset TENON_CUDA_CUDNN
conform() { "$simulated" "$TENON_BUILD/tenon-conform" "$@" "$plugin"; }

# TENON_TEST_BRIEF: another build runs all; this one what depends on the compiler of the backend, not of kernels.
if [ -n "${TENON_TEST_BRIEF:-}" ]; then
	conform --level=0-1 && conform --level=3
	exit
fi
# Under a sanitizer the interpreter takes minutes for level 2, whose kernels, and the host code that starts them,
# the networks of the higher ones run too.
if grep -q '^TN_CFLAGS.*-fsanitize' "$TENON_BUILD/Makefile"; then
	conform --level=0-1 && conform --level=3-5 || exit
else
	conform --require=L5 || exit
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# cudnn CHECK PASS...: through cuDNN.  Each of the passes then fails, and the check with it: else the own kernels
# computed them.
cudnn() {
	check=$1
	shift
	conform --filter="$check" || exit
	for pass in "$@"; do
		SIMCUDA_FAIL=cudnnConvolution$pass:1=5000 conform --filter="$check" >"$out" && {
			echo "$check does not use cudnnConvolution$pass"
			exit 1
		}
	done
}
# Where the build knows it.  The gradients' own check, conv2d.backward, is half a minute.
if [ -e "$TENON_BUILD/tests/simcuda/.libs/libcudnn.so.9" ]; then
	export TENON_CUDA_CUDNN=on
	conform --filter='conv2d.[ef]*' || exit
	cudnn gradients.conv2d Forward BackwardData BackwardFilter
	unset TENON_CUDA_CUDNN
fi

SIMCUDA_DEVICES=2 conform --filter='threads.*' >"$out" || {
	cat "$out"
	exit 1
}
cat "$out"
grep -q 'threads.devices.*passed' "$out" || exit 1
for seed in 1 2; do
	SIMCUDA_DEFER=1 SIMCUDA_SEED=$seed SIMCUDA_DEVICES=2 conform --level=1 >"$out" || {
		cat "$out"
		exit 1
	}
	cat "$out"
	grep -q 'peer.order.*passed' "$out" || exit 1
done
