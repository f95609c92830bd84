#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# examples/regression on a table of a known function, and on a table that has an error.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

program=$TENON_BUILD/examples/regression
LC_ALL=C awk 'BEGIN {
	srand(1)
	print "width,height,depth,price"
	for (i = 0; i < 250; i++) {
		x = rand(); y = rand(); z = rand()
		printf "%.6f,%.6f,%.6f,%.6f\n", x, y, z, 2 * x - y * y + sin(3 * z)
	}
}' >"$dir/table.csv"
"$program" "$dir/table.csv" >"$dir/out" 2>"$dir/err" || {
	cat "$dir/out" "$dir/err" >&2
	fail "regression: exit status $?"
}
out_has 'R^2 0.9'

sed '7s/,/,n\/a,/' "$dir/table.csv" >"$dir/wrong.csv"
if "$program" "$dir/wrong.csv" >"$dir/out" 2>"$dir/err"; then
	fail 'a row of five fields: expected an error'
fi
err_has 'line 7'
