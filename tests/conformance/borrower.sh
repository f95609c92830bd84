#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Host memory with products only: another backend found by the tests lends the rest.
# shellcheck source=effort_lib.sh
. "$(dirname "$0")/effort_lib.sh"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
# shellcheck disable=SC2046
"$TENON_BUILD/tenon-conform" $(effort 2) --require=L4 \
	"$TENON_BUILD/tests/plugins/.libs/backend_borrower.so" >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] && grep -q 'reaches L5 without map and reduce of its own[,;]' "$out"
