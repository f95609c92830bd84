#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# As for the CPU backend: an allocation that cannot be had must fail, not end the program.
ASAN_OPTIONS=allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
unset TENON_MOCK
mock=$TENON_BUILD/plugins/mock/.libs/backend_mock.so
"$TENON_BUILD/tenon-conform" --require=L5 "$mock" || exit
# Two devices at once.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
TENON_MOCK=devices:2 "$TENON_BUILD/tenon-conform" --filter='threads.*' "$mock" >"$out" || {
	cat "$out"
	exit 1
}
cat "$out"
grep -q 'threads.devices.*passed' "$out"
