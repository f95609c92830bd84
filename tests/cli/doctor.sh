#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# tenon doctor: a correct device passes, faults are named, and an absent device is not checked.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
mock=$TENON_BUILD/plugins/mock/.libs
value() { "${TENON_BUILD:?}/tests/cli/json_value" "$@" <"$dir/out"; }
is() {
	expected=$1
	shift
	found=$(value "$@")
	[ "$found" = "$expected" ] || fail "expected $expected at $*, found $found"
}

# Impossible allocations must be refused without ending the program, by sanitizers' allocators too.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
export ASAN_OPTIONS

run 0 doctor --list
number=$(grep -c . "$dir/out")
[ "$(awk 'length > 80' "$dir/out" | wc -l)" -eq 0 ] ||
	fail "a line of --list is longer than 80 columns"
out_has '^products.batches '

# All checks on the processor, in a table of at most 80 columns.
run 0 doctor --device cpu --stress-seconds 0.1 --memory 1
out_has '^cpu:0: '
out_has '^  threads '
out_has '^  library.blas '
out_has '^layers.conv2d .* ok$'
out_has '^copies.upload .* GB/s$'
out_has '^stress .* GFLOP/s$'
out_has "^cpu:0: $number ok, 0 failed, 0 skipped"
[ "$(awk 'length > 80' "$dir/out" | wc -l)" -eq 0 ] || fail "a line is longer than 80 columns"

# The built-in backend is checked only if it is named.
run 0 doctor --backend reference --only 'elements.*' --stress-seconds 0
out_has '^reference:0: 6 ok, 0 failed'
run 0 doctor --only random.bits
grep -q '^reference:0' "$dir/out" && grep -q '^cpu:0' "$dir/out" &&
	fail "it looks at the built-in backend"

run 0 doctor --device cpu:0 --only 'products.*' --json
is true passed
is '"cpu:0"' devices 0 device
is '"kernels"' devices 0 report 0 key
is '"products.matrices"' devices 0 checks 0 check
is '"passed"' devices 0 checks 0 state
is '"native"' devices 0 checks 0 where
is 5 devices 0 passed
is null devices 0 checks 0 reason
run 0 doctor --device cpu --only stress --stress-size 100 --stress-seconds 0.05 --json
is '"GFLOP/s"' devices 0 checks 0 unit
at_least "$(value devices 0 checks 0 cases)" 2

# A complete device whose memory the host cannot read, and each of its faults by name.
export TENON_PLUGIN_PATH="$mock:${TENON_PLUGIN_PATH-}"
TENON_MOCK=oom:2,devices:2 run 0 doctor --device mock:1 --stress-seconds 0.1 --memory 1
out_has '^  temperature *21 C'
out_has '^layers.take .*host .* ok$'
out_has "^mock:1: $number ok"
grep -q '^mock:0' "$dir/out" && fail "another device than the one that was asked for"
TENON_MOCK=devices:2 run 0 doctor --device mock --only 'elements.i*'
out_has '^mock:0: 1 ok'
out_has '^mock:1: 1 ok'
TENON_MOCK=async-error:40 run 1 doctor --device mock --only 'elements.*'
out_has 'piece of work 40 failed'
out_has '^mock:0: 5 ok, 1 failed, 0 skipped'
TENON_MOCK=lost:40 run 1 doctor --device mock --only 'elements.*'
out_has 'the device was lost with piece of work 40'
out_has '1 failed, [45] skipped'
TENON_MOCK=oom-after:1M run 1 doctor --device mock --only 'copies.device'
out_has 'OUT_OF_MEMORY'
TENON_MOCK=oom-after:1M run 1 doctor --device mock --only 'copies.device' --json
is false passed
is '"failed"' devices 0 checks 0 state
grep -q '"reason": ".*OUT_OF_MEMORY' "$dir/out" || fail "the reason is not in the JSON"

# All memory of a device with memory of its own is requested, which the core does not refuse itself.
simulated=$TENON_BUILD/tests/with-simcuda
if [ -f "$TENON_BUILD/.libs/backend_cuda.so" ] && "$simulated" true 2>/dev/null; then
	printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$simulated" "$tenon" >"$dir/tenon"
	chmod +x "$dir/tenon"
	native=$tenon tenon=$dir/tenon
	run 0 doctor --device cuda --only memory.limit --json
	is 4 devices 0 checks 0 cases
	tenon=$native
fi

# A named device is not replaced by another one.
TENON_MOCK=no-driver run 3 doctor --device mock
err_has NO_DRIVER
run 3 doctor --device au --only random.bits
run 3 doctor --device absent
run 3 doctor --device cpu:7
TENON_BACKEND=absent run 3 doctor

run 2 doctor --device cpu --backend cpu
run 2 doctor --stress-seconds x
run 2 doctor --stress-size 0
run 2 doctor --memory 100
run 2 doctor more
run 2 doctor --only 'nothing*'
err_has "no check matches 'nothing"
exit 0
