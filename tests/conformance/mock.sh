#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A device with deferred work, and all pairs of dtypes; then two of them.
unset TENON_MOCK
mock=$TENON_BUILD/plugins/mock/.libs/backend_mock.so
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$TENON_BUILD/tenon-conform" --require=L5 "$mock" >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] && ! grep -q unchecked "$out" || exit 1
"$TENON_BUILD/tenon-conform" --mode=large --filter=dtypes.pairs "$mock" || exit
: >"$out"
for family in threads peer; do
	TENON_MOCK=devices:2 "$TENON_BUILD/tenon-conform" --filter="$family.*" "$mock" >>"$out" || {
		cat "$out"
		exit 1
	}
done
cat "$out"
grep -q 'threads.devices.*passed' "$out" && grep -q 'peer.order.*passed' "$out"
