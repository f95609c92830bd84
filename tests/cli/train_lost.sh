#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A training whose device is lost, or of which a rank is killed, on one process and on two ranks: it
# starts anew where it may, and ends with the bytes of one that lost nothing, or says by which
# command it continues.
. "${TENON_SOURCE:?}/tests/cli/lib.sh"
mock=${TENON_BUILD:?}/plugins/mock/.libs
[ -f "$mock/backend_mock.so" ] || fail "backend_mock.so has not been built"
needs_digits
export TENON_THREADS=1 TENON_DETERMINISTIC=1 TENON_COMMUNICATOR_TIMEOUT=20
export TENON_LOCAL_BYTES=65536
unset TENON_MOCK TENON_TRAIN_DEVICES TENON_RESTART_COUNT TENON_RESTART_PIPE TENON_RESTART_BEGUN
export TENON_PLUGIN_PATH="$mock:${TENON_PLUGIN_PATH-}"
# shellcheck disable=SC3045
ulimit -c 0
train='train mlp:hidden-sizes=16 --data digits --epochs 4 --seed 3 --quiet'
every=5
# A shell has to quote it.
folder="$dir/it's a run"

# trains STATUS OPTIONS WORD...: with all outputs; the words are a launcher's
trains() {
	expected=$1 options=$2
	shift 2
	rm -rf "$folder" "$dir/net" "$dir/lines"
	status=0
	# shellcheck disable=SC2086
	"$@" "$tenon" $train --checkpoint "$folder" --save "$dir/net" --metrics "$dir/lines" \
		--checkpoint-every $every $options >"$dir/out" 2>"$dir/err" </dev/null || status=$?
	[ "$status" -eq "$expected" ] || {
		cat "$dir/err" >&2
		fail "$what: expected exit status $expected, found $status"
	}
}
# The lines of --metrics without times, and without the loss of training, whose sum several ranks
# make in another order when they resume within an epoch.
numbers() { sed 's/, "seconds".*//; s/"train_loss": [^,]*, //' "$1"; }
# keep NAME: what a training that loses nothing ends with
keep() {
	mv "$dir/net" "$dir/$1"
	numbers "$dir/lines" >"$dir/$1.numbers"
}
# as NAME: weights, lines, and no file that is half written
as() {
	cmp "$dir/$1" "$dir/net" || fail "$what: it ends with other weights"
	numbers "$dir/lines" | cmp - "$dir/$1.numbers" || fail "$what: other lines of --metrics"
	[ -z "$(find "$folder" -name '*.tmp')" ] || fail "$what: a temporary file stayed"
}
restarts() {
	found=$(grep -c '(restart [0-9]* of [0-9]*)$' "$dir/err")
	[ "$found" -eq "$1" ] || { cat "$dir/err" >&2 && fail "$what: $found restarts, not $1"; }
}
# continues FORM: the command in the last line has it, and trains to the end
continues() {
	last=$(sed -n '$p' "$dir/err")
	expr "$last" : "  $1" >/dev/null || { cat "$dir/err" >&2 && fail "$what: '$last'"; }
	# The program of this build needs what the build's script around it does.
	last=$(echo "$last" | sed "s|$TENON_BUILD/\.libs/tenon|$tenon|g")
	(eval "$last") >"$dir/out" 2>"$dir/err" </dev/null || {
		cat "$dir/err" >&2
		fail "$what: $last"
	}
}

# ---- One process ---------------------------------------------------------------------------------
what='one process'
TENON_MOCK=devices:2 trains 0 '--backend mock'
keep one

# A loss after so many pieces of work, of so many devices, is the only one: what is left are fewer.
for case in 700:2 1000:1 1100:2; do
	[ $case != 700:2 ] || is_whole || continue
	what="lost:$case" n=${case#*:}
	TENON_MOCK=lost:${case%:*},devices:$n trains 0 '--backend mock --restart 1'
	restarts 1
	err_has 'DEVICE_LOST'
	err_has "^tenon train: mock:0 was lost: continues from step [0-9]* on mock:$((n - 1)) (re"
	err_has '^continues from'
	as one
done

what='used up'
TENON_MOCK=lost:200,devices:3 trains 1 '--backend mock --restart 2'
restarts 2
err_has 'mock:0 was lost: continues from step [0-9]* on mock:1 (restart 1 of 2)$'
err_has 'mock:1 was lost: continues from step [0-9]* on mock:2 (restart 2 of 2)$'
err_has 'mock:2 was lost: this continues from step [0-9]* on mock:0:$'
[ ! -e "$dir/net" ] || fail "$what: weights of a lost device"
continues 'TENON_TRAIN_DEVICES=mock:0,mock:1,-mock:2 [^ ]*tenon train --resume mlp'
as one
what='without --restart'
TENON_MOCK=lost:900,devices:2 trains 1 '--backend mock'
restarts 0
TENON_MOCK=devices:2 TENON_LOG=device=debug \
	continues 'TENON_TRAIN_DEVICES=mock:1,-mock:0 [^ ]*tenon train --resume mlp'
as one
# A lost device may fail when it is opened.
err_has 'mock:1: opened'
! grep -q 'mock:0: opened' "$dir/err" || fail "$what: it opens the lost device"
# The list goes before the selection, which keeps what else it says.
for selection in mock mock! mock:1! mock:0,mock:1! accelerator! auto ''; do
	TENON_MOCK=devices:2 TENON_TRAIN_DEVICES=mock:1,-mock:0 \
		run 0 train mlp --data digits --skip-train --backend "$selection"
	err_has ' on mock:1: digits'
done
# Another one is another training's: the list is for the backends that it prefers.
for selection in reference! reference ^mock cpu,reference!; do
	TENON_MOCK=devices:2 TENON_TRAIN_DEVICES=mock:1,-mock:0 \
		run 0 train mlp --data digits --skip-train --backend "$selection"
	! grep -q ' on mock:' "$dir/err" || fail "$selection: a device of mock"
done
for list in mock:0! mock ! mock:1,mock:1 'mock:1 '; do
	TENON_MOCK=devices:2 TENON_TRAIN_DEVICES=$list \
		run 1 train mlp --data digits --skip-train --backend mock
	err_has '^tenon train: TENON_TRAIN_DEVICES: expected devices such as cuda:0'
done
what='the only device'
TENON_MOCK=lost:900 trains 1 '--backend mock! --resume'
restarts 0
continues '[^ ]*tenon train mlp'
as one

what='before the first checkpoint'
every=9e
TENON_MOCK=lost:150,devices:2 trains 1 '--backend mock --restart 1'
every=5
restarts 1
err_has 'mock:0 was lost: begins again, without a checkpoint, on mock:1 (restart 1 of 1)$'
err_has 'mock:1 was lost: this begins again, without a checkpoint, on mock:0:$'
continues 'TENON_TRAIN_DEVICES=mock:0,-mock:1 '
as one
what='without --checkpoint'
# shellcheck disable=SC2086
TENON_MOCK=lost:150 run 1 $train --backend mock
err_has 'mock:0 was lost: only a training with --checkpoint can continue$'
# shellcheck disable=SC2086
run 2 $train --restart 1
err_has '^tenon train: --restart: expected --checkpoint too, found none$'

# Other ends are final.
what='not finite'
trains 1 '--restart 3 --optimizer sgd --lr 1e29'
err_has 'NOT_FINITE'
restarts 0
what='no data'
trains 1 "--restart 3 --data $dir/nothing"
restarts 0
what='an option'
trains 2 '--restart 3 --epochs x'
restarts 0
trains 2 '--restart 0'

# ends STATUS TEXT: the training in the background gets SIGTERM when it starts anew
ends() {
	until grep -q "$2" "$dir/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq "$1" ] || { cat "$dir/err" >&2 && fail "$what: exit status $status"; }
	restarts 1
}
what='SIGTERM'
rm -rf "$folder"
# shellcheck disable=SC2086
TENON_MOCK=lost:900,devices:2 "$tenon" $train --backend mock --restart 3 --checkpoint "$folder" \
	>"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
ends 143 '(restart 1 of 3)'

# ---- Ranks of tenon launch -----------------------------------------------------------------------
# first RANKS FAULT PROGRAM...: the ranks that are named have the fault in the first start
# shellcheck disable=SC2016
first='TENON_MOCK=devices:2
	case $TENON_RESTART_COUNT,$1 in 0,*"$TENON_LOCAL_RANK"*) TENON_MOCK=$TENON_MOCK,$2 ;; esac
	export TENON_MOCK
	shift 2
	exec "$@"'
what='two ranks'
TENON_MOCK=devices:2 trains 0 '--backend mock' "$tenon" launch -n 2
keep two
# Where a step ends with a checkpoint, most of its work are copies to the host, about whose failure
# rank 0 tells the others: they do not take their own devices for lost.
for case in 0:900:5 0:300:1 1:900:5 01:900:5; do
	ranks=${case%%:*} pieces=${case#*:}
	what="launch, ranks $ranks, lost:$case" every=${case##*:}
	TENON_LOG=warning,device=debug trains 0 '--backend mock' \
		"$tenon" launch -n 2 --restart 2 sh -c "$first" - "$ranks" "lost:${pieces%:*}"
	restarts 1
	as two
	err_has '^continues from'
	case $ranks in
	01) err_has '^tenon launch: .* lost: starts 2 ranks anew (restart 1 of 2)$' && continue ;;
	esac
	err_has "^tenon launch: mock:$ranks was lost: starts 2 ranks anew (restart 1 of 2)$"
	sed -n '/starts 2 ranks/,$p' "$dir/err" | grep -q "mock:$ranks: opened" &&
		fail "$what: it opens the lost device"
	[ "$(grep -c "mock:$((1 - ranks)): opened" "$dir/err")" -ge 2 ] || fail "$what: no device"
done
every=5
for case in 900:5 150:9e; do
	what="launch, one rank, lost:$case" every=${case#*:}
	trains 0 '--backend mock' \
		"$tenon" launch -n 1 --restart 2 sh -c "$first" - 0 "lost:${case%:*}"
	restarts 1
	as one
done
every=5
what='launch, used up'
TENON_MOCK=lost:300,devices:2 trains 1 '--backend mock' "$tenon" launch -n 2 --restart 1
restarts 1
err_has '^tenon train: rank [01] has lost mock:[01]: this continues from the newest checkpoint:$'
what='launch without --restart'
unset TENON_RESTART_COUNT
# shellcheck disable=SC2016
trains 1 '--backend mock' "$tenon" launch -n 2 sh -c 'TENON_MOCK=devices:2
	[ "$TENON_LOCAL_RANK" = 0 ] || TENON_MOCK=devices:2,lost:900
	export TENON_MOCK
	exec "$@"' -
restarts 0
grep -A 1 'rank 1 has lost mock:1: this continues' "$dir/err" | sed -n 2p >"$dir/command"
mv "$dir/command" "$dir/err"
TENON_MOCK=devices:2 continues \
	'TENON_TRAIN_DEVICES=mock:0,-mock:1 [^ ]*tenon launch -n 2 [^ ]*tenon train --resume mlp'
as two

# The backend has no device any more: the selection decides.
# shellcheck disable=SC2016
gone='export TENON_MOCK=lost:900
	[ "$TENON_RESTART_COUNT" = 0 ] || TENON_MOCK=no-device
	exec "$@"'
what='launch, no device'
trains 0 '--backend mock' "$tenon" launch -n 1 --restart 2 sh -c "$gone" -
err_has 'mock not used: NO_DEVICE'
trains 3 '--backend mock!' "$tenon" launch -n 1 --restart 2 sh -c "$gone" -
restarts 1

# A rank is killed: in the thirtieth operation with the other one, by the communicator.
what='launch, SIGKILL'
(
	export TENON_COMMUNICATOR=mock TENON_MOCK_COMMUNICATOR=local
	TENON_PLUGIN_PATH="$TENON_BUILD/plugins/communicator_mock/.libs:$TENON_PLUGIN_PATH"
	# shellcheck disable=SC2016
	TENON_MOCK=devices:2 trains 0 '--backend mock' "$tenon" launch -n 2 --restart 2 sh -c '
		[ "$TENON_RESTART_COUNT" != 0 ] || export TENON_MOCK_COMMUNICATOR_FAULT=die:30@1
		exec "$@"' -
) || exit 1
restarts 1
as two
# Which signals, and which exit statuses, are an end, is a matter of the launcher alone.
for case in SEGV:139:1 BUS:135:1 TERM:143:0 INT:130:0 HUP:129:0 USR1:138:0; do
	what="launch, $case" signal=${case%%:*}
	# The first is ignored in the background.
	[ "$signal" != INT ] || env --default-signal=INT true 2>/dev/null || continue
	expected=${case#*:}
	case $case in
	*:0) expected=${expected%:*} ;;
	*) expected=0 ;;
	esac
	# shellcheck disable=SC2016
	run "$expected" launch -n 2 --restart 1 env --default-signal=INT sh -c \
		'[ "$TENON_LOCAL_RANK$TENON_RESTART_COUNT" != 10 ] || kill "-$0" $$' "$signal"
	restarts "${case##*:}"
done
# shellcheck disable=SC2016
run 7 launch -n 2 --restart 1 sh -c 'exit 7'
restarts 0
what='launch, SIGTERM'
# shellcheck disable=SC2016
"$tenon" launch -n 2 --restart 3 sh -c 'kill -KILL $$' >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
ends 143 '(restart 1 of 3)'

# Nor does one that is ignored, as by nohup, forbid to start again.
what='launch, HUP is ignored'
rm -f "$dir/begun" "$dir/end"
# shellcheck disable=SC2016
(
	trap '' HUP
	exec "$tenon" launch -n 1 --restart 1 sh -c '[ "$TENON_RESTART_COUNT" = 0 ] || exit 0
		: >"$0"
		while [ ! -e "$1" ]; do sleep 0.01; done
		kill -SEGV $$' "$dir/begun" "$dir/end"
) >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
until [ -e "$dir/begun" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -HUP $pid
: >"$dir/end"
wait $pid || fail "$what: exit status $?"
restarts 1

# What a rank does when it is told to end is no crash.
what='launch, ABRT at the end'
rm -f "$dir/begun"
# shellcheck disable=SC2016
run 7 launch -n 2 --restart 1 sh -c 'if [ "$TENON_LOCAL_RANK" = 1 ]; then
		trap "kill -ABRT $$" TERM
		: >"$0"
		while :; do sleep 0.01; done
	fi
	until [ -e "$0" ]; do sleep 0.01; done
	exit 7' "$dir/begun"
restarts 0

# A training that ended before it had opened its folder continues nobody else's checkpoints.
what='launch, another folder'
# shellcheck disable=SC2016,SC2086
run 1 launch -n 1 --restart 1 sh -c '[ "$TENON_RESTART_COUNT" = 1 ] || kill -SEGV $$
	exec "$@"' - "$tenon" $train --checkpoint "$folder"
err_has 'resume continues from it'
restarts 1

# The crash that a signal of the user's has caused is no reason to start again.
what='launch, SIGTERM, SIGKILL'
rm -f "$dir/begun"
# shellcheck disable=SC2016
"$tenon" launch -n 1 --restart 3 sh -c 'trap "kill -KILL $$" TERM
	: >"$0"
	while :; do sleep 0.01; done' "$dir/begun" >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
until [ -e "$dir/begun" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status -eq 137 ] || fail "$what: exit status $status"
restarts 0

what='both'
trains 2 '--restart 1' "$tenon" launch -n 2 --restart 1
err_has 'restart: expected no launcher, found tenon launch'
restarts 0
# shellcheck disable=SC2086
run 2 launch -n 2 --restart 1 "$tenon" $train
err_has 'tenon launch --restart: expected --checkpoint'
run 2 launch -n 2 --restart x true

# ---- Ranks of other launchers --------------------------------------------------------------------
# Two tasks of a step of srun, by its variables.
# shellcheck disable=SC2016
step='SLURM_PROCID=1 SLURM_LOCALID=1 TENON_MOCK=lost:900,devices:2 "$@" &
	SLURM_PROCID=0 SLURM_LOCALID=0 TENON_MOCK=devices:2 "$@"
	first=$?
	wait $! && exit $first'
step() {
	env SLURM_JOB_ID=4711 SLURM_STEP_ID=$$ SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=1 \
		sh -c "$step" - "$@"
}
what='srun'
trains 1 '--backend mock' step
err_has '^tenon train: rank 1 has lost mock:1 of machine .*: only the launcher of the ranks (com'
err_has '^  env TENON_TRAIN_DEVICES=mock:0,-mock:1 [^ ]*tenon train --resume mlp'
trains 2 '--backend mock --restart 1' step
err_has 'restart: expected no launcher, found that of communicator local'
if is_whole && [ -f "$TENON_BUILD/.libs/communicator_openmpi.so" ] && [ -w /dev/shm ] &&
	command -v mpirun.openmpi >/dev/null; then
	what='mpirun'
	mpirun='timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n 2'
	# shellcheck disable=SC2086
	TENON_MOCK=lost:900,devices:2 trains 1 '--backend mock' $mpirun
	err_has '^  env TENON_TRAIN_DEVICES=mock:[01],-mock:[01] [^ ]*tenon train --resume mlp'
	# shellcheck disable=SC2086
	trains 2 '--backend mock --restart 1' $mpirun
	err_has 'found that of communicator openmpi: only it can start its processes anew'
fi

# ---- CUDA ----------------------------------------------------------------------------------------
# What is lost there stays lost in its process.
"$TENON_BUILD/tests/with-simcuda" true 2>/dev/null || exit 0
what='CUDA'
train='train mlp:hidden-sizes=8 --data digits --validation 0.9 --epochs 4 --batch 32 --quiet'
export SIMCUDA_DEVICES=2
trains 0 '--backend cuda!' "$TENON_BUILD/tests/with-simcuda"
keep cuda
SIMCUDA_FAIL=cudaGraphLaunch:25=700:sticky trains 0 '--backend cuda! --restart 1' \
	"$TENON_BUILD/tests/with-simcuda"
restarts 1
err_has '^tenon train: cuda:0 was lost: continues from step [0-9]* on cuda:1 (restart 1 of 1)$'
as cuda
