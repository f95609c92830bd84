#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A LeNet learns on the simulated CUDA as it does on the CPU: the losses of the first 20 steps agree
# within 1e-4.  And the same command trains without any of the libraries: it runs elsewhere and
# names the reason.
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

# A sanitizer takes minutes for twenty steps.
steps=20 pictures=6
! grep -q '^TN_CFLAGS.*-fsanitize' "$TENON_BUILD/Makefile" || steps=6 pictures=4

lenet() { # BACKEND FILE
	TENON_BACKEND=$1 "$TENON_BUILD/tests/simcuda/lenet" $steps $pictures >"$2" ||
		fail "lenet on $1"
}
lenet 'cuda!' "$dir/cuda"
lenet 'cpu!' "$dir/cpu"
grep -q '^device cuda:0' "$dir/cuda" || fail "it did not run on CUDA"
grep -q '^host 0$' "$dir/cuda" || fail "$(grep '^host' "$dir/cuda") operations ran on the host"
[ "$(grep -c '^loss' "$dir/cuda")" -eq $steps ] || fail "expected $steps losses"
paste "$dir/cuda" "$dir/cpu" | awk -v steps=$steps '
	$1 == "loss" {
		difference = ($2 > $4 ? $2 - $4 : $4 - $2) / $4
		if (!(difference <= 1e-4)) {
			printf "step %d: %s, on the CPU %s\n", NR, $2, $4
			bad = 1
		}
		if (difference > worst) worst = difference
		last = $2
		if (NR == 1) first = $2
	}
	END {
		printf "the losses differ by %.1e at most\n", worst
		if (steps == 20 && !(last < first)) { print "it does not learn"; bad = 1 }
		exit bad
	}' || fail "other losses than on the CPU"

# The same command with each library missing in turn.  A tenth of the pictures: only the route
# matters.
train='train lenet --data digits --validation 0.9 --epochs 1 --batch 128 --quiet'
libraries=$LD_LIBRARY_PATH
for library in libnvidia-ml.so.1 libcudart.so.12 libcublas.so.12 libnvrtc.so.12; do
	[ $library = libnvidia-ml.so.1 ] && [ -e /proc/driver/nvidia ] && continue
	cuda_without 12 "$library"
	# shellcheck disable=SC2086
	TENON_BACKEND=cuda run 0 $train
	case $library in
	libnvidia-ml*) err_has 'cuda.*driver' ;; # without it there is no driver
	*) err_has "cuda.*$library" ;;
	esac
	out_has 'test accuracy'
done
LD_LIBRARY_PATH=$libraries
unset TENON_CUDA_LIBRARIES SIMCUDA_DRIVER
# shellcheck disable=SC2086
CUDA_VISIBLE_DEVICES='' TENON_BACKEND=cuda run 0 $train
err_has 'cuda.*CUDA_VISIBLE_DEVICES'
# shellcheck disable=SC2086
SIMCUDA_FAIL='cudaGetDeviceCount:1=35' TENON_BACKEND=cuda run 0 $train
err_has 'cuda.*driver'
