#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A page names the function that makes a struct of options with its defaults in the item of
# struct_size (.Fn tn_adam_defaults), and the items of members whose default is not 0 state it:
# "default 0.9", ".Dv TN_NO_LIMIT" for a name.  An item without one that begins with "as in" or "the
# same" refers to another.  structs.sh finds a struct without that function.
# man shows the page of every function of defaults, also of structs of another name.
set -u
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# STRUCT.MEMBER VALUE, of the functions of defaults; the value without blanks, quotes and commas.
awk '
function plain(s) {
	gsub(/\.0 \/ /, "/", s)
	gsub(/\.0$|["\047, ]/, "", s)
	return s
}
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
		if ((text ~ /default/ || text !~ /^[^ ]* +(as in|the same)/) &&
		    !index(text, tolower((is_size || i > 1 ? "" : "default ") each[i])))
			print $1 ": " each[i] ", but the page has:" substr($0, length($1) + 1)
	next
}
/[Dd]efault ([1-9]|0\.[0-9])/ {
	print $1 ": 0, but the page has:" substr($0, length($1) + 1)
}
' "$dir/defaults" "$dir/items" >"$dir/wrong"
[ -s "$dir/wrong" ] && {
	cat "$dir/wrong"
	echo "(the default of a member: its item on the page has to say \"default VALUE\")"
	exit 1
}
grep -ho "tn_[a-z0-9_]*_defaults(void)" include/tenon/*.h | cut -d"(" -f1 >"$dir/functions"
while read -r name; do
	[ -f "${TENON_BUILD:?}/share/man/man3/$name.3" ] || echo "man $name shows no page"
done <"$dir/functions" | grep . && exit 1
[ -s "$dir/defaults" ] || { echo "no function of defaults was found"; exit 1; }
echo "$(grep -c "\.struct_size " "$dir/defaults") structs, $(wc -l <"$dir/defaults") defaults"
