#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The README's steps for a program against the build tree; .ci/run runs those for an installed one.
set -eu
source=${TENON_SOURCE:?} build=${TENON_BUILD:?}
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
needs_command pkg-config
not_when_sanitized "programs need flags that the README does not have"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# shellcheck disable=SC2086
cc() { ${CC:-command cc} "$@"; }
"$source/tests/doc/readme-steps" 'build/tests/with-plugins' >"$dir/steps"
ln -s "$source/examples" "$dir/examples"
ln -s "$build" "$dir/build"
cd "$dir"
# shellcheck source=/dev/null
. ./steps >found
echo '-0.64 -0.50 -0.16' | diff - found
