#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Rules of the sources that a search can see.
set -u
cd "${TENON_SOURCE:?}" || exit 1
failed=0

# Every variable is read in one place of the library and in one of the command, both over
# secure_getenv.  Two files look at one in order to put it back.
found=$(grep -rnE '\<(secure_)?getenv\(' --include='*.[ch]' core tools plugins include |
	grep -v -e '^core/base/parameter\.c:' -e '^tools/tool\.c:' \
		-e '^tools/conform/context\.c:' -e '^plugins/opencl/discover\.c:')
[ -z "$found" ] || { printf 'FAILED: read it with tn_parameter_read, host->parameter or tool_environment:\n%s\n' "$found" >&2; failed=1; }

# A file that somebody else may have put there is opened by tn_regular_open, which waits at no pipe.
found=$(grep -rnE '\<f?open\(' --include='*.[ch]' core |
	grep -v -e '^core/base/regular\.c:' -e '^core/io/new_file\.c:' -e '[.>_]open(' -e ':[0-9]*: \*' -e ':[0-9]*:/\*')
[ -z "$found" ] || { printf 'FAILED: open it with tn_regular_open:\n%s\n' "$found" >&2; failed=1; }
exit "$failed"
