#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The best backend for the processor, and all pairs of dtypes.
"$TENON_BUILD/tenon-conform" --require=L5 cpu || exit
exec "$TENON_BUILD/tenon-conform" --mode=large --filter=dtypes.pairs cpu
