#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Files written by train: checked before the first step, never lost or mixed, in whole lines.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits

# no_training WORDS...: refused for these words on standard error, before the first step.
no_training() {
	run 1 train mlp --data digits --epochs 1 "$@"
	out_lines=$(wc -l <"$dir/out")
	[ "$out_lines" -eq 0 ] || fail "$*: it was tested all the same"
	grep -q 'epoch 1' "$dir/err" && fail "$*: it was trained all the same"
	return 0
}
long=$(awk 'BEGIN { for (i = 0; i < 256; i++) printf "x" }')
touch "$dir/file"
for option in --save --metrics; do
	no_training $option "$dir/no/such/x"
	err_has "tenon train: $option $dir/no/such/x: expected a writable folder '$dir/no/such'"
	no_training $option "$dir"
	err_has 'expected a file, found a folder'
	no_training $option "$dir/new/"
	err_has 'expected the name of a file'
	no_training $option "$dir/file/x"
	err_has 'Not a directory'
	no_training $option "$dir/$long"
	err_has 'File name too long'
	no_training $option ''
	err_has 'found none'
done
mkfifo "$dir/fifo"
no_training --save "$dir/fifo"
err_has 'expected a regular file'
[ -p "$dir/fifo" ] || fail "the pipe is gone"

# One file cannot hold both.
printf 'old\n' >"$dir/both"
ln -s both "$dir/link"
for metrics in both link; do
	run 2 train mlp --data digits --epochs 1 --save "$dir/both" --metrics "$dir/$metrics"
	err_has '--save and --metrics: expected two files, found '
done
run 2 train mlp --data digits --epochs 1 --save "$dir/new" --metrics "$dir/new"
[ "$(cat "$dir/both")" = old ] || fail "--save and --metrics of one file: it has changed"
for option in --save --metrics; do
	run 2 train mlp --data digits --epochs 1 --plots "$dir/plots" $option "$dir/plots/loss.svg"
	err_has "$option and --plots: expected different files"
done

# An existing file stays unchanged until training begins.
printf 'old\n' >"$dir/old"
run 1 train nosuch --data digits --metrics "$dir/old" --save "$dir/old.net"
run 1 train mlp --data nosuch --metrics "$dir/old"
run 2 train mlp --data digits --epochs none --metrics "$dir/old"
run 1 train mlp --data digits --max-shift 1000 --metrics "$dir/old"
[ "$(cat "$dir/old")" = old ] || fail "a training that never began emptied the file"
[ -e "$dir/old.net" ] && fail "a trial left a file behind"
run 0 train mlp --data digits --epochs 1 --metrics "$dir/old" --quiet
grep -q old "$dir/old" && fail "the lines of an earlier run stayed"

# Standard error closed: its lines go nowhere.
"$tenon" train mlp --data digits --epochs 1 --metrics "$dir/alone" 2>&- >/dev/null ||
	fail "without standard error"
[ "$(grep -c '^{.*}$' "$dir/alone")" -eq "$(wc -l <"$dir/alone")" ] ||
	{ cat "$dir/alone"; fail "not JSON alone"; }

# One file, one run.
if command -v flock >/dev/null 2>&1; then
	status=0
	flock "$dir/old" "$tenon" train mlp --data digits --epochs 1 --metrics "$dir/old" \
		2>"$dir/err" || status=$?
	[ $status -eq 1 ] || fail "two runs write one file"
	err_has "metrics $dir/old: another run is writing this file"
fi
# A pipe is written to, and never truncated.
"$tenon" train mlp --data digits --epochs 1 --metrics /dev/stdout --quiet 2>"$dir/err" |
	cat >"$dir/out"
out_has '^{"epoch": 1'

# A failed write is a failure, which is said before the training goes on.
if [ -c /dev/full ]; then
	run 1 train mlp --data digits --epochs 1 --metrics /dev/full
	err_has 'metrics /dev/full: No space left on device: lines are missing'
	sed -n '/No space/,$p' "$dir/err" | grep -q '^epoch 1' ||
		fail "the end of the epoch came first"
fi
# A line that a full disk, or a limit on the size of files, has no room for is left out, not cut.
status=0
(
	ulimit -f 1
	exec "$tenon" train mlp --data digits --epochs 8 --metrics "$dir/short" --quiet
) >/dev/null 2>"$dir/err" </dev/null || status=$?
[ $status -eq 1 ] || fail "a full disk: expected exit status 1, found $status"
err_has 'short: File too large: lines are missing'
lines=$(wc -l <"$dir/short")
whole=$(grep -c '^{.*}$' "$dir/short")
if [ "$lines" -lt 1 ] || [ "$lines" -ge 9 ] || [ "$whole" -ne "$lines" ] ||
	[ -n "$(tail -c 1 "$dir/short")" ]; then
	cat "$dir/short"
	fail "lines that are not whole"
fi

# A loss that is not finite ends the training: the weights before that step are saved, or, if they
# are not finite, the existing file stays.
printf 'old\n' >"$dir/net"
run 1 train mlp --data digits --optimizer sgd --lr 1e25 --save "$dir/net"
err_has 'epoch 1, step [0-9]*: expected a finite loss, found \(nan\|inf\)'
if grep -q 'has the network so far' "$dir/err"; then
	[ "$(wc -c <"$dir/net")" -gt 100000 ] || fail "expected a network"
else
	[ "$(cat "$dir/net")" = old ] || fail "weights that are not finite were saved"
fi

# The first SIGINT ends it cleanly.  In a job that a shell started in the background SIGINT is
# ignored.
interruptible=
sh -c 'kill -INT $$; exit 9' || {
	[ $? -ne 9 ] || interruptible='env --default-signal=INT'
}
$interruptible true 2>/dev/null || exit 0
(
	until [ -s "$dir/lines" ]; do sleep 0.05; done
	kill -INT "$(cat "$dir/pid")"
	sleep 60
	kill -KILL "$(cat "$dir/pid")"
) >/dev/null 2>&1 &
killer=$!
status=0
# shellcheck disable=SC2086
sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$dir/pid" $interruptible "$tenon" \
	train mlp --data digits \
	--epochs 100000 --metrics "$dir/lines" --save "$dir/net" --quiet 2>"$dir/err" || status=$?
kill $killer
[ $status -eq 130 ] || fail "expected the end by SIGINT, found $status"
err_has '^tenon train: interrupted in epoch [0-9]* of 100000$'
err_has "^tenon train: $dir/net has the network so far: --init $dir/net begins with its weights"
run 0 eval "$dir/net"
out_has 'test accuracy'
run 0 train mlp --data digits --epochs 1 --init "$dir/net" --quiet
