# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# What make check sets for each test, beside where the sources and the build are.
#
# Tests run and load what they have compiled.  Where the folder for temporary files allows no
# programs (a mount with noexec), it is one in the build tree.
runs_programs() {
	probe=$(mktemp) && echo '#!/bin/sh' >"$probe" && chmod u+x "$probe" && "$probe"
}
runs_programs 2>/dev/null || {
	TMPDIR=${TENON_BUILD:?}/tests/tmp TENON_TEST_NOEXEC=1
	export TMPDIR TENON_TEST_NOEXEC
	mkdir -p "$TMPDIR"
}
rm -f "$probe"

# The same cases of tenon-conform in every run.
export TENON_CONFORM_SEED="${TENON_CONFORM_SEED:-0}"
