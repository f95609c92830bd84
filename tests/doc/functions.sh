#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Every public function is in the NAME section of one page, so that man finds it; and man does, in
# the build tree.
set -u
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat include/tenon/*.h | tr '\n' ' ' | grep -o 'TN_API [^;]*;' |
	sed -n 's/^[^(]*[ *]\(tn_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$dir/declared"
awk '/^\.Sh / { on = $2 == "NAME" } on && /^\.Nm / { print $2 }' man/*.3 | sort >"$dir/named"
diff "$dir/declared" "$dir/named" || {
	echo "(< declared, and in no page's NAME section; > there, and not declared, or there twice)"
	exit 1
}

pages=${TENON_BUILD:?}/share/man
while read -r name; do
	[ -f "$pages/man3/$name.3" ] || { echo "$pages/man3/$name.3 is not there"; exit 1; }
done <"$dir/declared"
echo "$(wc -l <"$dir/declared") functions"
command -v man >/dev/null || exit 0
for name in tn_add tn_matmul tn_conv2d tn_train; do
	man -P cat -M "$pages" "$name" 2>&1 | grep -q "$name" ||
		{ echo "man $name shows no page"; exit 1; }
done
