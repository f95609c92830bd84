#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The built-in backend, and all pairs of dtypes.  Its plain loops take long for arrays of all sizes:
# unless all is asked for it runs only those of the slots that the CPU backend has not.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
left_out=$(mktemp)
trap 'rm -f "$left_out"' EXIT
is_whole || "$TENON_BUILD/tenon-conform" --list |
	awk '$2 ~ /^(sizes|threads\.sizes)/ && $2 !~ /\.(scatter|attention_.*)$/ {
		print $2, "2026-11-29 the CPU backend runs it" }' \
		>"$left_out"
"$TENON_BUILD/tenon-conform" --exclude="$left_out" --require=L5 reference || exit
"$TENON_BUILD/tenon-conform" --mode=large --filter=dtypes.pairs reference
