#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A device whose memory the host cannot read, with transfers only.
exec "$TENON_BUILD/tenon-conform" --require=L1 \
	"$TENON_BUILD/tests/plugins/.libs/backend_copyonly.so"
