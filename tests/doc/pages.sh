#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Every page that a manual page refers to exists, and every environment variable that is read is in
# tenon(7).
set -u
cd "${TENON_SOURCE:?}" || exit 1
pages=$(find man plugins -name '*.[137]')
for page in $pages; do
	sed -n 's/^\.Xr \(tenon[a-z-]*\|tn_[a-z_]*\) \([0-9]\).*/\1.\2/p' "$page" |
		while read -r other; do
			find man plugins -name "$other" | grep -q . ||
				{ echo "$page refers to $other, which is not there"; exit 1; }
		done || exit 1
done
read_here=$(find core tools plugins -name '*.[ch]' -exec grep -ho '"TENON_[A-Z0-9_]*"' {} + |
	tr -d '"' | sort -u)
for variable in $read_here; do
	grep -q "^\.It Ev \(TENON_[A-Z_]* , \)*$variable\( \|$\)" man/tenon.7 ||
		{ echo "$variable is read, and is not in tenon(7)"; exit 1; }
done
