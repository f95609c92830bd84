#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Every kernel of the CUDA backend, for several architectures, by the real compiler.  The sources
# and options are recorded: everything that the backend compiles for the simulated device during
# tenon doctor.  So a new kernel is in the matrix once doctor uses it, and until then this test
# fails.
#
#   TENON_MATRIX="75 80 86 89 90 100 120"   for these architectures, else for the oldest
#   TENON_TEST_WHOLE=1                      it is skipped without, as it takes long
simulated=${TENON_BUILD:?}/tests/with-simcuda
plugin=$TENON_BUILD/.libs/backend_cuda.so
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_simulated_cuda
not_when_brief
is_whole || skip "it takes long: TENON_TEST_WHOLE=1 runs it"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for name in $(env | sed -n 's/^\(SIMCUDA_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset CUDA_LAUNCH_BLOCKING NVTX_INJECTION64_PATH TENON_BACKEND TENON_CUDA_CUDNN TENON_CUDA_TF32 \
	TENON_DETERMINISTIC TENON_FALLBACK TENON_LOG TENON_SEED TENON_SIMULATE
mkdir "$work/cache" "$work/records"
export SIMCUDA_RECORD="$work/records"

record() {
	"$simulated" env TENON_CACHE_DIR="$work/cache" "$TENON_BUILD/tenon" doctor --device cuda \
		--stress-seconds 0 "$@" >"$work/log" 2>&1 || {
		cat "$work/log"
		exit 1
	}
}
# Convolutions by tensor cores, which doctor cannot compare: the other backend has neither f16 nor
# TF32.
record_convolutions() {
	"$simulated" env TENON_SIMCUDA_CACHE="$work/cache" \
		"$TENON_BUILD/tests/simcuda/plugin_conv2d_test" \
		"$1" >"$work/log" 2>&1 || {
		cat "$work/log"
		exit 1
	}
}
# Doctor has no reduction whose geometry exceeds the parameters of a kernel.
record_largest() {
	"$simulated" env TENON_CACHE_DIR="$work/cache" "$TENON_BUILD/tenon-conform" \
		--filter reduce.largest "$plugin" >"$work/log" 2>&1 || {
		cat "$work/log"
		exit 1
	}
}
record_largest
record
if [ -x "$TENON_BUILD/tests/simcuda/plugin_conv2d_test" ]; then
	record_convolutions 'halves*eight_deep*'
	record_convolutions 'bfloats*'
	record_convolutions 'tf32_is*'
fi
# A build without cuDNN's headers never uses these kernels.
unused=dnn_
if [ -e "$TENON_BUILD/tests/simcuda/.libs/libcudnn.so.9" ]; then
	unused=
	TENON_CUDA_CUDNN=on record --only 'layers.conv2d'
fi
# shellcheck disable=SC2086
"$TENON_BUILD/tests/simcuda/matrix" "$work/records" ${TENON_MATRIX:-75} >"$work/found"
status=$?
cat "$work/found"
[ $status -eq 0 ] || exit $status

# Every kernel that a file defines was among them.
for file in "$TENON_SOURCE"/plugins/cuda/kernels/*.cu; do
	defined=$(grep -c '__global__' "$file")
	names=$(tr '\n' ' ' <"$file" |
		grep -oE '__global__ +void( +__launch_bounds__\([^()]*\))? +[a-zA-Z0-9_]+\(' |
		sed 's/($//; s/.* //')
	[ "$(printf '%s\n' "$names" | grep -c .)" -eq "$defined" ] || {
		echo "$file: $defined kernels, whose names were not all understood: $names"
		status=1
	}
	for name in $names; do
		case ${unused:+$name} in "${unused:-none}"*) continue ;; esac
		grep -q "^kernel $name " "$work/found" || {
			echo "$file: $name was never compiled: nothing of tenon doctor uses it"
			status=1
		}
	done
done
exit $status
