#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Devices that compute f32 in bf16, or in f16.
# shellcheck source=effort_lib.sh
. "$(dirname "$0")/effort_lib.sh"
for name in narrow half; do
	# shellcheck disable=SC2046
	"$TENON_BUILD/tenon-conform" $(effort 2) --require=L5 \
		"$TENON_BUILD/tests/plugins/.libs/backend_$name.so" || exit
done
