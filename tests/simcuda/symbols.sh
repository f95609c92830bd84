#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The real libraries export every symbol of the simulated ones with the same name and version,
# except those beginning with simcuda.  Each name that the CUDA backend looks up exists in both.
# Libraries missing from the toolkit are skipped.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
simulated=$TENON_BUILD/tests/simcuda/.libs
real=$(sed -n 's/^CUDA_LIBDIR = //p' "$TENON_BUILD/Makefile")
if [ ! -e "$simulated/libcudart.so.13" ] || [ ! -e "$real/libcudart.so.13" ]; then
	skip 'the simulated CUDA was not built, or the real libraries are not there'
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
symbols() {
	nm -D --defined-only "$1" | sed -n 's/^[0-9a-f]* T //p' | LC_ALL=C sort
}
failed=0
for name in libcudart.so.13 libcublas.so.13 libcublasLt.so.13 libnvrtc.so.13 libcudnn.so.9; do
	[ -e "$simulated/$name" ] || continue
	[ -e "$real/$name" ] || { echo "$name: the real one is not there" && continue; }
	symbols "$simulated/$name" | grep -v '^simcuda' >"$work/simulated"
	symbols "$real/$name" >"$work/real"
	[ -s "$work/simulated" ] || { echo "$name exports nothing" && failed=1; }
	if LC_ALL=C comm -23 "$work/simulated" "$work/real" | grep .; then
		echo "$name of the simulation exports these, the real one does not"
		failed=1
	fi
	echo "$name: $(wc -l <"$work/simulated") of $(wc -l <"$work/real") symbols"
done
table=$TENON_SOURCE/plugins/cuda/library.c
if [ -e "$table" ]; then
	grep -oE '\((cuda|cublas|cudnn|nvrtc|nvml)[A-Za-z0-9_]+\)' "$table" | tr -d '()' |
		LC_ALL=C sort -u >"$work/table"
	[ -s "$work/table" ] || { echo "no names were found in $table" && failed=1; }
	for kind in simulated real; do
		[ $kind = simulated ] && folder=$simulated || folder=$real
		for file in "$folder"/lib*.so.[0-9]*; do
			symbols "$file"
		done | sed 's/@.*//' | LC_ALL=C sort -u >"$work/$kind"
	done
	# The real NVML comes with the driver, not with the toolkit.
	absent='^nvml'
	for library in cublas nvrtc; do
		[ -e "$real/lib$library.so.13" ] || absent="$absent|^$library"
	done
	[ -e "$real/libcudnn.so.9" ] || absent="$absent|^cudnn"
	# A build without cuDNN's headers has no simulated cuDNN.
	unbuilt='^$'
	[ -e "$simulated/libcudnn.so.9" ] || unbuilt='^cudnn'
	LC_ALL=C comm -23 "$work/table" "$work/simulated" | grep -vE "$unbuilt" >"$work/missing"
	LC_ALL=C comm -23 "$work/table" "$work/real" | grep -vE "$absent" >>"$work/missing"
	if grep . "$work/missing"; then
		echo 'the backend looks these up, and the simulated or the real libraries lack them'
		failed=1
	fi
	echo "the backend: $(wc -l <"$work/table") names"
fi
exit $failed
