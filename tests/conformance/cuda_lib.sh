# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# Functions of the tests of the CUDA backend on the simulated CUDA.  Each test is one level or two,
# so that they run in parallel.
set -u
simulated=${TENON_BUILD:?}/tests/with-simcuda
plugin=$TENON_BUILD/.libs/backend_cuda.so
# shellcheck source=sizes_lib.sh
. "${TENON_SOURCE:?}/tests/conformance/sizes_lib.sh"
needs_simulated_cuda
unset TENON_CUDA_CUDNN
out=$(mktemp)
trap 'rm -f "$out" "$out.left"' EXIT
sizes_left_out >"$out.left"
is_whole || cat "$TENON_SOURCE/tests/conformance/cuda.exclude" >>"$out.left"

# conform ARGUMENTS...: prints the report, which is in $out, and ends the test if it failed.
conform()
{
	"$simulated" "$TENON_BUILD/tenon-conform" "$@" "$plugin" >"$out"
	status=$?
	cat "$out"
	[ $status -eq 0 ] || exit $status
}

# level N [ARGUMENTS...]: passes, with at least one case run.
level()
{
	wanted=$1
	shift
	conform --exclude="$out.left" --level="$wanted" "$@"
	grep -q "^L$wanted  *PASSED" "$out" || exit 1
}
