#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The built-in backend, and all pairs of dtypes.
"$TENON_BUILD/tenon-conform" --require=L5 reference || exit
exec "$TENON_BUILD/tenon-conform" --mode=large --filter=dtypes.pairs reference
