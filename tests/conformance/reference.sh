#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# An allocation that cannot be had is one of the cases; under a sanitizer it must fail, not end the
# program.
ASAN_OPTIONS=allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
exec "$TENON_BUILD/tenon-conform" --require=L5 reference
