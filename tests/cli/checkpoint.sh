#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Checkpoints: a training that is killed at many moments ends with the same bytes as one that is
# not; what is refused, and that no checkpoint is lost.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits
TENON_DETERMINISTIC=1
export TENON_DETERMINISTIC

# A shell ignores SIGINT in the jobs that it starts in the background.
interruptible='env --default-signal=INT'
$interruptible true 2>/dev/null || interruptible=
# begin ARGUMENTS...: in the background, as $pid; errors in $dir/background
begin() {
	# shellcheck disable=SC2086
	$interruptible "$tenon" "$@" >/dev/null 2>"$dir/background" </dev/null &
	pid=$!
}
# newest DIR: its last checkpoint; nothing if there is none
newest() {
	for file in "$1"/step-*.safetensors; do :; done
	[ ! -f "$file" ] || echo "$file"
}
# count DIR PATTERN: the files of that name
count() { find "$1" -name "$2" | wc -l; }
# A random number from 0 to 1.
chance() { od -An -N2 -tu2 /dev/urandom | awk '{ print $1 / 65536 }'; }

# ---- Killed at any moment ------------------------------------------------------------------------
# killed BACKEND KILLS ARGUMENTS...: killed so often, with captured steps and without, a training
# with a checkpoint after every few steps ends with the same bytes as one that is not.
killed() {
	backend=$1 wanted=$2
	shift 2
	set -- train mlp --max-shift 1 --seed 3 --quiet --backend "$backend" "$@"
	begun=$(date +%s.%N)
	run 0 "$@" --save "$dir/whole" --metrics "$dir/whole.metrics"
	seconds=$(echo "$begun $(date +%s.%N)" | awk '{ print $2 - $1 }')
	kills=0 found=0
	while [ $kills -lt "$wanted" ] || [ $found -eq 0 ]; do
		capture=off
		[ $((kills % 2)) -eq 0 ] || capture=auto
		begin "$@" --checkpoint "$dir/killed" --checkpoint-every 5 --resume \
			--save "$dir/resumed" --metrics "$dir/resumed.metrics" --capture $capture
		sleep "$(chance | awk -v s="$seconds" '{ print 0.05 + 0.4 * s * $1 }')"
		kill -KILL $pid 2>/dev/null
		status=0
		wait $pid || status=$?
		case $status in
		0) # It was faster: once more, from the beginning.
			cmp "$dir/whole" "$dir/resumed" || fail "$backend: other weights"
			rm -r "$dir/killed"
			continue
			;;
		137) kills=$((kills + 1)) ;;
		*)
			cat "$dir/background" >&2
			fail "$backend: a training that is continued: exit status $status"
			;;
		esac
		if grep skipped "$dir/background"; then fail "$backend: a damaged checkpoint"; fi
		file=$(newest "$dir/killed")
		[ -n "$file" ] || continue
		run 0 eval "$file" --json
		found=$((found + 1))
	done
	run 0 "$@" --checkpoint "$dir/killed" --checkpoint-every 5 --resume --save "$dir/resumed" \
		--metrics "$dir/resumed.metrics"
	cmp "$dir/whole" "$dir/resumed" || fail "$backend: it ends with other weights"
	for name in whole resumed; do
		sed 's/"seconds".*//' "$dir/$name.metrics" >"$dir/$name.history"
	done
	diff "$dir/whole.history" "$dir/resumed.history" ||
		fail "$backend: the metrics are not those of one run"
	[ "$(count "$dir/killed" '*.tmp')" -eq 0 ] || fail "$backend: a temporary file stayed"
	[ "$(count "$dir/killed" 'step-*')" -le 4 ] ||
		fail "$backend: more than the newest and the best stayed"

	# A training that is over is only tested.
	run 0 "$@" --checkpoint "$dir/killed" --checkpoint-every 5 --resume --save "$dir/again"
	cmp "$dir/whole" "$dir/again" || fail "$backend: continued after its end, it changes"
	rm -r "$dir/killed"
}
# TENON_TEST_BACKEND and TENON_TEST_KILLS: only that, on another backend and for longer.
kills=8
! is_whole || kills=20
kills=${TENON_TEST_KILLS:-$kills}
killed "${TENON_TEST_BACKEND:-auto}" "$kills" --data digits --epochs 16 --batch 32
[ -z "${TENON_TEST_BACKEND:-}" ] || exit 0
ours=${TENON_PLUGIN_PATH-}
TENON_PLUGIN_PATH=$TENON_BUILD/plugins/mock/.libs:$ours
pictures "$dir/data" 4
killed 'mock!' 3 --data "$dir/data" --validation 0 --epochs 10 --batch 4
TENON_PLUGIN_PATH=$ours

# ---- Interrupted ---------------------------------------------------------------------------------
# Two SIGINT would end it at once; the first saves.
endless="train mlp --data digits --epochs 100000 --schedule constant --quiet"
if [ -n "$interruptible" ]; then
	# shellcheck disable=SC2086
	begin $endless --checkpoint "$dir/stopped" --metrics "$dir/lines"
	until [ -s "$dir/lines" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -INT $pid
	status=0
	wait $pid || status=$?
	[ $status -eq 130 ] || fail "expected the end by SIGINT, found $status"
	grep -q "interrupted in epoch [0-9]* of 100000: --resume continues from $dir/stopped/" \
		"$dir/background" || fail "the interrupted training does not name its checkpoint"
	run 0 eval "$(newest "$dir/stopped")"
	out_has 'test accuracy'

	# The second one ends it at once, within a step of a second or two, and nothing is saved.
	ours=${TENON_PLUGIN_PATH-}
	TENON_PLUGIN_PATH=$TENON_BUILD/plugins/mock/.libs:$ours TENON_MOCK=slow:15
	export TENON_MOCK
	echo old >"$dir/slow"
	# shellcheck disable=SC2086
	begin $endless --backend 'mock!' --checkpoint "$dir/left" --metrics "$dir/slow"
	while [ -s "$dir/slow" ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -INT $pid
	sleep 0.1
	kill -INT $pid || fail "the first SIGINT ended a step"
	status=0
	wait $pid || status=$?
	[ $status -eq 130 ] || fail "expected the end by the second SIGINT, found $status"
	[ "$(count "$dir/left" 'step-*')" -eq 0 ] || fail "the second SIGINT came after a step"
	grep -q interrupted "$dir/background" && fail "the second SIGINT did not end it at once"
	TENON_PLUGIN_PATH=$ours
	unset TENON_MOCK
fi

# ---- Beginnings ----------------------------------------------------------------------------------
short="train mlp --data digits --schedule constant"
# shellcheck disable=SC2086
run 0 $short --epochs 2 --checkpoint "$dir/a" --resume
err_has "^$dir/a has no checkpoint: the training begins"
[ "$(count "$dir/a" 'step-*')" -eq 2 ] || fail "expected a checkpoint after each epoch"
# shellcheck disable=SC2086
run 1 $short --epochs 3 --checkpoint "$dir/a"
err_has "expected to resume, or a folder without checkpoints, found $dir/a/step-000000000042"
err_has '^tenon train: --resume continues from it; a new training needs another folder'
# shellcheck disable=SC2086
run 0 $short --epochs 3 --checkpoint "$dir/a" --checkpoint-every 2e --keep 1 --resume
err_has "^continues from $dir/a: 2 epochs and 42 steps done"
err_has '^epoch 3'
grep -q '^epoch 2' "$dir/err" && fail "an epoch that was done was trained again"
[ -f "$dir/a/step-000000000063.safetensors" ] || fail "no checkpoint at the end"

# ---- Refused -------------------------------------------------------------------------------------
kept() { (cd "$dir/a" && cksum step-*); }
before=$(kept)
# refused TEXT ARGUMENTS...: exit status 1, and the folder is as it was
refused() {
	text=$1
	shift
	run 1 "$@" --checkpoint "$dir/a" --resume
	err_has "$text"
	err_has '^tenon train: --resume expects the model, data and options of the training that it'
	[ "$(kept)" = "$before" ] || fail "$*: the checkpoints have changed"
}
# shellcheck disable=SC2086
{
	refused "step-000000000063.safetensors: tensor '.*': the file has no such tensor" \
		train lenet --data digits --schedule constant
	refused "optimizer: expected 'sgd', found 'adamw'" $short --optimizer sgd
	refused 'weight_decay of .*: expected 0.5, found 0.01' $short --weight-decay 0.5
	refused 'trainer.options.lr: expected 0.5, found 0.002' $short --lr 0.5
	refused 'loader.options.batch_size: expected 8, found 64' $short --batch 8
	refused 'loader.options.seed: expected 7, found 0' $short --seed 7
	refused "it was saved without a schedule" $short --schedule cosine
	refused 'loader.options.augmentation: expected' $short --flip
}

# Not by the period of the schedule, which follows from the size of a batch.
decaying="train mlp:hidden-sizes=8 --data digits --epochs 1 --checkpoint $dir/decaying"
# shellcheck disable=SC2086
{
	run 0 $decaying
	run 1 $decaying --resume --batch 32
	err_has 'loader.options.batch_size: expected 32, found 64 (and 1 more)'
}

# The data may be moved, and not changed.
pictures='train mlp --schedule constant --validation 0'
# shellcheck disable=SC2086
run 0 $pictures --data "$dir/data/" --epochs 1 --checkpoint "$dir/moving"
mkdir "$dir/other" && mv "$dir/data" "$dir/other/data"
# shellcheck disable=SC2086
run 0 $pictures --data "$dir/other/data" --epochs 2 --checkpoint "$dir/moving" --resume
err_has ': 1 epoch and 1 step done'
mv "$dir/other/data/train/light/7.pgm" "$dir/other/data/train/dark/7.pgm"
# shellcheck disable=SC2086
run 1 $pictures --data "$dir/other/data" --epochs 3 --checkpoint "$dir/moving" --resume
err_has 'loader.options.data: expected that of this loader, found another'

# Two runs.
# shellcheck disable=SC2086
begin $endless --checkpoint "$dir/a" --resume --metrics "$dir/lines2"
until [ -s "$dir/lines2" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
# shellcheck disable=SC2086
run 1 $short --epochs 5 --checkpoint "$dir/a" --resume
err_has "$dir/a/tenon.lock: another run saves its checkpoints here (process $pid on "
kill -KILL $pid
wait $pid
before=$(kept)

# The disk is full: each checkpoint that is missing is told, and at the end the last one.
status=0
step=$(newest "$dir/a" | sed 's/.*step-0*\([0-9]*\).*/\1/')
last=$((step / 21 + 4))
# shellcheck disable=SC2086
(
	ulimit -f 1000
	exec "$tenon" $short --epochs $last --checkpoint "$dir/a" --resume
) >"$dir/out" 2>"$dir/err" </dev/null || status=$?
[ $status -eq 1 ] || fail "a full disk: expected exit status 1, found $status"
[ "$(grep -c 'a checkpoint was not written: .*safetensors: writing: File too large' "$dir/err")" \
	-gt 1 ] || fail "expected each missing checkpoint on stderr"
err_has "^epoch $last"
err_has '^tenon train: the last checkpoint could not be written'
out_has 'test accuracy'
[ "$(kept)" = "$before" ] || fail "a full disk has cost a checkpoint"
[ "$(count "$dir/a" '*.tmp')" -eq 0 ] || fail "a full disk: a temporary file stayed"

# A newer version is an error; a torn file is skipped with a warning.
file=$(newest "$dir/a")
cp "$file" "$dir/copy"
LC_ALL=C sed 's/"tenon.checkpoint":"1"/"tenon.checkpoint":"2"/' "$dir/copy" >"$file"
cmp -s "$dir/copy" "$file" && fail "the version was not found"
# shellcheck disable=SC2086
run 1 $short --checkpoint "$dir/a" --resume
err_has "$file: expected version 1 of the format or an older one, found 2 (saved by Tenon"
head -c 1000 "$dir/copy" >"$file"
# shellcheck disable=SC2086
run 0 $short --epochs 1 --checkpoint "$dir/a" --resume
err_has "skipped: $file: "
err_has "^continues from $dir/a"
[ -f "$file" ] || fail "a torn file was removed"

# ---- Arguments -----------------------------------------------------------------------------------
for option in '--keep 2' --resume '--checkpoint-every 5'; do
	# shellcheck disable=SC2086
	run 2 $short $option
	err_has "${option% *}: expected --checkpoint too"
done
for value in 0 5x 5es '' e s -1; do
	# shellcheck disable=SC2086
	run 2 $short --checkpoint "$dir/a" --checkpoint-every "$value"
	err_has "expected a whole number of steps (100 or 100s) or epochs (5e), found '$value'"
done
touch "$dir/file"
# shellcheck disable=SC2086
run 1 $short --checkpoint "$dir/file/below/folder"
err_has 'file/below: the folder cannot be made: Not a directory'
# shellcheck disable=SC2086
run 1 $short --checkpoint "$dir/file"
err_has 'expected a folder, found a file'

# ---- The example of tenon-training(7) ------------------------------------------------------------
[ -x "$TENON_BUILD/examples/train" ] || fail "examples/train has not been built"
"$TENON_BUILD/examples/train" "$dir/example" 3 >"$dir/first" || fail "examples/train"
grep -q '^epoch 3 ' "$dir/first" || fail "examples/train: no third epoch"
rm "$dir/example/step-000000000063.safetensors"
"$TENON_BUILD/examples/train" "$dir/example" 3 >"$dir/second" || fail "examples/train, continued"
grep -q '^continues after 2 epochs and 60 steps' "$dir/second" || fail "examples/train began again"
[ "$(tail -n 1 "$dir/first")" = "$(tail -n 1 "$dir/second")" ] ||
	fail "examples/train: another accuracy"
