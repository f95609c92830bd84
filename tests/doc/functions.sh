#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Every public function is in the NAME section of one page, so that man finds it, which is checked
# in the build tree.  Below the header that declares it, the SYNOPSIS of that page has its
# prototype, word for word, and the sections after it describe it.  tenon-functions(7) has a line of
# it.
set -u
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# HEADER: PROTOTYPE
for header in include/tenon/*.h; do
	tr '\n\t' '  ' <"$header" | awk -v header="${header#include/}" -v RS=';' '
	{ gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, ""); gsub(/TN_CHECKED/, "") }
	{ gsub(/ +/, " "); gsub(/\* /, "*") }
	/TN_API .*tn_[a-z0-9_]*\(/ { sub(/.*TN_API +/, ""); sub(/ $/, ""); print header ": " $0 }'
done | sort >"$dir/declared"
awk '
function unquote(s) { gsub(/"/, "", s); return s }
function prototype() { print header ": " type (type ~ /\*$/ ? "" : " ") name "(" arguments ")" }
/^\.Sh / { on = $2 == "SYNOPSIS" }
!on { next }
/^\.In / { header = $2 }
/^\.Ft / { sub(/^\.Ft /, ""); type = unquote($0) }
/^\.Fo / { name = $2; arguments = "" }
/^\.Fa / { sub(/^\.Fa /, ""); arguments = arguments (arguments == "" ? "" : ", ") unquote($0) }
/^\.Fc/ { prototype() }
/^\.Fn / {
	name = $2
	sub(/^\.Fn [^ ]* */, "")
	gsub(/" "/, ", ")
	arguments = unquote($0)
	prototype()
}' man/*.3 | sort >"$dir/synopses"
diff "$dir/declared" "$dir/synopses" || {
	echo "(< declared in a header, and in no SYNOPSIS so; > in a SYNOPSIS, and in no header so)"
	failed=1
}

# PAGE NAME
awk '/^\.Sh / { on = $2 == "NAME" } on && /^\.Nm / { print FILENAME, $2 }' man/*.3 |
	sort >"$dir/named"
sed 's/.*[ *]\(tn_[a-z0-9_]*\)(.*/\1/' "$dir/declared" | sort >"$dir/names"
cut -d' ' -f2 "$dir/named" | sort | diff "$dir/names" - || {
	echo "(< declared, and in no page's NAME section; > there: not declared, or twice)"
	failed=1
}
awk '
/^\.Sh / { section = $2 }
section == "SYNOPSIS" && /^\.F[no] / { print FILENAME, $2 }' man/*.3 | sort >"$dir/in-synopsis"
diff "$dir/named" "$dir/in-synopsis" || {
	echo "(< in the NAME section of this page, > in its SYNOPSIS)"
	failed=1
}
awk '
/^\.Sh / { on = $2 !~ /^(NAME|SYNOPSIS|EXAMPLES|SEE)$/ }
on && /^\.(.* )?Fn / {
	for (i = 1; i <= NF; i++)
		if ($i ~ /^tn_/ && !seen[FILENAME, $i]++)
			print FILENAME, $i
}' man/*.3 | sort >"$dir/described"
# PAGE NAME of tenon-functions(7)
awk '
/^\.Xr tn_/ { page = "man/" $2 "." $3 }
/^\.It Fn / { print page, $3 }' man/tenon-functions.7 | sort | diff "$dir/named" - || {
	echo "(< in the NAME section of this page, > in tenon-functions(7), with one line)"
	failed=1
}
# What tenon-numpy(7) names is there, and each name of another library has one answer.
sed -n 's/^\.It Li //p' man/tenon-numpy.7 | grep -o 'Fn [a-z0-9_]*' | cut -d' ' -f2 | sort -u |
	comm -23 - "$dir/names" | grep . && {
	echo "(in tenon-numpy(7), and declared in no header)"
	failed=1
}
awk '/^\.It Li / { print $3 }' man/tenon-numpy.7 | sort | uniq -d | grep . && {
	echo "(twice in tenon-numpy(7))"
	failed=1
}
comm -23 "$dir/named" "$dir/described" | grep . && {
	echo "(each has no .Fn after the SYNOPSIS: say there what it does)"
	failed=1
}

pages=${TENON_BUILD:?}/share/man
while read -r name; do
	[ -f "$pages/man3/$name.3" ] || { echo "$pages/man3/$name.3 is not there"; exit 1; }
done <"$dir/names"
echo "$(wc -l <"$dir/names") functions"
command -v man >/dev/null || exit $failed
for name in tn_add tn_matmul tn_conv2d tn_trainer_run; do
	man -P cat -M "$pages" "$name" 2>&1 | grep -q "$name" ||
		{ echo "man $name shows no page"; exit 1; }
done
exit $failed
