#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The library exports exactly what the public headers declare.
set -u
library=$(find "${TENON_BUILD:?}/.libs" -name 'libtenon.so.*.*.*' | head -n 1)
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
[ -n "$library" ] || skip "there is no shared library"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nm -D --defined-only "$library" | awk '$2 ~ /[TDRB]/ { print $3 }' | sort >"$dir/exported"
# A declaration that begins with TN_API and may span several lines.
cat "${TENON_SOURCE:?}"/include/tenon/*.h | tr '\n' ' ' | grep -o 'TN_API [^;]*;' |
	sed -n 's/^[^(]*[ *]\(tn_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$dir/declared"
diff "$dir/declared" "$dir/exported" || {
	echo "(< declared and not exported, > exported and not declared)"
	exit 1
}
echo "$(wc -l <"$dir/exported") symbols"
