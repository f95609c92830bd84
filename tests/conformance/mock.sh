#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A device with deferred work, and all pairs of dtypes; then two of them.  Levels 2 to 4 run under a
# plugin that lists the programs that they use: no more than tenon-conform(1) says.
# shellcheck source=effort_lib.sh
. "$(dirname "$0")/effort_lib.sh"
unset TENON_MOCK
mock=$TENON_BUILD/plugins/mock/.libs/backend_mock.so
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out
most=$(awk '/^At most [0-9]+ distinct programs/ { print $3 }' \
	"${TENON_SOURCE:?}/man/tenon-conform.1")

# level N FILE: it passes.
level()
{
	# shellcheck disable=SC2046
	"$TENON_BUILD/tenon-conform" $(effort 2) --level="$1" "$2" >"$out" || {
		cat "$out"
		exit 1
	}
	cat "$out"
	grep -q "^L$1  *PASSED" "$out" && ! grep -q unchecked "$out" || exit 1
}

level 0 "$mock"
level 1 "$mock"
level 5 "$mock"
for level in 2 3 4; do
	FAULT=lists_programs FAULT_PROGRAMS=$dir/programs.$level FAULTY_PLUGIN=$mock
	export FAULT FAULT_PROGRAMS FAULTY_PLUGIN
	level $level "$TENON_BUILD/tests/plugins/.libs/backend_faulty.so"
	used=$(sort -u "$dir/programs.$level" | wc -l)
	if [ "$used" -eq 0 ] || [ "$used" -gt "${most:-0}" ]; then
		echo "level $level uses $used programs, tenon-conform(1) says at most ${most:-none}"
		exit 1
	fi
done
"$TENON_BUILD/tenon-conform" --mode=large --filter=dtypes.pairs "$mock" || exit
: >"$out"
for family in threads peer; do
	# shellcheck disable=SC2046
	TENON_MOCK=devices:2 "$TENON_BUILD/tenon-conform" $(effort 2) --filter="$family.*" \
		"$mock" >>"$out" || {
		cat "$out"
		exit 1
	}
done
cat "$out"
grep -q 'threads.devices.*passed' "$out" && grep -q 'peer.order.*passed' "$out"
