# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=bash
#
# What .ci/run and .ci/long share: steps and what they have in common.  It is sourced, and leaves
# the caller in the top folder of the sources.

top=$PWD
work=${TENON_CI_DIR:-$top/build/ci}
jobs=$(nproc)
export top work jobs
passed=0 failed=0 skipped=0
# Kernels inlined into one another are what takes a compiler longest, and sanitizers multiply that:
# the builds that are not there for the optimizer do with less of it.
light='CFLAGS=-O1 -g1'
# gcc knows too little at -O1 for this warning; quickstart's build, at -O2, has it.
gcc_light="$light -Wno-maybe-uninitialized"
# Nor does clang vectorise at -O1 what it is asked to.
clang_light="$light -Wno-pass-failed"
export LC_ALL=C
# Debian's compiler cache, once it is installed, stands before the compilers; what it keeps serves a
# clone in another folder too.
PATH=/usr/lib/ccache:$PATH
export CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1
# Kernels that one build compiled for the simulated CUDA serve the others.
export TENON_SIMCUDA_CACHE=$work/simcuda-cache
mkdir -p "$work"

# Adds the counts of every test summary in a log.
count_tests() {
	local kind number
	while read -r kind number; do
		case $kind in
		PASS:) passed=$((passed + number)) ;;
		SKIP:) skipped=$((skipped + number)) ;;
		FAIL: | XPASS: | ERROR:) failed=$((failed + number)) ;;
		esac
	done < <(sed -n 's/^# \([A-Z]*:\)  *\([0-9]*\)$/\1 \2/p' "$1")
}

# step NAME COMMAND...: runs it, with its output in a log that is shown when it fails.  77:
# it cannot run here.
step() {
	local name=$1 log start status=0
	shift
	log=$work/$(printf '%s' "$name" | tr -c 'a-zA-Z0-9\n' '-').log
	start=$SECONDS
	("$@") >"$log" 2>&1 || status=$?
	if [ $status -eq 0 ]; then
		passed=$((passed + 1))
		printf 'ok      %-44s %4d s\n' "$name" $((SECONDS - start))
	elif [ $status -eq 77 ]; then
		skipped=$((skipped + 1))
		printf 'skipped %-44s %4d s\n' "$name" $((SECONDS - start))
	else
		failed=$((failed + 1))
		printf 'FAILED  %-44s %4d s\n' "$name" $((SECONDS - start))
		tail -n 40 "$log" | sed 's/^/    /'
	fi
	count_tests "$log"
}

# The last line, and the exit status.
summary() {
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ]
}

# Packages of the group "check"; quickstart installs the others.
install_check_packages() {
	local missing
	missing=$(./quickstart packages)
	[ -n "$missing" ] || return 0
	case $missing in *:arm64*) dpkg --add-architecture arm64 || return 1 ;; esac
	# shellcheck disable=SC2086
	apt-get update -q &&
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

# configure_in FOLDER ARGUMENTS...: a fresh build tree of its own, and goes there.
configure_in() {
	local folder=$work/$1
	shift
	rm -rf "$folder"
	mkdir -p "$folder" && cd "$folder" &&
		CONFIG_SHELL=/bin/dash dash "$top/configure" --enable-werror \
		--disable-static --disable-dependency-tracking "$@"
}

# brief COMMAND...: without the tests that one build is enough for
brief() {
	TENON_TEST_BRIEF=1 "$@"
}

# programs_of TESTS...: what is to be built for them, for check_PROGRAMS.
programs_of() {
	printf '%s\n' "$@" tests/cli/json_value | grep -v '\.[a-z]*$' | sort -u | tr '\n' ' '
}

# failed_tests FOLDER: what the tests said that failed in this build tree; for the end of a log,
# which is what step shows.  Always fails.
failed_tests() {
	local result
	find "$1" -name '*.trs' -exec grep -lE '^:test-result: (FAIL|XPASS|ERROR)' {} + |
		while read -r result; do
			printf '== %s\n' "${result%.trs}"
			tail -n 15 "${result%.trs}.log"
		done
	return 1
}

# build FOLDER TARGET CONFIGURE-ARGUMENTS...
build() {
	local folder=$1 target=$2
	shift 2
	configure_in "$folder" "$@" && make -j"$jobs" || return 1
	make -j"$jobs" "$target" || failed_tests .
}

# make_list VARIABLE: the words that it has in the Makefile of this folder, a line each.
make_list() {
	# shellcheck disable=SC2016
	printf 'list:\n\t@printf "%%s\\n" $(%s)\n' "$1" | make -s -f Makefile -f - list
}

# each COMMAND...: runs COMMAND WORD for each word on standard input, as many at once as there are
# processors; fails when one has failed.
each() {
	# shellcheck disable=SC2016
	xargs -P"$jobs" -I{} bash -c \
		'"$@" >"$0.ci" 2>&1 || { echo "== $0"; cat "$0.ci"; exit 1; }' \
		{} "$@" {}
}

# environment NAME LIST: the packages of a list of PyPI's in an environment of Python that stays in
# the build folder until that list changes.
environment() {
	local folder=$work/$1
	cmp -s "$2" "$folder/list" && return
	rm -rf "$folder"
	python3 -m venv "$folder" || return 1
	"$folder/bin/pip" install -q --disable-pip-version-check -r "$2" && cp "$2" "$folder/list"
}

# The README's steps for a user's own folder, in a tree that was built for another prefix.  It
# goes back to its own.
install_and_use() {
	local options status
	options=$(build/config.status --config) || return 1
	mkdir -p "$work/home" && tests/doc/readme-steps quickstart.build.--prefix >"$work/steps" &&
		HOME=$work/home sh -eux "$work/steps" && mv gradient "$work" &&
		make -C build installcheck &&
		TENON_SOURCE=$top TENON_MOVED=$work/home/tenon build/tests/with-plugins \
			tests/cli/moved.sh &&
		"$work/home/tenon/bin/tenon" train mlp --data digits --epochs 1 --quiet
	status=$?
	(cd build && eval "'$top/configure' $options") || return 1
	return $status
}

# with_installed COMMAND...: against the Tenon that install_and_use has installed.
with_installed() {
	PKG_CONFIG_PATH=$work/home/tenon/lib/pkgconfig LD_LIBRARY_PATH=$work/home/tenon/lib "$@"
}

# The backends that are projects of their own.
projects() {
	(cd "$top/plugins" && printf '%s\n' */Makefile | xargs -n 1 dirname)
}

# A backend that is a project of its own, from a copy of its folder:
# nothing of the tree is in reach.
out_of_tree() {
	local copy=$work/out-of-tree/$1
	rm -rf "$copy" && mkdir -p "$copy" && cp -R "$top/plugins/$1/." "$copy" || return 1
	cd "$copy" && with_installed make clean &&
		with_installed make -j"$jobs" WARNINGS="-Wall -Wextra -Werror" &&
		with_installed make check && with_installed make install
}
export -f out_of_tree with_installed

under_valgrind() {
	./tests/with-plugins ./libtool --mode=execute valgrind -q --error-exitcode=9 \
		--leak-check=full \
		--errors-for-leak-kinds=definite "$1"
}
export -f under_valgrind

# Each target for $fuzz_seconds, as many at once as there are processors.
fuzz() {
	configure_in fuzz CC=clang --enable-fuzzing \
		--with-sanitizer=address,undefined,fuzzer-no-link "$clang_light" &&
		make -j"$jobs" -Otarget fuzz FUZZ_SECONDS="${fuzz_seconds:?}"
}
