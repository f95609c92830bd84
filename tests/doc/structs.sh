#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A page lists the members of every struct of options as the headers declare them:
# .Ss "struct NAME", and below it .It Fa "DECLARATION" for each, in order.  The item of struct_size
# names the function that makes the struct, and the other items state the defaults of that function.
# Every struct_size has one type.
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

# STRUCT.MEMBER VALUE, of the functions of defaults; the value without blanks, quotes and commas.
awk '
function plain(s) { gsub(/\.0 \/ /, "/", s); gsub(/\.0$/, "", s); gsub(/["\047, ]/, "", s); return s }
/^static inline struct tn_[a-z0-9_]*_options tn_[a-z0-9_]*_defaults\(void\)/ {
	name = $4
	sub(/\(void\)/, "", $5)
	print name ".struct_size", $5
}
/^}/ { name = "" }
name != "" && /^\toptions\.[a-z0-9_\[\]]+ = / && !/struct_size/ {
	member = $1
	sub(/options\./, "", member)
	sub(/\[.*/, "", member)
	value = $0
	sub(/^[^=]*= /, "", value)
	sub(/;$/, "", value)
	print name "." member, plain(value)
}' include/tenon/*.h | sort >"$dir/defaults"
cut -d. -f1 "$dir/defaults" | sort -u >"$dir/made"
cut -d: -f1 "$dir/headers" | sort -u | diff - "$dir/made" || {
	echo "(< a struct of options, > one that a function of defaults makes)"
	exit 1
}
# STRUCT.MEMBER TEXT, of the pages.
awk '
function finish() { if (item != "") print name "." item, text; item = text = "" }
/^\.(S[sh]|It|El)/ { finish() }
/^\.S[sh] / { name = $2 == "\"struct" && $3 ~ /_options"$/ ? substr($3, 1, length($3) - 1) : "" }
name != "" && /^\.It Fa "/ {
	item = $0
	sub(/(\[.*|\)\(.*)?"$/, "", item)
	sub(/.*[ *]/, "", item)
	next
}
item != "" {
	line = $0
	sub(/^\.[A-Z][a-z] /, "", line)
	gsub(/\\\(dq|\\&|["\047,\\]/, "", line)
	text = text " " line
}' man/*.3 >"$dir/items"
awk '
FNR == NR { value[$1] = value[$1] " " $2; next }
$1 in value {
	n = split(value[$1], each, " ")
	text = tolower($0)
	is_size = $1 ~ /\.struct_size$/
	for (i = 1; i <= n; i++)
		if (text !~ /^[^ ]* +(as in|the same)/ &&
		    !index(text, tolower((is_size || i > 1 ? "" : "default ") each[i])))
			print $1 ": " each[i] ", but the page has:" substr($0, length($1) + 1)
	next
}
/[Dd]efault ([1-9]|0\.[0-9])/ { print $1 ": 0, but the page has:" substr($0, length($1) + 1) }
' "$dir/defaults" "$dir/items" >"$dir/wrong"
[ -s "$dir/wrong" ] && {
	cat "$dir/wrong"
	echo "(the default of a member, which its item on the page has to state as \"default VALUE\")"
	exit 1
}

grep -hn '[a-z0-9_] struct_size;' include/tenon/*.h | grep -v 'uint32_t struct_size;' && {
	echo "(a struct_size that is not uint32_t)"
	exit 1
}
[ -s "$dir/headers" ] || { echo "no struct of options was found"; exit 1; }
echo "$(wc -l <"$dir/made") structs, $(wc -l <"$dir/headers") members"
