#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Which of NVIDIA's libraries the CUDA backend takes, on the simulated CUDA: a table of drivers, of
# the libraries that are there, and of the places where they lie.  "#: " is as in machines.sh.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
if [ -z "${TENON_TEST_SIMULATED:-}" ]; then
	needs_simulated_cuda
	TENON_TEST_SIMULATED=1 exec "${TENON_BUILD:?}/tests/with-simcuda" sh "$0"
fi
# shellcheck source=../cli/lib.sh
. "$TENON_SOURCE/tests/cli/lib.sh"
unset CUDA_HOME CUDA_PATH CONDA_PREFIX VIRTUAL_ENV TENON_CUDA_LIBRARIES
simulated=$TENON_BUILD/tests/simcuda
[ ! -e /proc/driver/nvidia ] || skip 'the files of an installed driver list real GPUs'

# An empty file in front hides a library that the loader would find elsewhere.
hidden=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null |
	sed -n 's/^[[:space:]]*\(lib[a-zA-Z]*\.so\.1[0-9]\) .*/\1/p' |
	grep -E '^lib(cudart|cublas|cublasLt|nvrtc)\.' | sort -u)
# lay PRESENT PLACE: a folder with these libraries, to which PLACE's variable leads.  PRESENT is a
# list of versions, each perhaps with what is missing: 12-cublasLt.
lay() {
	rm -rf "$dir/front" "$dir/place"
	mkdir "$dir/front" "$dir/place"
	ln -s "$simulated/.libs/libnvidia-ml.so.1" "$dir/front"
	for version in $(echo "$1" | tr , ' '); do
		[ "$version" != none ] || continue
		major=${version%%-*}
		from=$simulated/.libs
		[ "$major" = 13 ] || from=$simulated/$major/.libs
		for name in cudart cublas cublasLt nvrtc nvrtc-builtins; do
			[ "$version" != "$major-${name#nvrtc-}" ] || continue
			folder=$(folder_of "$2" "$name")
			mkdir -p "$dir/$folder"
			ln -s "$from/lib$name.so.$major"* "$dir/$folder"
		done
		case $version in *-old) # a file that has none of the functions
			folder=$(folder_of "$2" cudart)
			ln -sf "$from/libnvrtc.so.$major" "$dir/$folder/libcudart.so.$major"
			;;
		esac
	done
	for name in $hidden; do
		[ -e "$dir/front/$name" ] || : >"$dir/front/$name"
	done
}
folder_of() {
	case $1 in
	loader) echo front ;;
	option | conda) echo place/lib ;;
	home) echo place/lib64 ;;
	path) echo place/targets/x86_64-linux/lib ;;
	wheels13) echo place/lib/python3.11/site-packages/nvidia/cu13/lib ;;
	wheels12) case $2 in
		cudart) set -- cuda_runtime ;;
		nvrtc*) set -- cuda_nvrtc ;;
		*) set -- cublas ;;
		esac
		echo "place/lib/python3.11/site-packages/nvidia/$1/lib" ;;
	esac
}
variable_of() {
	case $1 in
	option) echo "TENON_CUDA_LIBRARIES=/none:$dir/place/lib" ;;
	home) echo "CUDA_HOME=$dir/place" ;;
	path) echo "CUDA_PATH=$dir/place" ;;
	conda) echo "CONDA_PREFIX=$dir/place" ;;
	wheels*) echo "VIRTUAL_ENV=$dir/place" ;;
	*) echo TENON_CUDA_LIBRARIES=/none ;;
	esac
}
package_of() {
	case $1 in
	loader) echo system ;;
	option) echo cuda.libraries ;;
	home | path) echo toolkit ;;
	conda) echo conda ;;
	wheels*) echo pip ;;
	esac
}
# A toolkit in its usual folder comes before Python's packages, and after all others.
has_13=
[ -z "$(find /usr/local/cuda*/ -name libcublas.so.13 2>/dev/null)" ] || has_13=1
[ -z "$(find /usr/local/cuda*/ -name libcudart.so.12 2>/dev/null)" ] ||
	skip 'the machine has a toolkit of CUDA 12'
case $(uname -m) in x86_64) targets=1 ;; *) targets= ;; esac

failed=0
rows=0
# Driver, libraries, place: the version of CUDA taken, or the status; and the text.
while read -r driver present place expected text; do
	case $driver in '#'* | '') continue ;; esac
	[ "$driver:${place%1?}:$has_13" != 13000:wheels:1 ] || continue
	[ "$place" != path ] || [ -n "$targets" ] || continue
	rows=$((rows + 1))
	lay "$present" "$place"
	env LD_LIBRARY_PATH="$dir/front" SIMCUDA_DRIVER="$driver" TENON_LOG=info \
		TENON_BACKEND=cuda "$(variable_of "$place")" \
		"$tenon" info --why cuda >"$dir/out" 2>&1
	case $expected in
	1?) sign="libraries of CUDA $expected: .*, .*$text"
		state="; CUDA $expected ($(package_of "$place")): $dir/.*libcudart.so.$expected" ;;
	*) sign=$text state="^cuda: $expected" ;;
	esac
	if grep -q -e "$state" "$dir/out" && grep -q -e "$sign" "$dir/out"; then
		printf '%s %s %s:\n' "$driver" "$present" "$place"
		sed -n "s,$dir,,g;s/.*\(libraries of CUDA\)/  \1/p;/^ *driver/p" \
			"$dir/out"
	else
		echo "FAILED: $driver $present $place: expected $expected, $sign"
		sed -n 1,6p "$dir/out"
		failed=1
	fi
done <<'EOF'
#: A driver before 525
11080 both loader DRIVER_TOO_OLD CUDA 11.8: expected CUDA 12 (driver 525) or later
11080 none loader DRIVER_TOO_OLD CUDA 11.8: expected CUDA 12 (driver 525) or later
#: A driver from 525 to 575
# The newest that the driver runs; any minor version will do.
12020 13,12 loader 12 front/libcublas.so.12
12040 12 wheels12 12 nvidia/cublas/lib/libcublas.so.12
12060 12 conda 12 place/lib/libcublas.so.12
12060 13 loader MISSING_LIBRARY CUDA 12.6: .* (13 needs driver 580): libcudart.so.12
12000 13,12 loader 12 front/libcublas.so.12
12000 12 loader 12 front/libcublas.so.12
12000 13 loader MISSING_LIBRARY CUDA 12.0: .* (13 needs driver 580): libcudart.so.12
12080 13,12 loader 12 front/libcublas.so.12
12080 12 loader 12 front/libcublas.so.12
12080 13 loader MISSING_LIBRARY CUDA 12.8: .* (13 needs driver 580): libcudart.so.12
12080 none loader MISSING_LIBRARY libcudart.so.12 .* not found in: the loader's folders
#: A driver from 580 on
13000 13,12 loader 13 front/libcublas.so.13
13000 13 loader 13 front/libcublas.so.13
13000 12 loader 12 front/libcublas.so.12
13000 none loader MISSING_LIBRARY CUDA 13.0: expected CUDA 13, or 12.8 or later: libcudart.so.13
#: A library that is missing
# All that will be needed, when the devices are counted.
12080 12-cudart loader MISSING_LIBRARY libcudart.so.12
12080 12-cublas loader MISSING_LIBRARY libcublas.so.12
12080 12-cublasLt loader MISSING_LIBRARY libcublasLt.so.12 (a part of cuBLAS)
12080 12-nvrtc loader MISSING_LIBRARY libnvrtc.so.12
12080 12-builtins loader MISSING_LIBRARY libnvrtc-builtins.so.12.8
12080 12-cublasLt home MISSING_LIBRARY libcublasLt.so.12 .*CUDA_HOME (
12080 12-builtins home MISSING_LIBRARY libnvrtc-builtins.so.12.8 .*CUDA_HOME (
12080 12-cublasLt wheels12 MISSING_LIBRARY libcublasLt.so.12 .*VIRTUAL_ENV (
13000 13-cublasLt,12 loader 12 front/libcublas.so.12
13000 13-cublasLt,12-builtins loader MISSING_LIBRARY libcublasLt.so.13
12000 12-old loader MISSING_LIBRARY libcudart.so.12 .* has no cuda.*: expected CUDA 12.8 or later
13000 13,12-old home 13 place/lib64/libcublas.so.13
#: Libraries of a toolkit, of conda or of pip
12080 12 option 12 place/lib/libcublas.so.12
12080 12 home 12 place/lib64/libcublas.so.12
12080 12 path 12 place/targets/x86_64-linux/lib/libcublas.so.12
12080 12 conda 12 place/lib/libcublas.so.12
12080 12 wheels12 12 nvidia/cublas/lib/libcublas.so.12
12000 13,12 home 12 place/lib64/libcublas.so.12
13000 13,12 home 13 place/lib64/libcublas.so.13
13000 13 option 13 place/lib/libcublas.so.13
13000 13 home 13 place/lib64/libcublas.so.13
13000 13 path 13 lib/libcublas.so.13
13000 13 conda 13 place/lib/libcublas.so.13
13000 13 wheels13 13 nvidia/cu13/lib/libcublas.so.13
13000 12 wheels12 12 nvidia/cublas/lib/libcublas.so.12
EOF
echo "$rows rows"

#: Libraries of CUDA 12.0 to 12.7
# Their runtimes cannot load a kernel's code, whatever the driver: those of the packages that
# PyTorch brought with it, most often.
lay 12 option
newer='CUDA 12.8 or later (13 needs driver 580)'
while IFS='|' read -r driver version text; do
	env LD_LIBRARY_PATH="$dir/front" SIMCUDA_DRIVER="$driver" TENON_BACKEND=cuda \
		SIMCUDA_MISSING=cudaLibraryGetKernel,cudaLibraryLoadData,cudaLibraryUnload \
		TENON_CUDA_LIBRARIES="$dir/place/lib" "$tenon" info --why cuda >"$dir/out" 2>&1
	path=$dir/place/lib/libcudart.so.12
	grep -qF -e "  $version: expected $text: $path (the CUDA runtime) has no cudaLibrary" \
		"$dir/out" || {
		cat "$dir/out"
		fail "a runtime older than 12.8 with driver $driver"
	}
done <<EOF
12000|driver 525.00, CUDA 12.0|$newer
12040|driver 550.00, CUDA 12.4|$newer
12080|driver 570.00, CUDA 12.8|$newer
13000|driver 580.00, CUDA 13.0|CUDA 13, or 12.8 or later
EOF

# NVRTC opens its builtins by their name alone, and would find an empty file in front: the backend
# has opened those beside NVRTC.
lay 13 home
rm -f "$dir"/front/libnvrtc-builtins.so.13.*
for file in "$dir"/place/lib64/libnvrtc-builtins.so.13.*; do
	: >"$dir/front/${file##*/}"
done
env LD_LIBRARY_PATH="$dir/front" CUDA_HOME="$dir/place" TENON_CACHE_DIR='' \
	"$simulated/sweep" 'nvrtcCreateProgram=11' copy >"$dir/out" 2>&1 || {
	cat "$dir/out"
	fail "a kernel with NVRTC's builtins beside it"
}

# What was found so computes, too.
lay 12 wheels12
env LD_LIBRARY_PATH="$dir/front" SIMCUDA_DRIVER=12000 TENON_BACKEND='cuda!' \
	VIRTUAL_ENV="$dir/place" "$simulated/lenet" 1 1 >"$dir/out" 2>&1 || {
	cat "$dir/out"
	fail "a step of LeNet with pip's libraries of CUDA 12"
}
exit $failed
