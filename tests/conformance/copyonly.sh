#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A device whose memory the host cannot read, with transfers only.  The levels above go through the
# host: they run if all is asked for.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
highest=1
! is_whole || highest=5
exec "$TENON_BUILD/tenon-conform" --level=0-$highest --require=L1 \
	"$TENON_BUILD/tests/plugins/.libs/backend_copyonly.so"
