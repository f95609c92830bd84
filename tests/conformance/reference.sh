#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The built-in backend.
exec "$TENON_BUILD/tenon-conform" --require=L5 reference
