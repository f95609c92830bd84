#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Each allocation of a command fails, and each call that changes a file: that one, or it and all
# after it; or the process is killed there.  The command does what it does undisturbed, or it is
# refused: with a message, an exit status, the old files, and nothing half written.
# Which calls fail differs from day to day, TENON_TEST_SEED repeats it: TENON_TEST_SAMPLES of each
# kind and command, 40 with TENON_TEST_WHOLE=1; all if there are no more (.ci/long failing).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
not_when_sanitized "its own allocator would be replaced"
calls=$TENON_BUILD/tests/cli/.libs/failing_calls.so
[ -f "$calls" ] || skip "there is no module for LD_PRELOAD: the build has no shared libraries"
needs_digits
seed=${TENON_TEST_SEED:-$(date +%j)}
! is_whole || samples=40
samples=${TENON_TEST_SAMPLES:-${samples:-2}}
tried=0 refused=0 same=0 killed=0 foreign=0 wrongs=0

openblas=none # the library to multiply with: without it numbers differ in the last digits
# disturb WISH ARGUMENTS...: the command in the folder $dir/run; not the wrapper of the build, which
# is a program of its own.
disturb() {
	(
		cd "$dir/run" || exit 99
		LD_LIBRARY_PATH=$TENON_BUILD/.libs TENON_CPU_OPENBLAS=$openblas \
			OPENBLAS_NUM_THREADS=1 TENON_THREADS=1 \
			TENON_TEST_CALLS=$dir/calls LD_PRELOAD=$calls TENON_TEST_FAIL=$1
		shift
		export LD_LIBRARY_PATH TENON_CPU_OPENBLAS OPENBLAS_NUM_THREADS TENON_THREADS \
			TENON_TEST_CALLS LD_PRELOAD TENON_TEST_FAIL
		exec "$TENON_BUILD/.libs/tenon" "$@"
	) >"$dir/out" 2>"$dir/err" </dev/null
}

# Puts the folder back as the command finds it.
begin() {
	rm -rf "$dir/run" "$dir/calls"
	cp -R "$dir/start" "$dir/run"
}

count() { sed -n "s/^$1 //p" "$dir/calls"; }

# Counts a defect and says how to see it again.
wrong() {
	printf "FAILED: TENON_TEST_FAIL='%s' tenon %s: %s\n" "$wish" "$arguments" "$*" >&2
	sed 's/^/    /' "$dir/err" >&2
	wrongs=$((wrongs + 1))
	return 1
}

files() { (cd "$1" && find . -type f ! -name tenon.lock | sed 's,^[.]/,,' | sort); }

# What eval reads of the file prints the same.
reads_alike() {
	case $1 in
	*.safetensors) ;;
	*) return 1 ;;
	esac
	"$tenon" eval "$dir/whole/$1" >"$dir/expected" 2>/dev/null &&
		"$tenon" eval "$dir/run/$1" 2>/dev/null | cmp -s - "$dir/expected"
}

# A checkpoint that could not be written is told, and is followed by one that was.
is_left_out() {
	[ ! -e "$dir/run/$1" ] && grep -q 'a checkpoint was not written' "$dir/err" &&
		[ "$1" != "$(files "$dir/whole" | grep '/step-' | tail -n 1)" ]
}

# Exit 0: all is as without the failure.
check_same() {
	for file in $(files "$dir/whole"); do
		cmp -s "$dir/run/$file" "$dir/whole/$file" || is_left_out "$file" ||
			reads_alike "$file" || {
			wrong "exit status 0 and another $file, or none"
			return
		}
	done
	for file in $(files "$dir/run"); do
		[ -f "$dir/whole/$file" ] || {
			wrong "exit status 0 and $file is left over"
			return
		}
	done
	cmp -s "$dir/out" "$dir/whole.out" ||
		wrong "exit status 0 and another text: $(cat "$dir/out")"
}

# Is the file the old one, the new one, or one that can be read?
is_complete() {
	cmp -s "$dir/run/$1" "$dir/start/$1" || cmp -s "$dir/run/$1" "$dir/whole/$1" || case $1 in
	*lines) ! tail -c 1 "$dir/run/$1" | grep -q . && ! grep -qv '^{.*}$' "$dir/run/$1" ;;
	*tenon-*.tmp) may_be_left "$1" ;;
	*.safetensors) "$tenon" eval "$dir/run/$1" >/dev/null 2>"$dir/err" ;;
	*) false ;;
	esac
}

# A temporary file of a process that was killed: where files need no name, only a complete one,
# which has a name before it replaces another.
may_be_left() {
	[ "$status" -eq 137 ] || return 1
	[ "$n_unnamed" -gt 0 ] || return 0
	for file in $(files "$dir/whole"); do
		! cmp -s "$dir/run/$1" "$dir/whole/$file" || return 0
	done
	"$tenon" eval "$dir/run/$1" >/dev/null 2>&1
}

# What there is is complete, and the old files are there.
check_kept() {
	for file in $(files "$dir/start"); do
		[ -f "$dir/run/$file" ] || {
			wrong "$file is gone"
			return
		}
	done
	for file in $(files "$dir/run"); do
		is_complete "$file" || {
			wrong "exit status $status, and $file is half written or left over"
			return
		}
	done
}

check_refused() {
	grep -qi -e "$1" "$dir/err" || {
		wrong "exit status $status and no word about '$1'"
		return
	}
	case $arguments in
	plugin*) # all or nothing
		[ "$(files "$dir/run")" = "$(files "$dir/start")" ] || {
			wrong "exit status $status, and a part of the project is there"
			return
		}
		;;
	esac
	check_kept
}

# The constructors of other libraries do not look at what they are given.
is_of_others() {
	grep -q 'crashed in .*/lib\(gfortran\|openblas\|gomp\|quadmath\)[^/]*$' "$dir/calls"
}

# one WISH REASON ARGUMENTS...
one() {
	wish=$1 reason=$2
	shift 2
	arguments=$*
	begin
	status=0
	{ disturb "$wish" "$@" || status=$?; } 2>/dev/null # the shell names signals
	tried=$((tried + 1))
	case $status in
	0) ! check_same || same=$((same + 1)) ;;
	[13]) ! check_refused "$reason" || refused=$((refused + 1)) ;;
	137) ! check_kept || killed=$((killed + 1)) ;;
	134 | 139)
		if is_of_others; then
			foreign=$((foreign + 1))
		else
			wrong "exit status $status: $(cat "$dir/calls" 2>&1)"
		fi
		;;
	*) wrong "exit status $status" ;;
	esac
}

# positions N: which of the calls 1 to N fail.
positions() {
	awk -v n="$1" -v k="$samples" -v seed="$seed" 'BEGIN {
		srand(seed + n)
		for (i = 0; i < k && i < n; i++)
			print 1 + int(k < n ? (i + rand()) * n / k : i)
	}'
}

# each ARGUMENTS...: every allocation and every call on files of one command.
each() {
	begin
	arguments=$* wish=none
	disturb none "$@" || {
		cat "$dir/err" >&2
		fail "tenon $arguments"
	}
	n_memory=$(count memory) n_disk=$(count disk) n_unnamed=$(count unnamed)
	[ "${n_memory:-0}" -gt 50 ] || fail "tenon $arguments: its allocations are not counted"
	[ "$n_disk" -eq 0 ] || [ "$n_unnamed" -gt 0 ] || [ "$(count has_unnamed)" -eq 0 ] ||
		fail "tenon $arguments: its temporary files have names"
	rm -rf "$dir/whole"
	cp -R "$dir/run" "$dir/whole"
	cp "$dir/out" "$dir/whole.out"
	for end in '' ' on'; do
		for i in $(positions "$n_memory"); do
			one "memory $i$end" 'memory' "$@"
		done
		for i in $(positions "$n_disk"); do
			one "disk $i$end" 'Input/output error\|No space left' "$@"
		done
	done
	for i in $(positions "$n_disk"); do
		one "disk $i kill" '' "$@"
	done
}

# Its last calls on files: those of its last file.
each_last() {
	for i in 0 1 2 3 4 5 6 7; do
		one "disk $((n_disk - i))" 'Input/output error' "$@"
	done
}

mkdir "$dir/start" "$dir/start/plots"
(
	cd "$dir/start" || exit 1
	"$tenon" train mlp --data digits --epochs 1 --batch 647 --backend 'cpu!' \
		--schedule constant --save net.safetensors --checkpoint old --metrics oldlines \
		--quiet && "$tenon" convert net.safetensors arrays.npz
) >/dev/null 2>"$dir/err" || { cat "$dir/err" >&2; fail "the files to begin with"; }
printf 'P5\n28 28\n255\n%0784d' 7 >"$dir/start/7.pgm"
printf '{"old": 1}\n' >"$dir/start/lines"
printf '<svg/>\n' >"$dir/start/plots/loss.svg"

each train mlp --data digits --skip-train --seed 1 --backend 'cpu!' --save net.safetensors
training() {
	"$@" train mlp --data digits --epochs 1 --batch 647 --backend 'cpu!' --confusion \
		--save new.safetensors --checkpoint folder --checkpoint-every 1 --metrics lines \
		--plots plots --mistakes 3
}
training each
training each_last
each train mlp --data digits --epochs 2 --batch 647 --backend 'cpu!' --schedule constant \
	--checkpoint old --resume --metrics oldlines
each convert net.safetensors arrays.npz --dtype f16 --rename fc1.=first.
each convert arrays.npz net.safetensors --drop '*.bias'
each eval net.safetensors --backend 'cpu!' --confusion --json
each predict net.safetensors --backend 'cpu!' --data digits --count 2
each data digits --sheet sheet.png
each plugin new thing
openblas= # that of the machine
each predict net.safetensors --backend 'cpu!' 7.pgm
echo "$tried tried, $refused refused, $same the same, $killed killed, $foreign ended by libraries" \
	"of others, $wrongs wrong (seed $seed)"
[ $wrongs -eq 0 ]
