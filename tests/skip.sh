# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# What a test needs, for the scripts: it is skipped with the reason where it cannot be had.

skip() {
	printf 'skipped: %s\n' "$*" >&2
	exit 77
}

needs_command() {
	command -v "$1" >/dev/null 2>&1 || skip "there is no command '$1'"
}

# TENON_TEST_BRIEF: another build runs all tests; this one those that depend on the compiler.
not_when_brief() {
	[ -z "${TENON_TEST_BRIEF:-}" ] || skip "another build runs it (TENON_TEST_BRIEF)"
}

# TENON_TEST_WHOLE: every case; make check takes representative ones where all would take long.
is_whole() { [ -n "${TENON_TEST_WHOLE:-}" ]; }

is_sanitized() { grep -q '^TN_CFLAGS.*-fsanitize' "${TENON_BUILD:?}/Makefile"; }

# not_when_sanitized REASON
not_when_sanitized() {
	! is_sanitized || skip "under a sanitizer $1"
}

# The CUDA backend and the simulated CUDA, with what compiles its kernels.
needs_simulated_cuda() {
	[ -f "${TENON_BUILD:?}/.libs/backend_cuda.so" ] ||
		skip "the CUDA backend was not built: configure found no headers of the toolkit"
	"$TENON_BUILD/tests/with-simcuda" true || exit 77
}
