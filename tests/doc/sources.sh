#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Rules for the sources that can be checked by a search.
set -u
cd "${TENON_SOURCE:?}" || exit 1
failed=0
# Reports the lines of $found, which violate the rule $1.
say() {
	[ -z "$found" ] || {
		printf 'FAILED: %s:\n%s\n' "$1" "$found" >&2
		failed=1
	}
}

# Every variable is read in one place of the library and in one of the command, both over
# secure_getenv.  Two files read one in order to restore it.
found=$(grep -rnE '\<(secure_)?getenv\(' --include='*.[ch]' core tools plugins include |
	grep -v -e '^core/base/parameter\.c:' -e '^tools/tool\.c:' \
		-e '^tools/conform/context\.c:' -e '^plugins/opencl/discover\.c:')
say 'read it with tn_parameter_read, host->parameter or tool_environment'

# Files that others may have created are opened by tn_regular_open, which does not block on a pipe.
found=$(grep -rnE '\<f?open\(' --include='*.[ch]' core |
	grep -v -e '^core/base/regular\.c:' -e '^core/base/new_file\.c:' \
		-e '^core/io/lock_file\.c:' -e '[.>_]open(' \
		-e ':[0-9]*: \*' -e ':[0-9]*:/\*')
say 'open it with tn_regular_open'

# After the two lines of the licence a source says what it does; a pointer to a header says nothing.
# shellcheck disable=SC2046  # names without blanks
found=$(awk '
	FNR == 3 { is_apart = /^( \*|\/\/)$/ }
	FNR == 4 && !(is_apart && /^( \*|\/\/) [^ ]/ && !/^ ?[^ ]+ See [^ ]*\.h/) {
		print FILENAME
	}
	FNR == 4 { nextfile }
	' $(git ls-files '*.c' '*.h' '*.cu' '*.def' 2>/dev/null) /dev/null)
say 'begin with a sentence on what the file does'

# Lines in files tracked by git have at most 100 columns, except data, generated tables and numbers,
# and the page that quotes long errors.
files=$(git ls-files 2>/dev/null | grep -v -e '^data/' -e '^LICENSE$' -e '\.expected$' \
	-e '^bench/results/' -e '^tests/abi/.*\.abi$' -e '^tests/fuzz/corpus/' \
	-e '^tests/parity/.*\.\(h\|txt\)$' -e '^tools/conform/dtype_cells\.txt$' \
	-e '^man/tenon-troubleshooting\.7$' -e '/conform\.exclude$')
# File names of this tree have no blanks.
# shellcheck disable=SC2086
found=$(awk '
	{ line = $0 }
	line ~ /\t/ {
		columns = ""
		while (i = index(line, "\t")) {
			columns = columns substr(line, 1, i - 1)
			columns = columns substr("        ", length(columns) % 8 + 1)
			line = substr(line, i + 1)
		}
		line = columns line
	}
	length(line) > 100 && (FILENAME !~ /\.md$/ || line !~ /^\|/) { print FILENAME ":" FNR }
	' $files /dev/null)
say 'at most 100 columns'

# A backend is a project of its own, with its own copy of the script that it is built with.
found=$(diff core/program/embed.awk plugins/opencl/embed.awk)
say 'keep core/program/embed.awk and plugins/opencl/embed.awk the same'
exit "$failed"
