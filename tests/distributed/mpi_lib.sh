# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# For the tests of a communicator of MPI, after `name` (openmpi, mpich) and `launcher` (a command)
# are set.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
[ -f "${TENON_BUILD:?}/.libs/communicator_$name.so" ] &&
	command -v "${launcher%% *}" >/dev/null || skip "there is no $name"
[ -w /dev/shm ] || skip "MPI needs /dev/shm, which cannot be written"
not_when_brief
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# What the libraries of MPI keep until the end is theirs.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

fail() {
	cat "$folder/log"
	echo "failed: $*" >&2
	exit 1
}

# launch RANKS TEST
launch() {
	rm -rf "$folder/ranks" && mkdir "$folder/ranks" || exit 1
	# shellcheck disable=SC2086
	timeout 120 $launcher -n "$1" "$TENON_BUILD/tests/distributed/mpi_rank" "$name" \
		"$folder/ranks" "$2" >"$folder/log" 2>&1
}

succeeds() {
	launch "$@" || fail "$@"
}

# Each rank tells in a file that it got the error that it should get.  The launcher ends with
# another status than 0, as no rank ends MPI after a failure.
disagree() {
	launch "$1" disagree
	[ "$(find "$folder/ranks" -name 'disagreed.*' | wc -l)" = "$1" ] || fail "$1" disagree
}

# The launcher ends all ranks, and fails.
ends() {
	status=0
	launch "$@" || status=$?
	case $status in 0 | 124) fail "$@" ;; esac
	[ -z "$(ls "$folder/ranks")" ] || fail "$@"
}

# tells RANKS TEST WHAT N: the launcher fails, and N ranks have told that.
tells() {
	status=0
	launch "$1" "$2" || status=$?
	case $status in 0 | 124) fail "$1" "$2" ;; esac
	[ "$(find "$folder/ranks" -name "$3.*" | wc -l)" = "$4" ] || fail "$1" "$2"
}

# test_life: how it begins and ends.
test_life() {
	succeeds 1 unopened
	succeeds 2 program
	succeeds 2 own
	succeeds 2 begun
	succeeds 2 refused
	succeeds 3 waits
	disagree 3
	ends 2 abort
	tells 3 kill unnamed 0
	export TENON_COMMUNICATOR_TIMEOUT=2
	tells 2 absent absent 1
	tells 2 stays left 1
	unset TENON_COMMUNICATOR_TIMEOUT
}
