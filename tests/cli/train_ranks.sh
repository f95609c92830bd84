#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# tenon train on several ranks, under each launcher that there is: the numbers of one rank,
# checkpoints, and what becomes of the others when a rank ends.
. "${TENON_SOURCE:?}/tests/cli/lib.sh"
needs_digits
export TENON_THREADS=1 TENON_COMMUNICATOR_TIMEOUT=20
# What the libraries of MPI keep until the end is theirs.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# launch NAME RANKS COMMAND...: its status in $status, output in $dir/out and $dir/err
launch() {
	name=$1 n=$2
	shift 2
	case $name in
	openmpi) launcher='mpirun.openmpi --allow-run-as-root --oversubscribe' ;;
	mpich) launcher=mpirun.mpich ;;
	local) launcher="$tenon launch" ;;
	esac
	status=0
	# shellcheck disable=SC2086
	timeout 100 $launcher -n "$n" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}
done_well() {
	[ "$status" -eq 0 ] || {
		cat "$dir/out" "$dir/err" >&2
		fail "$1: expected exit status 0, found $status"
	}
}
# Is there that communicator, with its launcher and the shared memory that MPI needs?
has() {
	[ -f "$TENON_BUILD/.libs/communicator_$1.so" ] || return 1
	[ "$1" = local ] || { command -v "mpirun.$1" >/dev/null && [ -w /dev/shm ]; }
}
near() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 1e-4 && b - a < 1e-4) }' ||
		fail "expected $2, found $1"
}
train='train lenet --data digits --epochs 2 --seed 3 --quiet'

# ---- The same numbers

# shellcheck disable=SC2086
run 0 $train --metrics "$dir/one"
loss=$(sed -n 2p "$dir/one" | sed -n 's/.*"train_loss": \([0-9.e+-]*\).*/\1/p')
tested=$(cat "$dir/out")

# trains NAME RANKS: as on one rank; only rank 0 prints and writes
trains() {
	# shellcheck disable=SC2086
	launch "$1" "$2" "$tenon" $train --metrics "$dir/metrics" --save "$dir/net"
	done_well "$1, $2 ranks"
	sed -n 2p "$dir/metrics" >"$dir/epoch"
	near "$(metric train_loss "$dir/epoch")" "$loss"
	[ "$(grep -o '"waited"' "$dir/epoch" | wc -l)" -eq "$2" ] || fail "times of $2 ranks"
	[ "$(sed -n 1p "$dir/out")" = "$tested" ] || fail "expected '$tested'"
	out_has "saved $dir/net"
	[ "$(wc -l <"$dir/out")" -eq 2 ] || fail "$2 ranks: expected two lines"
	[ "$(wc -l <"$dir/metrics")" -eq 3 ] || fail "$2 ranks: expected three lines of metrics"
	run 0 eval "$dir/net"
}
trains local 2
trains local 4
for mpi in openmpi mpich; do
	has $mpi && trains $mpi 2
done
is_whole && has openmpi && trains openmpi 4
launch local 2 "$tenon" train lenet --data digits --epochs 1 --shard-optimizer --wire bf16 \
	--communicator-option local.bytes=64K --communicator-option no_such.x=1
done_well 'shares of the optimizer'
err_has '2 ranks'
for option in '--wire f16' --shard-optimizer --sync-batch-norm; do
	# shellcheck disable=SC2086 # words
	run 2 train mlp --data digits $option
	err_has "^tenon train: ${option%% *}: expected ranks that a launcher has started"
done
launch local 2 "$tenon" train lenet --data digits --communicator-option local.byte=64K
[ "$status" -eq 1 ] || fail "an unknown option: expected exit status 1, found $status"
err_has "communicator local has no option 'byte'; did you mean 'local.bytes'?"
launch local 2 "$tenon" train lenet --data digits --epochs 1 --quiet --ledger
done_well 'the ledger'
[ "$(cat "$dir/out" "$dir/err" | grep -c '^operation ')" -eq 1 ] ||
	fail 'expected the ledger of rank 0 alone'

# ---- Checkpoints: another number of ranks continues

# From here on, a network that is trained in a moment.
train='train mlp --hidden-sizes 32 --data digits --epochs 2 --seed 3 --quiet'
# shellcheck disable=SC2086
run 0 $train
tested=$(cat "$dir/out")

# shellcheck disable=SC2086
run 0 $train --checkpoint "$dir/alone" --checkpoint-every 15
# resumes NAME RANKS
resumes() {
	rm -rf "$dir/again"
	mkdir "$dir/again"
	cp "$dir/alone/step-000000000030.safetensors" "$dir/again"
	# shellcheck disable=SC2086
	launch "$1" "$2" "$tenon" $train --checkpoint "$dir/again" --checkpoint-every 15 --resume
	done_well "$1: $2 ranks resume"
	[ "$(cat "$dir/out")" = "$tested" ] || fail "$2 ranks resumed: expected '$tested'"
}
resumes local 2
has openmpi && resumes openmpi 4
has mpich && resumes mpich 2

# ---- Interrupted: whichever rank gets the signal, all save and end, and rank 0 says so

if env --default-signal=INT true 2>/dev/null; then
	# shellcheck disable=SC2016
	env --default-signal=INT "$tenon" launch -n 2 sh -c 'echo $$ >"$1/pid.$TENON_LOCAL_RANK"
		exec "$2" train mlp --data digits --epochs 100000 --schedule constant --quiet \
			--checkpoint "$1/stopped" --metrics "$1/lines"' - "$dir" "$tenon" \
		>"$dir/out" 2>"$dir/err" </dev/null &
	pid=$!
	until [ -s "$dir/lines" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -INT "$(cat "$dir/pid.1")"
	status=0
	wait $pid || status=$?
	[ "$status" -eq 130 ] || fail "expected the end by SIGINT, found $status"
	err_has "interrupted in epoch [0-9]* of 100000: --resume continues from $dir/stopped/"
	[ "$(grep -c interrupted "$dir/err")" -eq 1 ] || fail 'expected one rank to say it'
fi

# ---- One rank ends

# A rank dies before and in operations of every phase: joining, a step, an epoch, a checkpoint.
# Every rank ends; what was saved is whole, and one rank can go on with it.
dies() {
	rm -rf "$dir/fatal"
	export TENON_COMMUNICATOR=mock TENON_MOCK_COMMUNICATOR="$1" \
		TENON_MOCK_COMMUNICATOR_FAULT="$2@1"
	# shellcheck disable=SC2086
	TENON_PLUGIN_PATH="$TENON_BUILD/plugins/communicator_mock/.libs:$TENON_PLUGIN_PATH" \
		launch "$1" 2 "$tenon" $train --checkpoint "$dir/fatal" --checkpoint-every 5
	unset TENON_COMMUNICATOR TENON_MOCK_COMMUNICATOR TENON_MOCK_COMMUNICATOR_FAULT
	case $status in
	0 | 124)
		cat "$dir/out" "$dir/err" >&2
		fail "$1, $2: exit status $status"
		;;
	esac
	grep -q -i -e 'rank 1' -e 'RANK.*KILLED BY' -e 'KILLED BY SIGNAL' -e 'BAD TERMINATION' \
		"$dir/err" "$dir/out" || {
		cat "$dir/out" "$dir/err" >&2
		fail "$1, $2: expected the rank and the reason"
	}
	# shellcheck disable=SC2086
	run 0 $train --checkpoint "$dir/fatal" --checkpoint-every 5 --resume
	[ "$(cat "$dir/out")" = "$tested" ] || fail "after $2: expected '$tested'"
}
for fault in die:1 die-in:2 die:5 die-in:12 die:29 die-in:40; do
	dies local $fault
done
has openmpi && dies openmpi die-in:20 && dies openmpi die:33
has mpich && dies mpich die:21

# ---- Ranks that disagree, and a launcher of another communicator

# shellcheck disable=SC2016
launch local 2 sh -c '"$1" train lenet --data digits --seed "$TENON_LOCAL_RANK"' - "$tenon"
[ "$status" -eq 1 ] || fail "seeds that differ: exit status $status"
err_has 'rank 1'
# shellcheck disable=SC2016
launch local 2 sh -c '"$1" train lenet --data digits --epochs "$((2 + TENON_LOCAL_RANK))"' \
	- "$tenon"
[ "$status" -eq 1 ] || fail "options that differ: exit status $status"
# Other optimizers or settings of them with one learning rate.
for one in '--optimizer sgd --lr 0.002' '--weight-decay 0.3' --lookahead '--min-lr 0.001'; do
	# shellcheck disable=SC2016
	launch local 2 sh -c 'train=$1 one=$2
		[ "$TENON_LOCAL_RANK" = 1 ] || one=
		exec "$train" train lenet --data digits --epochs 1 $one' - "$tenon" "$one"
	[ "$status" -eq 1 ] || fail "$one on rank 1 alone: exit status $status"
	err_has 'rank 1 in '
done
if has openmpi && has mpich; then
	export TENON_COMMUNICATOR=mpich
	launch openmpi 2 "$tenon" train lenet --data digits --save "$dir/stranger"
	unset TENON_COMMUNICATOR
	[ "$status" -eq 3 ] || fail "another MPI's launcher: exit status $status"
	err_has 'mpirun of Open MPI has started 2 ranks'
	[ ! -e "$dir/stranger" ] || fail "another MPI's launcher: it wrote"
fi

# ---- A full disk on rank 0

rm -rf "$dir/full"
# Shared memory counts as a file.
export TENON_LOCAL_BYTES=65536
# shellcheck disable=SC2016
launch local 2 sh -c '[ "$TENON_LOCAL_RANK" = 1 ] || ulimit -f 1000
	exec "$@"' - "$tenon" train lenet --data digits --epochs 1 --checkpoint "$dir/full"
[ "$status" -eq 1 ] || fail "a full disk on rank 0: exit status $status"
[ "$(grep -c 'a checkpoint was not written: .*/step-.*File too large' "$dir/err")" -eq 1 ] ||
	fail 'expected one line of rank 0'
err_has '^tenon train: the last checkpoint could not be written'
out_has 'test accuracy'
[ -z "$(find "$dir/full" -name '*.safetensors')" ] || fail "a full disk: half a checkpoint"

# ---- Tasks of a step that srun has started without an MPI

# step NODES ARGUMENTS...: two tasks; the exit statuses in $first and $second
step() {
	nodes=$1
	shift
	set -- env SLURM_JOB_ID=4711 SLURM_STEP_ID=$$ SLURM_STEP_NUM_TASKS=2 \
		SLURM_STEP_NUM_NODES="$nodes" "$@"
	SLURM_PROCID=1 SLURM_LOCALID=1 "$@" >"$dir/out.1" 2>"$dir/err.1" </dev/null &
	first=0 second=0
	SLURM_PROCID=0 SLURM_LOCALID=0 "$@" >"$dir/out" 2>"$dir/err" </dev/null || first=$?
	wait $! || second=$?
}
rm -rf "$dir/step"
# shellcheck disable=SC2086
step 1 "$tenon" $train --checkpoint "$dir/step"
[ $first,$second = 0,0 ] || { cat "$dir/err"* >&2 && fail 'a step of one machine'; }
[ "$(cat "$dir/out")" = "$tested" ] || fail "a step: expected '$tested'"
[ ! -s "$dir/out.1" ] || fail 'a step: both tasks print'
# shellcheck disable=SC2086
step 2 "$tenon" $train --checkpoint "$dir/step2"
[ $first,$second = 3,3 ] || fail 'a step of two machines was not refused'
err_has 'srun has started 2 tasks on 2 machines (SLURM_STEP_NUM_NODES), .*srun --mpi=pmix'
[ ! -e "$dir/step2" ] || fail 'a step of two machines: it wrote'
# shellcheck disable=SC2086
SLURM_JOB_ID=4711 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=2 run 0 $train # a batch script
