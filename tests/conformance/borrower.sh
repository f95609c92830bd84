#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Host memory with products only: another backend found by the tests lends the rest.
# shellcheck source=sizes_lib.sh
. "$(dirname "$0")/sizes_lib.sh"
out=$(mktemp)
trap 'rm -f "$out" "$out.left"' EXIT
sizes_left_out >"$out.left"
"$TENON_BUILD/tenon-conform" --exclude="$out.left" --require=L4 \
	"$TENON_BUILD/tests/plugins/.libs/backend_borrower.so" >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] && grep -q 'reaches L5 without map and reduce of its own;' "$out"
