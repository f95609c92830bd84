#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Devices that compute f32 in bf16, or in f16.
# shellcheck source=sizes_lib.sh
. "$(dirname "$0")/sizes_lib.sh"
left_out=$(mktemp)
trap 'rm -f "$left_out"' EXIT
sizes_left_out >"$left_out"
for name in narrow half; do
	"$TENON_BUILD/tenon-conform" --exclude="$left_out" --require=L5 \
		"$TENON_BUILD/tests/plugins/.libs/backend_$name.so" || exit
done
