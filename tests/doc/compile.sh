#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Compiles the programs in the documents: that of the README, which is examples/gradient.c, the
# examples of the headers and of the manual pages of section 3, and the C programs of a plugin's
# page.  tests/cli/plugin_new.sh compiles those of tenon-plugin(7), tests/abi/man-example that of
# tenon-backend(7), tests/unit/program_parse.c the element programs.
set -u
source=${TENON_SOURCE:?}
cc=${CC:-cc}
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_command "$cc"
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

# The README shows examples/gradient.c, without the comment at its head.
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$source/README.md" >"$dir/readme.c"
sed '1,/^ \*\/$/d' "$source/examples/gradient.c" | diff "$dir/readme.c" - || {
	echo "FAILED: (< README.md, > examples/gradient.c)" >&2
	failed=1
}
try readme.c README.md

# Declarations that the examples assume.
cat >"$dir/example.h" <<'END'
#include <math.h>
#include <stdio.h>
#include <tenon/tenon.h>
#define ARGUMENTS tn_context *ctx, tn_module *net, tn_optimizer *optimizer, \
	tn_graph *graph, tn_array *x, tn_array *y, tn_array *w, tn_array *b, tn_array *labels, \
	tn_data_loader *loader, tn_data_loader *training, tn_data_loader *validation, \
	tn_schedule *schedule, struct tn_error_info error, void *data, size_t size, int n, float a
tn_status step(tn_context *ctx);
END

# Each literal display of a page is the body of a function, all of them in one file, or, after a
# comment .\" functions, has whole ones, in a file of its own.
echo '#include "example.h"' >"$dir/bodies.c"
examples() {
	awk -v bodies="$dir/bodies.c" -v base="$2" -v page="$1" '
	/^\.\\" functions/ { whole = 1 }
	/^\.Bd -literal/ {
		n++
		on = 1
		file = whole ? base n ".whole.c" : bodies
		name = "example_" page n
		gsub(/[^a-z0-9]/, "_", name)
		if (whole)
			printf "#include \"example.h\"\n#line %d \"%s\"\n", NR + 1, page >>file
		else
			printf "int %s(ARGUMENTS);\nint %s(ARGUMENTS)\n{\n{\n#line %d \"%s\"\n",
				name, name, NR + 1, page >>file
		next
	}
	/^\.Ed/ {
		if (on && !whole)
			printf "}\nreturn 0;\n}\n" >>file
		on = whole = 0
	}
	on { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print >>file }' "$1"
}

for page in "$source"/man/*.3 "$source/man/tenon-training.7"; do
	[ -f "$page" ] || continue
	name=$(basename "$page")
	examples "$page" "$dir/$name-"
	for whole in "$dir/$name"-*.whole.c; do
		[ -f "$whole" ] || continue
		try "$(basename "$whole")" "$page: $(sed -n 3p "$whole")"
	done
done
[ "$(grep -c '^int example.*;$' "$dir/bodies.c")" -ge 80 ] || {
	echo "FAILED: fewer examples in the pages than there were" >&2
	failed=1
}
try bodies.c "an example of a page"

# Each indented display in a header's comments that calls Tenon is the body of a function.
awk '
function finish() {
	if (body ~ /tn_[a-z0-9_]+\(.*;/) {
		printf "int example%d(ARGUMENTS);\nint example%d(ARGUMENTS)\n{\n", ++n, n
		printf "{\n#line %d \"%s\"\n%s}\nreturn 0;\n}\n", line, file, body
	}
	body = ""
}
BEGIN { print "#include \"example.h\"" }
/^ \*     +[^ ]/ || (body != "" && /^ \*$/) {
	if (body == "") { file = FILENAME; line = FNR }
	body = body substr($0, 3) "\n"
	next
}
{ finish() }
END { finish(); exit n < 8 }' "$source"/include/tenon/*.h >"$dir/headers.c" || {
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
echo "$compiled files compiled"
exit $failed
