#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Compiles what the documents say: the C blocks of the README, the examples of the headers and of
# the manual pages of section 3, and the C programs of a plugin's page.
set -u
source=${TENON_SOURCE:?}
cc=${CC:-cc}
command -v "$cc" >/dev/null 2>&1 || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0 compiled=0

try() {
	compiled=$((compiled + 1))
	"$cc" -std=gnu11 -Wall -Werror -Wno-unused -I "$source/include" -fsyntax-only "$dir/$1" || {
		echo "FAILED: $2" >&2
		failed=1
	}
}

# Each ```c block of the README is a program.
awk -v dir="$dir" '/^```c$/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (dir "/readme" n ".c") }' \
	"$source/README.md"
for file in "$dir"/readme*.c; do
	try "$(basename "$file")" README.md
done

# Each literal display of the EXAMPLES is the body of a function that has a context.
examples() {
	awk -v base="$2" '
	/^\.Sh / { in_examples = /EXAMPLES/ }
	in_examples && /^\.Bd -literal/ { n++; on = 1; next }
	/^\.Ed/ { on = 0 }
	on { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > (base n ".body") }' "$1"
}

for page in "$source"/man/*.3; do
	[ -f "$page" ] || continue
	name=$(basename "$page" .3)
	examples "$page" "$dir/$name-"
	for body in "$dir/$name"-*.body; do
		[ -f "$body" ] || continue
		{
			printf '#include <stdio.h>\n#include <tenon/tenon.h>\nint example(tn_context *ctx);\n'
			printf 'int example(tn_context *ctx)\n{\n'
			cat "$body"
			printf 'return ctx != NULL;\n}\n'
		} >"$body.c"
		try "$(basename "$body.c")" "$page: EXAMPLES"
	done
done

# Each indented display in a header's comments that calls Tenon is the body of a function, whose
# arguments are what displays take for granted.
awk '
function finish() {
	if (body ~ /tn_[a-z0-9_]+\(.*;/) {
		printf "int example%d(ARGUMENTS);\nint example%d(ARGUMENTS)\n{\n", ++n, n
		printf "{\n#line %d \"%s\"\n%s}\nreturn 0;\n}\n", line, file, body
	}
	body = ""
}
BEGIN {
	print "#include <stdio.h>\n#include <tenon/tenon.h>"
	print "#define ARGUMENTS tn_context *ctx, tn_module *net, tn_optimizer *optimizer, \\"
	print "\ttn_graph *graph, tn_array *x, tn_array *y, tn_array *w, tn_array *b, tn_array *labels, \\"
	print "\tstruct tn_error_info error, void *data, size_t size, int n, float a"
	print "tn_status step(tn_context *ctx);"
}
/^ \*     +[^ ]/ || (body != "" && /^ \*$/) {
	if (body == "") { file = FILENAME; line = FNR }
	body = body substr($0, 3) "\n"
	next
}
{ finish() }
END { finish(); exit n < 7 }' "$source"/include/tenon/*.h >"$dir/headers.c" || {
	echo "FAILED: fewer examples in the headers than there were" >&2
	failed=1
}
try headers.c "an example in a header"

# Between .\" program c and .\" end of program: a whole program.
for page in "$source"/plugins/*/*.7; do
	name=$(basename "$page" .7)
	awk -v base="$dir/$name-" '
	/^\.\\" program c/ { wanted = 1; n++ }
	/^\.\\" end of program/ { wanted = 0 }
	/^\.Ed/ { on = 0 }
	on { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > (base n ".c") }
	wanted && /^\.Bd -literal/ { on = 1 }' "$page"
	for program in "$dir/$name"-*.c; do
		[ -f "$program" ] || continue
		try "$(basename "$program")" "$page: program"
	done
done
[ "$compiled" -gt 0 ] || { echo "nothing was compiled" >&2; exit 1; }
echo "$compiled pieces compiled"
exit $failed
