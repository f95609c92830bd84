#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The kinds of machines in tenon-cuda(7), MACHINES, are those of the tables of tests/simcuda, and
# its texts are what those expect.
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
tables='tests/simcuda/libraries.sh tests/simcuda/machines.sh'
sed -n '/^\.Ss Machines/,/^\.El/p' plugins/cuda/tenon-cuda.7 >"$dir/section"
sed -n 's/^\.It //p' "$dir/section" | sort >"$dir/page"
# shellcheck disable=SC2086
sed -n 's/^#: //p' $tables | sort >"$dir/tables"
diff "$dir/page" "$dir/tables" || {
	echo "FAILED: < is in tenon-cuda(7) alone, > in the tables of tests/simcuda alone"
	exit 1
}
# Rows may be continued on the next line.
# shellcheck disable=SC2086
cat $tables tests/cli/cuda_absent.sh | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' >"$dir/rows"
failed=0
sed -n 's/^\.Ql //p' "$dir/section" | sed -e 's/ [.,]$//' -e 's/\.\.\.$//' >"$dir/texts"
while read -r text; do
	grep -qF -e "$text" "$dir/rows" || {
		echo "FAILED: no test expects the text '$text' of tenon-cuda(7)"
		failed=1
	}
done <"$dir/texts"
echo "$(wc -l <"$dir/page") machines, $(wc -l <"$dir/texts") texts"
exit $failed
