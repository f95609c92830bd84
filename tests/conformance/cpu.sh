#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The best backend for the processor, and all pairs of dtypes.
# shellcheck source=effort_lib.sh
. "$(dirname "$0")/effort_lib.sh"
# shellcheck disable=SC2046
"$TENON_BUILD/tenon-conform" $(effort 5) --require=L5 cpu || exit
exec "$TENON_BUILD/tenon-conform" --mode=large --filter=dtypes.pairs cpu
