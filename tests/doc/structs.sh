#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A page lists the members of every struct of options as the headers declare them:
# .Ss "struct NAME", and below it .It Fa "DECLARATION" for each, in order.  Every
# struct_size has one type, and every flag of a program's struct.  Right after each struct of
# options stands its tn_..._defaults, which sets struct_size.
set -u
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
awk '
/^struct tn_[a-z0-9_]*_options \{/ { name = $2; body = ""; next }
name == "" { next }
{ body = body " " $0 }
/^\};/ {
	sub(/\};.*/, "", body)
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", body)
	n = split(body, members, ";")
	for (i = 1; i < n; i++) {
		gsub(/[ \t]+/, " ", members[i])
		sub(/^ /, "", members[i])
		gsub(/\* /, "*", members[i])
		print name ": " members[i]
	}
	name = ""
}' include/tenon/*.h >"$dir/headers"
awk '
/^\.S[sh] / { name = $2 == "\"struct" && $3 ~ /_options"$/ ? substr($3, 1, length($3) - 1) : "" }
name != "" && /^\.It Fa "/ { sub(/^\.It Fa "/, ""); sub(/"$/, ""); print name ": " $0 }' \
	man/*.3 >"$dir/pages"
sort -s -t: -k1,1 "$dir/headers" >"$dir/headers.sorted"
sort -s -t: -k1,1 "$dir/pages" >"$dir/pages.sorted"
diff "$dir/headers.sorted" "$dir/pages.sorted" || {
	echo "(< in a header and in no page, > in a page and in no header)"
	exit 1
}
grep -hn '[a-z0-9_] struct_size;' include/tenon/*.h | grep -v 'uint32_t struct_size;' && {
	echo "(a struct_size that is not uint32_t)"
	exit 1
}
grep -n 'uint[0-9]*_t [a-z_]*; */\* 1: ' include/tenon/*.h |
	grep -v -e /backend.h -e /communicator.h -e /plugin.h && {
	echo "(a flag that is not int)"
	exit 1
}
awk '
/^struct tn_[a-z0-9_]* \{/ { name = $2 }
/^\};/ && name != "" { of = name; name = ""; text = ""; next }
of == "" { next }
{ text = text $0 " " }
/^\}/ || /^$/ {
	stem = of
	sub(/_options$/, "", stem)
	if (text !~ "^static inline struct " of " " stem "_defaults\\(void\\) ") {
		if (of ~ /_options$/)
			print of ": no " stem "_defaults right after it"
	} else if (text !~ /\.struct_size = sizeof\(/)
		print stem "_defaults: sets no struct_size"
	of = ""
}' include/tenon/*.h >"$dir/defaults"
[ ! -s "$dir/defaults" ] || { cat "$dir/defaults"; exit 1; }
[ -s "$dir/headers" ] || { echo "no struct of options was found"; exit 1; }
echo "$(cut -d: -f1 "$dir/headers" | sort -u | wc -l) structs, $(wc -l <"$dir/headers") members"
