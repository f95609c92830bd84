#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The kit finds faults: the CPU backend with one fault planted at a time (tests/plugins/faulty)
# fails the check for that fault, and without a fault passes all of these checks.  Every eighth of
# these, unless all are wanted.
set -u
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
not_when_brief
plugin=${TENON_BUILD:?}/tests/plugins/.libs/backend_faulty.so
FAULTY_PLUGIN=$TENON_BUILD/.libs/backend_cpu.so
export FAULTY_PLUGIN FAULT
[ -e "$FAULTY_PLUGIN" ] || skip "there is no CPU backend"
not_when_sanitized "freed memory is kept, and leaks are found without the kit"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
passed=' '
failed=0
n=0
step=8
! is_whole || step=1

# conform FAULT CHECK: returns its status; the report is in $out.
conform()
{
	FAULT=$1
	mode='test'
	case $2 in
	large.* | bits.*) mode=large ;;
	esac
	"$TENON_BUILD/tenon-conform" --mode=$mode --filter="$2" "$plugin" >"$out" 2>&1
}

complain()
{
	echo "$1"
	cat "$out"
	failed=1
}

# fault NAME RUN [FOUND]: check RUN is run, and check FOUND (RUN) fails.
fault()
{
	n=$((n + 1))
	[ $((n % step)) -eq 0 ] || return 0
	case $passed in
	*" $2 "*) ;;
	*)
		conform none "$2" || complain "$2 fails without a fault"
		passed="$passed$2 "
		;;
	esac
	if conform "$1" "$2" || ! grep -q "^FAILED  L[0-5] ${3:-$2}: " "$out"; then
		complain "$2 does not find $1"
	fi
}

# no_fault NAME RUN: what check RUN finds elsewhere is right here, since the device states it.
no_fault()
{
	conform "$1" "$2" || complain "$2 complains about $1"
}

fault matmul_b_transposed matmul.strides
fault matmul_a_transposed matmul.strides
fault matmul_large matmul.shapes
fault matmul_tall matmul.shapes
fault matmul_whole_blocks matmul.shapes
fault matmul_long_rows matmul.strides
fault scratch_static threads.instances
fault scratch_of_instance threads.devices
fault min_zero map.opcodes
fault max_zero map.opcodes
fault sin_large map.opcodes
fault tanh_clipped map.opcodes
fault sin_rough map.opcodes
no_fault sin_rough_stated map.opcodes
fault mul_flushed map.opcodes
no_fault mul_flushed_stated map.opcodes
fault f16_ties map.dtypes
fault bf16_ties map.dtypes
fault nan_payload map.dtypes
fault f16_of_f64 map.dtypes
fault f32_of_i64 map.dtypes
fault u64_signed dtypes.casts
fault u8_wraps dtypes.casts
fault f16_flushed dtypes.casts
fault i32_limit map.casts
fault seed_32_bits map.random
fault elements_24_bits large.many
# To be run by hand, since they take minutes or gigabytes:
#	bytes_31_bits large.bytes, elements_31_bits large.elements, offset_32_bits large.offset,
#	exp_once bits.exp
fault upload_late_1_mib transfer.large
fault upload_late_16_mib transfer.large
fault upload_late_64_mib transfer.large
fault never_freed memory.freed
fault map_leaks memory.host_balance
fault open_leaks_malloc process.leaks
fault open_leaks_mmap process.leaks
fault conv_three_features 'conv2d.*' conv2d.forward
fault conv_wide_depthwise 'conv2d.*' conv2d.backward
fault conv_many_channels 'conv2d.*' conv2d.forward
fault conv_large_image 'conv2d.*' conv2d.backward
fault alignment_not_kept memory.alignment
fault memory_1_pib device.describe
fault programs_in_f16 device.describe
fault programs_in_c64 device.describe
fault functions_17_ulps device.describe
fault two_uuids device.describe
fault chdir matmul.scale
fault rounding matmul.scale
fault ftz matmul.scale
fault daz matmul.scale
fault closes_another matmul.scale
fault affinity matmul.scale
fault thread_locale matmul.scale
fault limit matmul.scale
fault not_blocking matmul.scale
fault leaves_16_bytes call.leaks
exit $failed
