#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The CUDA backend is compiled with the headers of CUDA 13, and uses the libraries of CUDA 12 too:
# what it takes from the headers (prototypes, numbers, offsets of fields) is the same in both.
# majors.expected has what the headers of CUDA 12.8 say.  Where those headers are, that is checked
# too:
#
#   TENON_CUDA_12="DIR ..."   their include folders; each of these has a part:
#                             pip download --no-deps nvidia-cuda-runtime-cu12==12.8.90
#                             nvidia-cublas-cu12==12.8.4.1 nvidia-cuda-nvrtc-cu12==12.8.93
#   TENON_MAJORS_RECORD=1     writes majors.expected from them
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
flags=$(sed -n 's/^CUDA_CPPFLAGS = //p' "${TENON_BUILD:?}/Makefile")
[ -n "$flags" ] || skip 'the CUDA backend was not built: configure found no headers of the toolkit'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
CC=${CC:-cc}
echo 'int f(void);' >"$work/try.c"
"$CC" -fsyntax-only -aux-info "$work/try" "$work/try.c" 2>/dev/null
[ -s "$work/try" ] || skip "$CC lists no prototypes (-aux-info)"
plugin=$TENON_SOURCE/plugins/cuda
expected=$TENON_SOURCE/tests/simcuda/majors.expected
status=0

includes='#include <stddef.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <nvrtc.h>'
functions=$(sed -n '/_names\[\]/,/};/p' "$plugin/library.c" |
	grep -oE '(RUNTIME|BLAS|COMPILER)\([A-Za-z0-9_]+' | sed 's/.*(//' | LC_ALL=C sort -u)
constants=$(cat "$plugin"/*.c "$expected" |
	grep -oE '\b(cuda[A-Z]|CUBLAS_|CUDA_R_|NVRTC_)[A-Za-z0-9_]*' |
	LC_ALL=C sort -u)
fields='cudaPointerAttributes.type cudaPointerAttributes.device
	cudaPointerAttributes.devicePointer cudaFuncAttributes.sharedSizeBytes
	cudaFuncAttributes.maxThreadsPerBlock cudaFuncAttributes.maxDynamicSharedSizeBytes
	cudaMemAccessDesc.location cudaMemAccessDesc.flags'

# facts FILE FLAGS...: names that these headers lack are left out, and so differ
facts() {
	to=$1
	shift
	printf '%s\n' "$includes" >"$work/code.c"
	"$CC" -fsyntax-only -aux-info "$work/all" "$@" "$work/code.c" || exit 1
	sed -n 's,^/\*.*\*/ extern ,,p' "$work/all" >"$work/prototypes"
	for name in $functions; do
		grep -E "[ *]$name \(" "$work/prototypes"
	done >"$to"
	# Not every name is a number: the compiler says which are not.
	printf '%s\n' "$includes" >"$work/code.c"
	for name in $constants; do
		echo "enum { tn_$name = ($name) };"
	done >>"$work/code.c"
	"$CC" -fsyntax-only -fmax-errors=0 "$@" "$work/code.c" 2>&1 |
		sed -n 's/^[^:]*:\([0-9]*\):[0-9]*: error.*/\1d/p' | sort -u >"$work/drop"
	sed -f "$work/drop" "$work/code.c" >"$work/numbers.c"
	{
		printf '%s\n' '#include <stdio.h>' \
			'#define say(name, value) printf("%s %ld\n", name, (long)(value))'
		grep -v '^enum { tn_' "$work/numbers.c"
		echo 'int main(void) {'
		sed -n 's/^enum { tn_\([^ ]*\) = .*/say("\1 =", (\1));/p' "$work/numbers.c"
		for field in $fields; do
			echo "say(\"$field at\", offsetof(struct ${field%.*}, ${field#*.}));"
		done
		echo 'return 0; }'
	} >"$work/program.c"
	"$CC" "$@" -o "$work/program" "$work/program.c" && "$work/program" >>"$to" || exit 1
}

if [ -n "${TENON_CUDA_12:-}" ]; then
	old=
	for folder in $TENON_CUDA_12; do
		old="$old -isystem $folder"
	done
	# shellcheck disable=SC2086
	facts "$work/12" $old
	[ -z "${TENON_MAJORS_RECORD:-}" ] || {
		sed -n '/^#/p' "$expected" >"$work/head"
		cat "$work/head" "$work/12" >"$expected"
	}
	grep -v '^#' "$expected" | diff -u - "$work/12" || {
		echo 'the headers of CUDA 12 say otherwise'
		status=1
	}
else
	echo 'the headers of CUDA 12 are not there (TENON_CUDA_12); their record is compared' >&2
fi
# shellcheck disable=SC2086
facts "$work/13" $flags
if grep -v '^#' "$expected" | grep -vxF -f "$work/13"; then
	echo 'CUDA 12 says so, and the headers of CUDA 13 otherwise'
	status=1
fi
grep -vxF -f "$expected" "$work/13" >"$work/new" && {
	echo 'not recorded for CUDA 12 yet (TENON_MAJORS_RECORD):'
	cat "$work/new"
}
for name in $functions; do
	grep -qE "[ *]$name \(" "$work/13" || {
		echo "$name: no prototype was found"
		status=1
	}
done
echo "$(wc -l <"$work/13") facts"
exit $status
