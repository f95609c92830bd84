#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# The mock backend: each fault, its line and the exit status.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
mock=$TENON_BUILD/plugins/mock/.libs
[ -f "$mock/backend_mock.so" ] || fail "backend_mock.so has not been built"

# It is never used unless requested.
unset TENON_MOCK
run 0 info --json
grep -q '"mock"' "$dir/out" && fail "the mock backend is found without its folder"

others=${TENON_PLUGIN_PATH-}
export TENON_PLUGIN_PATH="$mock:$others"
run 0 info --why mock
out_has 'mock: usable'
run 0 info --env
out_has TENON_MOCK

# absent FAULT STATUS STAGE TEXT [FOLDER]: one notice and the next device; required, exit status 3.
absent() {
	TENON_PLUGIN_PATH="${5:-$mock}:$others"
	TENON_MOCK=$1 TENON_BACKEND=mock run 3 info --why mock
	out_has "mock: $2"
	out_has "stage reached: $3"
	err_has "mock not used: $2: $4"
	[ "$(grep -c 'mock not used' "$dir/err")" -eq 1 ] || fail "$1: expected one notice"
	TENON_MOCK=$1 TENON_BACKEND='mock!' run 3 info
	err_has "$2"
	TENON_PLUGIN_PATH=$mock:$others
}
absent no-driver NO_DRIVER create 'the driver is not loaded'
absent driver-too-old DRIVER_TOO_OLD create 'the driver is version 1.0'
absent missing-library MISSING_LIBRARY create 'libmock.so.1: cannot open'
absent no-device NO_DEVICE devices 'the driver sees no device'
absent old-abi ABI_MISMATCH create 'made for an older interface'
# The older file is refused before it is opened, so the variable is not read.
absent no-driver ABI_MISMATCH negotiate 'made for interface' \
	"$TENON_BUILD/plugins/mock/old-abi/.libs"
absent slow:x PROBE_FAILED create ".*TENON_MOCK (mock.faults), column 6 of 'slow:x'"

TENON_MOCK=devices:3 run 0 info
out_has 'mock device 2'

# The sh program of the manual page works, with this build in place of an installed one.
mkdir "$dir/bin" "$dir/page"
printf '#!/bin/sh\necho "%s"\n' "$mock" >"$dir/bin/pkg-config"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$tenon" >"$dir/bin/tenon"
chmod +x "$dir/bin/pkg-config" "$dir/bin/tenon"
awk '/^\.\\" program sh/ { wanted = 1 } /^\.\\" end of program/ { wanted = 0 }
	wanted && /^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print } wanted && /^\.Bd/ { on = 1 }' \
	"${TENON_SOURCE:?}/plugins/mock/tenon-mock.7" >"$dir/page/example.sh"
grep -q no-driver "$dir/page/example.sh" || fail "the page has no sh program"
(cd "$dir/page" && PATH=$dir/bin:$PATH sh example.sh) >"$dir/out" 2>"$dir/err" || {
	cat "$dir/err" >&2
	fail "the sh program of the page"
}

# The example program tests its own fallback.
"$TENON_BUILD/examples/test_fallback" "$mock/backend_mock.so" >"$dir/out" 2>"$dir/err" || {
	cat "$dir/out" "$dir/err" >&2
	fail "test_fallback"
}
out_has '4 passed'

# Faults during training.
needs_digits
train='train mlp --data digits --epochs 1 --seed 1 --quiet'
# shellcheck disable=SC2086
TENON_MOCK=oom:1 run 0 $train --metrics "$dir/mock" --backend 'mock!'
# shellcheck disable=SC2086
run 0 $train --metrics "$dir/host" --backend '^mock'
awk -v a="$(metric test_loss "$dir/mock")" -v b="$(metric test_loss "$dir/host")" \
	'BEGIN { exit !((a - b) ^ 2 <= (0.01 * b) ^ 2) }' ||
	fail "the mock's loss differs from the host's"
# shellcheck disable=SC2086
TENON_MOCK=lost:20 run 1 $train --backend mock
err_has 'DEVICE_LOST'
err_has 'lost with piece of work 20'
# shellcheck disable=SC2086
TENON_MOCK=async-error:30 run 1 $train --backend mock
err_has 'piece of work 30 failed'
# shellcheck disable=SC2086
TENON_MOCK=oom-after:1M run 1 $train --backend mock
err_has 'OUT_OF_MEMORY'
exit 0
