#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# The steps of tenon-plugin(7), in C and in C++: a new project builds unchanged, passes level 1 and
# trains through host runs; with its next step, by the host's interpreter or by printed source,
# nothing runs on the host any more;
# with streams neither.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=../conformance/sizes_lib.sh
. "${TENON_SOURCE:?}/tests/conformance/sizes_lib.sh"
needs_command make
needs_command pkg-config
needs_digits
unset MAKEFLAGS MFLAGS MAKELEVEL
export PKG_CONFIG_PATH="$TENON_BUILD"
project=$dir/'a folder of projects'/tenon-backend-acme
mkdir "$dir/a folder of projects"

# make_in ARGUMENTS...: in the project, with the compiler of the build tree
optimize=-O1
! is_whole || optimize='-O2 -g' # as the Makefile has it
make_in() {
	make -C "$project" CONFORM="$TENON_BUILD/tenon-conform" "CC=${CC:-cc}" CXX=c++ \
		"CFLAGS=$optimize" "CXXFLAGS=$optimize" "$@" >"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		fail "make $*"
	}
}
# check_in LEVEL: its `make check` up to that level.  The first one runs as a user runs it.
sizes_left_out >"$dir/left"
check_in()
{
	make_in check LEVEL="L$1" \
		CONFORM="$TENON_BUILD/tenon-conform --level=0-$1 --exclude=$dir/left"
}
# passes PATTERN...: these checks pass without host runs
passes() {
	for pattern; do
		"$TENON_BUILD/tenon-conform" --filter "$pattern" "$project/backend_acme.so" \
			>"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "$pattern"; }
		awk '/^L[0-9] +[A-Z]/ { good = $7 > 0 && $10 == 0 } END { exit !good }' \
			"$dir/log" || { cat "$dir/log" >&2; fail "$pattern: expected native runs"; }
	done
}
# exports: how many symbols the plugin exports
exports() {
	nm -D --defined-only "$project/backend_acme.so" | grep -c -v -e asan -e ubsan
}
# every_kernel PATTERN...: the same, where each case compiles a kernel
every_kernel() { ! is_whole || passes "$@"; }
# train_mlp STATUS OPTIONS...: a small network, whose training takes a moment on plain loops
train_mlp() {
	wanted=$1
	shift
	run "$wanted" train mlp --hidden-sizes 32 --data digits --epochs 1 --seed 1 \
		--backend 'acme!' "$@"
}
strict='-Wall -Wextra -Wpedantic -Wshadow -Werror'
# host_runs FILE: the sum of the ledger's column
host_runs() { awk 'NF == 8 && $2 ~ /^[0-9]+$/ { n += $6 } END { print n + 0 }' "$1"; }
native_runs() { awk 'NF == 8 && $2 ~ /^[0-9]+$/ { n += $2 } END { print n + 0 }' "$1"; }

run 0 plugin new acme --directory "$project"
out_has 'backend_acme.so'
grep -rl '@[A-Z]*@' "$project" && fail "marks are left in the project"

# No warnings, in the strict standard and with the headers only.
make_in all WARNINGS="$strict"
nm -D "$project/backend_acme.so" | grep -q ' tenon_backend$' || fail "tenon_backend is not exported"
[ "$(exports)" -eq 1 ] || fail "more than tenon_backend is exported"
! readelf -d "$project/backend_acme.so" | grep NEEDED | grep tenon || fail "it is linked to Tenon"
make_in check

# It is found, loaded in a separate process, and trains entirely on the host.
run 0 info --probe "$project/backend_acme.so"
out_has 'acme:0'
export TENON_PLUGIN_PATH="$project"
run 0 info --backend-option acme.prefer=on
out_has 'acme.prefer=1 (bool, program; default 0)'
train_mlp 0 --ledger --metrics "$dir/a"
err_has 'acme:0'
[ "$(native_runs "$dir/out")" -eq 0 ] ||
	fail "something ran natively in a backend that computes nothing"
[ "$(host_runs "$dir/out")" -gt 0 ] || { cat "$dir/out" >&2; fail "expected host runs"; }
at_least "$(metric test_accuracy "$dir/a")" 0.8

# The next step: nothing runs on the host, and the numbers are the same to rounding.
cp "$project/steps/compute_host.c" "$project/compute.c"
make_in all WARNINGS="$strict"
check_in 4
train_mlp 0 --ledger --metrics "$dir/b"
[ "$(host_runs "$dir/out")" -eq 0 ] ||
	{ cat "$dir/out" >&2; fail "something still runs on the host"; }
[ "$(native_runs "$dir/out")" -gt 0 ] || { cat "$dir/out" >&2; fail "expected native runs"; }
at_least "$(metric test_accuracy "$dir/b")" 0.8
pictures "$dir/pictures" 28
TENON_FALLBACK=error run 0 train lenet --data "$dir/pictures" --epochs 1 --batch 8 \
	--backend 'acme!' --quiet

# The code of the manual page builds in the project, and the slot that it adds is used.
# piece NAME SUFFIX
piece() {
	sed -n "/^\.\\\\\" file $1\.c/,/^\.\\\\\" end of file/{
		/^\./d
		s/\\\\e/\\\\/g
		p
	}" "${TENON_SOURCE:?}/man/tenon-plugin.7" >"$project/$1.$2"
	[ -s "$project/$1.$2" ] || fail "$1.c is not in tenon-plugin(7)"
}
# add_pieces SUFFIX: of the project's files
add_pieces() {
	piece program_text "$1"
	piece copy "$1"
	sed 's/^#endif$/extern const struct tn_copy_table copy_table;\n&/' "$project/plugin.h" \
		>"$dir/plugin.h"
	use_it='	{TN_TABLE_COPY, \&copy_table},'
	sed "s/^	{TN_TABLE_COMPUTE, .*/&\n$use_it/" "$project/plugin.$1" >"$dir/plugin.$1"
	cp "$dir/plugin.h" "$dir/plugin.$1" "$project/"
}
add_pieces c
make_in all WARNINGS="$strict"
passes copy.fill
! is_whole || check_in 2 # what copies belong to
train_mlp 0 --ledger
awk '$1 == "fill" && $2 > 0 { found = 1 } END { exit !found }' "$dir/out" || {
	cat "$dir/out" >&2
	fail "expected native runs of fill"
}

# Streams: the same entries, run later by a thread for each stream.
# name_queued SUFFIX: in plugin.SUFFIX, the tables of steps/streams.SUFFIX and its queue
name_queued() {
	cp "$project"/steps/queue*.* "$project/steps/streams.$1" "$project/"
	sed -e 's/&device_table}/\&queued_device_table}/' \
		-e 's/.*&compute_table}.*/	{TN_TABLE_COMPUTE, \&queued_compute_table},/' \
		-e '/TN_TABLE_COMPUTE/a\	{TN_TABLE_STREAM, \&stream_table},' \
		"$project/plugin.$1" >"$dir/plugin.$1"
	cp "$dir/plugin.$1" "$project/"
}
whole=$project
run 0 plugin new acme --directory "$dir/streams"
project=$dir/streams
cp "$project/steps/compute_host.c" "$project/compute.c"
name_queued c
make_in all WARNINGS="$strict"
check_in 1
passes 'stream.*' 'event.*' call.borrowed threads.end threads.modes \
	threads.signals threads.streams
! is_whole || check_in 5
TENON_PLUGIN_PATH=$project TENON_FALLBACK=error train_mlp 0 --ledger --metrics "$dir/s"
[ "$(metric test_accuracy "$dir/s")" = "$(metric test_accuracy "$dir/b")" ] ||
	fail "with streams the numbers are others"
project=$whole

# The other step: printed source, compiled on first use, and launched.
rm "$project/copy.c" "$project/program_text.c"
run 0 plugin new acme --directory "$dir/printed"
project=$dir/printed
export TENON_PLUGIN_PATH="$project"
cp "$project/steps/compute_printed.c" "$project/compute.c"
cp "$project"/steps/print.* "$project"/steps/kernel.* "$project/"
make_in all WARNINGS="$strict"
passes 'map.[is]*'
every_kernel 'map.l*' 'reduce.e[pr]*' 'reduce.nan' 'matmul.narrow'
mkdir "$dir/kernels"
TMPDIR=$dir/kernels TENON_FALLBACK=error train_mlp 0 --ledger --metrics "$dir/c"
[ "$(native_runs "$dir/out")" -gt 0 ] || { cat "$dir/out" >&2; fail "expected native runs"; }
at_least "$(metric test_accuracy "$dir/c")" 0.8
[ -z "$(ls -A "$dir/kernels")" ] || fail "kernels are left behind: $(ls -A "$dir/kernels")"

# The error contains the compiler's message, or the name of a missing compiler.
mkdir "$dir/bin"
printf '#!/bin/sh\necho "In a function:"\necho "kernel:7: error: no such word"\nexit 1\n' \
	>"$dir/bin/cc"
chmod +x "$dir/bin/cc"
PATH=$dir/bin:$PATH TENON_LOG=debug train_mlp 1
err_has 'cc: kernel:7: error: no such word'
err_has 'void kernel('
sed 's/{"cc", /{"no-such-compiler", /' "$project/kernel.c" >"$dir/kernel.c"
cmp -s "$dir/kernel.c" "$project/kernel.c" && fail "kernel.c does not name cc"
cp "$project/kernel.c" "$dir/kernel_c.c"
cp "$dir/kernel.c" "$project/"
make_in all
# absent WAY COMMAND...: it is absent in that way, made in the folder $dir/path of PATH
absent() {
	way=$1
	shift
	rm -rf "$dir/path"
	mkdir "$dir/path"
	"$@" || fail "$way"
	PATH=$dir/path:$PATH train_mlp 3
	err_has 'cannot run the compiler no-such-compiler: '
}
absent 'not there' :
absent 'a folder that may not be read' chmod 0 "$dir/path"
absent 'not executable' touch "$dir/path/no-such-compiler"
absent 'a folder of that name' mkdir "$dir/path/no-such-compiler"
absent 'a loop of links' ln -s no-such-compiler "$dir/path/no-such-compiler"
absent 'not a program' install -m 755 "$project/kernel.c" "$dir/path/no-such-compiler"
cp "$dir/kernel_c.c" "$project/kernel.c"

if command -v c++ >/dev/null 2>&1; then
	# A language unknown to the host and the interface requires only its dialect.
	sed -e "/^extern char/r $TENON_SOURCE/tests/plugins/dialect_cxx.inc" \
		-e '/^\/\* ---- The language/,/^static const char \*const compiler/d' \
		"$dir/kernel_c.c" >"$project/kernel.c"
	grep -q tn_plugin_dialect_c "$project/kernel.c" && fail "the language was not replaced"
	make_in all WARNINGS="$strict"
	passes 'map.i*'
	every_kernel 'map.l*' 'map.random' 'reduce.epilogue' 'matmul.narrow'

	# The project in C++11, without exceptions; all of its files are C++11 to C++20.
	run 0 plugin new acme --cxx --directory "$dir/cxx"
	project=$dir/cxx
	grep -rl '@[A-Z]*@' "$project" && fail "marks are left in the C++ project"
	find "$project" -name '*.c' | grep -q . && fail "C files in the C++ project"
	make_in all WARNINGS="$strict -fno-exceptions"
	check_in 1
	cp "$project/steps/compute_host.cc" "$project/compute.cc"
	cp "$project/plugin.cc" "$dir/synchronous.cc"
	name_queued cc
	make_in all WARNINGS="$strict -fno-exceptions"
	passes event.order
	cp "$dir/synchronous.cc" "$project/plugin.cc"
	rm "$project"/queue*.* "$project/streams.cc"
	# An instance of a template of the C++ library, which is exported without exports.map.
	echo '#include <vector>
extern void grow(std::vector<int> &v);
void grow(std::vector<int> &v) { v.push_back(1); }' >"$project/grow.cc"
	add_pieces cc
	make_in all WARNINGS="$strict"
	[ "$(exports)" -eq 1 ] || fail "the C++ project exports more than tenon_backend"
	rm "$project/grow.cc"
	! is_whole || check_in 2
	passes 'map.[is]*' reduce.shapes matmul.batch copy.fill
	awk '$1 == "fill" && $2 > 0 { found = 1 } END { exit !found }' "$dir/log" || {
		cat "$dir/log" >&2
		fail "expected native runs of fill in the C++ project"
	}
	cp "$project/steps/compute_printed.cc" "$project/compute.cc"
	cp "$project"/steps/print.* "$project"/steps/kernel.* "$project/"
	for compiler in c++ clang++; do
		command -v "$compiler" >/dev/null 2>&1 || continue
		[ "$compiler" = c++ ] || is_whole || continue
		make_in clean
		make_in all CXX="$compiler" WARNINGS="-std=c++20 $strict" CXXFLAGS=-O1
	done
	passes 'map.in_place'
	every_kernel 'reduce.nan'
fi
project=$dir/'a folder of projects'/tenon-backend-acme

# Two projects are two backends.
run 0 plugin new acme2 --directory "$dir/second"
sed -n '/define UUID/,/^$/p' "$project/plugin.c" >"$dir/uuid1"
sed -n '/define UUID/,/^$/p' "$dir/second/plugin.c" >"$dir/uuid2"
grep -q 0x "$dir/uuid1" || fail "no UUID in plugin.c"
! cmp -s "$dir/uuid1" "$dir/uuid2" || fail "two projects have one UUID"

# Installed where the .pc file states, and removed by clean.
make_in install DESTDIR="$dir/root"
find "$dir/root" -name backend_acme.so | grep -q . || fail "backend_acme.so was not installed"
find "$dir/root" -name acme.backend | grep -q . || fail "acme.backend was not installed"
make_in clean
[ ! -f "$project/backend_acme.so" ] || fail "make clean leaves the plugin"
