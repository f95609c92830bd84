#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# tenon bench: measurements, output and refused arguments.  Speed is not tested.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
value() { "${TENON_BUILD:?}/tests/cli/json_value" "$@" <"$dir/out"; }
is() {
	expected=$1
	shift
	found=$(value "$@")
	[ "$found" = "$expected" ] || fail "expected $expected at $*, found $found"
}

run 0 bench ops --list
for name in add fused take where uniform softmax matmul conv2d batch-norm; do
	out_has "^$name "
done

# Every operation, on small shapes, beside the reference.
run 0 bench ops --backend cpu --samples 1 --threads 1 --tiers --shape 20x30
out_has '^peak of the processor, 1 thread: '
# Or "above", if a busy machine measured too low a peak.
out_has '^add  *20x30  *[0-9.]*  *[0-9.]*  *[0-9.]* GB/s  *\([0-9.]* %\|above\)'
run 0 bench ops --backend reference --samples 1 --shape 2x3x9x9
out_has '^conv2d  *2x3x9x9 .* GFLOP/s'
out_has '^max-pool '

run 0 bench ops matmul --backend cpu --samples 1 --shape 8x9x10 --json --tiers
is '"matmul"' operations 0 operation
is '"8x9x10"' operations 0 shape
is '"GFLOP/s"' operations 0 unit
at_least "$(value operations 0 rate)" 0.000001
at_least "$(value operations 0 reference_seconds)" 0.0000000001
at_least "$(value peak_gflops)" 0.01
value reliable >/dev/null || fail "no word on whether the peaks can be relied on"
# The peak is measured separately: an operation in the caches may exceed it without changing it, and
# then has no fraction; every other fraction is the quotient of the two figures.
for shape in 32x32 64x64 128x128; do
	run 0 bench ops copy --backend cpu --samples 3 --threads 1 --shape $shape --json
	part=$(value operations 0 of_peak)
	rate=$(value operations 0 rate)
	peak=$(value peak_gbytes)
	awk -v r="$rate" -v p="$peak" -v f="$part" \
		'BEGIN { d = r / p - f; exit !(f == "null" ? r > p : f <= 1 && d * d < 1e-6) }' ||
		fail "copy $shape: rate $rate, peak $peak, of_peak $part"
done
run 0 bench ops matmul --backend cpu --samples 1 --shape 8x9x10 --json
at_least "$(value peak_gbytes)" 0.01

run 0 bench train mlp --backend cpu --batch 4 --samples 1
out_has '^images/s '
out_has '^peak memory  [1-9]'
out_has '^page faults '
run 0 bench train mlp --backend cpu --batch 4 --samples 1 --json
is '"mlp"' model
is 4 batch
at_least "$(value images_per_second)" 0.1
at_least "$(value peak_memory_mib)" 1

# One epoch on the reference and cpu: the counts are those of the network, and shares of the time
# are those of its seconds.
if "$tenon" data digits >"$dir/digits" 2>&1; then
	run 0 bench tiers --images 33 --batch 16
	out_has '^mlp on digits: 32 images in 2 steps of 16, '
	out_has '^lenet on digits: '
	[ "$(grep -c '^reference:0 .* 1\.00 .* % .* %$' "$dir/out")" -eq 2 ] ||
		fail "expected the reference with the ratio 1 for each model"
	number='  *[0-9.]*'
	out_has "^cpu:0$number$number$number$number$number %$number$number %\$"
	out_has '^peak of cpu:0: [0-9.]* GFLOP/s, [0-9.]* GB/s$'
	run 0 bench tiers mlp:hidden-sizes=8 --images 130 --batch 50 --threads 1 --json
	is 1 threads
	is 100 models 0 images
	is 2 models 0 steps
	# 784 x 8 without and 8 x 10 with the gradient of the input: 2 (3 n - 6272) operations.
	is 2556800.0 models 0 operations
	# 5 * (8 + 10) * 4 and 2 * 784 * 4 bytes an image, 6 * 4 bytes for each of 6370 parameters.
	is 968960.0 models 0 bytes
	is '"reference:0"' models 0 tiers 0 device
	is '"cpu:0"' models 0 tiers 1 device
	is 1.0 models 0 tiers 0 ratio
	for tier in 0 1; do
		awk -v s="$(value models 0 tiers $tier seconds)" \
			-v w="$(value models 0 tiers $tier work_seconds)" \
			-v m="$(value models 0 tiers $tier memory_seconds)" \
			-v p="$(value models 0 tiers $tier of_peak)" \
			-v g="$(value models 0 tiers $tier peak_gflops)" \
			-v b="$(value models 0 tiers $tier peak_gbytes)" \
			'function near(x, y) { d = x / y - 1; return d * d < 1e-6 }
			BEGIN { exit !(s > 0 && near(p, w / s) && near(w, 2556800e-9 / g) &&
				near(m, 968960e-9 / b)) }' ||
			fail "tier $tier: seconds, work and peak do not fit"
	done
	run 0 bench tiers mlp --images 10 --batch 10 --json
	is 1 models 0 steps
	run 1 bench tiers lenett --images 1
	err_has "did you mean 'lenet'"
	run 2 bench tiers --images 0
	run 1 bench tiers mlp --images 10 --backend-option cpu.nothing=1
	err_has 'cpu has no option .nothing.'
	run 1 bench tiers --data nothing-like-this
	TENON_BACKEND=^cpu run 0 bench tiers mlp --images 64 --json
	value models 0 tiers 1 >/dev/null && fail "a tier of a backend that was excluded"
	# Another device measures its peaks itself.
	TENON_PLUGIN_PATH=$TENON_BUILD/plugins/mock/.libs run 0 bench tiers mlp --images 64
	out_has '^mlp on digits: 64 images in 1 step of 64, '
	out_has '^peak of mock:0: [0-9.]* GFLOP/s'
fi

run 2 bench
run 2 bench nothing
run 2 bench ops nothing
err_has "no operation 'nothing'"
run 2 bench ops --shape 3xx4
run 2 bench ops --shape 0x4
run 2 bench ops --shape 5
err_has 'has 1 axes'
run 2 bench ops add --shape 1x2x3
run 2 bench ops --samples 0
run 2 bench ops --threads 0
run 2 bench train
run 1 bench train nothing
err_has 'nothing'
run 2 bench train mlp --batch x
run 2 bench train mlp --capture x
run 1 bench train mlp --backend cpu --capture on
err_has 'cannot capture work'
TENON_PLUGIN_PATH=$TENON_BUILD/plugins/mock/.libs run 0 bench train mlp --backend 'mock!' \
	--batch 4 --samples 1
out_has '^mlp, batch 4, mock:0, captured'
run 2 bench dispatch more
run 3 bench ops --backend 'absent!'
run 0 bench dispatch --backend reference --elements 3
out_has 'add into a new array'

# bench/compare: the programs that it names exist, and a run on a busy machine is marked.
bench=${TENON_SOURCE:?}/bench
for program in $(sed -n 's/^    ("\([a-z]*\)", .*/\1/p' "$bench/rival/programs_run.py"); do
	[ -f "$bench/$program.c" ] ||
		fail "programs_run.py names bench/$program, which is not there"
done
found=$(env -u TENON_BUILD "$TENON_BUILD/tests/with-plugins" env | sed -n 's/^TENON_BUILD=//p')
[ "$found" = "$TENON_BUILD" ] ||
	fail "with-plugins: expected TENON_BUILD $TENON_BUILD, found '$found'"
python=$(command -v python3) || exit 0
cat >"$dir/marks.py" <<'END'
import load
flops, copies = ("multiply-add", "GFLOP/s"), ("copy", "GB/s")
assert load.doubts([0.1, 0.0, 0.9], {flops: [100, 97, 98], copies: [10, 40]}) == []
assert "others kept 1.5 processors busy" in load.doubts([1.5, 1.4, 1.9], {})[0]
assert "multiply-add: the median is 50 %" in load.doubts([0.0], {flops: [100, 50, 40]})[0]
assert load.others() >= 0
END
PYTHONPATH=$bench/rival "$python" -B "$dir/marks.py" || fail "load.py"
