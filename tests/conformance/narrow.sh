#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A device that computes f32 in bf16.
exec "$TENON_BUILD/tenon-conform" --require=L5 \
	"$TENON_BUILD/tests/plugins/.libs/backend_narrow.so"
