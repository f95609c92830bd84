#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Two backends in one program: arrays move between them, and results agree.  One is a fixture whose
# memory the host cannot read; the other is the CPU backend or, if not built, the built-in one.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

program=$TENON_BUILD/examples/two_backends
TENON_PLUGIN_PATH=$TENON_BUILD/tests/plugins/.libs/backend_copyonly.so:$TENON_PLUGIN_PATH
export TENON_PLUGIN_PATH

for other in cpu reference; do
	status=0
	"$program" copyonly $other >"$dir/out" 2>"$dir/err" || status=$?
	[ $status -eq 77 ] && [ $other = cpu ] && continue
	[ $status -eq 0 ] || {
		cat "$dir/out" "$dir/err" >&2
		fail "two_backends copyonly $other: exit status $status"
	}
	out_has "copyonly:0, then $other:0: differs by"
	out_has "$other:0, then copyonly:0: differs by"
done

# Only the two named backends; an absent one is named.
status=0
"$program" copyonly nothing_like_this >"$dir/out" 2>"$dir/err" || status=$?
[ $status -eq 77 ] || fail "an absent backend: expected exit status 77, found $status"
out_has 'nothing_like_this is not here'
