#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Every page that a manual page refers to is there.
set -u
cd "${TENON_SOURCE:?}" || exit 1
pages=$(find man plugins -name '*.[137]')
for page in $pages; do
	sed -n 's/^\.Xr \(tenon[a-z-]*\|tn_[a-z_]*\) \([0-9]\).*/\1.\2/p' "$page" | while read -r other; do
		find man plugins -name "$other" | grep -q . ||
			{ echo "$page refers to $other, which is not there"; exit 1; }
	done || exit 1
done
