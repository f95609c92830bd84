#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# What is on disk after a training has ended, whatever ended it, on one rank and on several: a
# checkpoint that can be read, and from which the training goes on to the bytes of one that was not
# ended.  Its last batch is too short for its batch norm, and left out.
. "${TENON_SOURCE:?}/tests/cli/lib.sh"
needs_digits
export TENON_THREADS=1 TENON_DETERMINISTIC=1 TENON_COMMUNICATOR_TIMEOUT=20
# Shared memory counts as a file.
export TENON_LOCAL_BYTES=65536
env --default-signal=INT true 2>/dev/null || skip "env cannot restore the default of SIGINT"

newest() {
	for file in "$1"/step-*.safetensors; do :; done
	[ ! -f "$file" ] || echo "$file"
}
# The checkpoint can be read.
valid() {
	file=$(newest "$dir/run")
	[ -n "$file" ] || fail "$what: no checkpoint"
	run 0 eval "$file"
}

# begin ARGUMENTS...: the training in the background, as $pid; its rank r has the process
# $dir/pid.r
begin() {
	rm -f "$dir/lines"
	# shellcheck disable=SC2016,SC2086
	env --default-signal=INT $launcher sh -c '
		echo $$ >"$1/pid.${TENON_LOCAL_RANK:-0}"
		shift
		exec "$@"' - "$dir" "$tenon" "$@" --metrics "$dir/lines" \
		>"$dir/out" 2>"$dir/err" </dev/null &
	pid=$!
}
# ended STATUS: waits for it
ended() {
	status=0
	wait $pid || status=$?
	[ $status -eq 0 ] || [ $status -eq "$1" ] || {
		cat "$dir/err" >&2
		fail "$what: expected exit status $1, found $status"
	}
}
# stop SIGNAL STATUS WHOM: after an epoch or two; again if the training was faster
stop() {
	status=0
	while [ $status -eq 0 ]; do
		rm -rf "$dir/run" "$dir/net"
		# shellcheck disable=SC2086
		begin $train --checkpoint "$dir/run" --checkpoint-every 7 --save "$dir/net"
		until [ -s "$dir/lines" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
		case $3 in
		launcher) whom=$pid ;;
		*) whom=$(cat "$dir/pid.$3") ;;
		esac
		kill "-$1" "$whom" 2>/dev/null
		ended "$2"
	done
}
# The training goes on to the same bytes, and removes what it had half written.
resume() {
	# shellcheck disable=SC2086
	begin $train --checkpoint "$dir/run" --checkpoint-every 7 --resume --save "$dir/again"
	ended 0
	[ $status -eq 0 ] || { cat "$dir/err" >&2 && fail "$what: resumed: exit status $status"; }
	cmp "$dir/whole" "$dir/again" || fail "$what: it ends with other weights"
	[ -z "$(find "$dir/run" -name '*.tmp')" ] || fail "$what: a temporary file stayed"
	rm "$dir/again"
}

# table RANKS BATCH
table() {
	ranks=$1
	launcher='' last=0
	[ "$ranks" -eq 1 ] || launcher="$tenon launch -n $ranks" last=$((ranks - 1))
	train="train mlp:hidden-sizes=64:batch-norm=1 --data digits --batch $2 --epochs 12 --seed 3
		--quiet"
	what="$ranks ranks, whole"
	# shellcheck disable=SC2086
	begin $train --save "$dir/whole"
	ended 0
	[ "$(grep -c '^the last batch of each epoch (.*) is left out: bn1 (BatchNorm1d) needs 2' \
		"$dir/err")" -eq 1 ] || fail "$what: expected one line about the last batch"

	for signal in TERM:143 HUP:129 USR1:138 INT:130; do
		[ ${signal%:*} = TERM ] || is_whole || continue
		what="$ranks ranks, SIG${signal%:*}"
		whom=launcher
		# A signal to one rank ends all.
		[ ${signal%:*} != USR1 ] || whom=$last
		stop ${signal%:*} ${signal#*:} $whom
		err_has 'interrupted in epoch [0-9]* of 12: --resume continues from'
		err_has "$dir/net has the network so far"
		run 0 eval "$dir/net"
		valid
		resume
	done

	what="$ranks ranks, SIGKILL"
	stop KILL 137 $last
	valid
	# There is no room for more: nothing is lost, and the status tells it.
	what="$ranks ranks, a full disk"
	kept=$(newest "$dir/run")
	before=$(cksum "$kept")
	( ulimit -f 700
	# shellcheck disable=SC2086
	exec $launcher "$tenon" $train --checkpoint "$dir/run" --checkpoint-every 7 --resume
	) >"$dir/out" 2>"$dir/err" </dev/null && fail "$what: exit status 0"
	err_has 'a checkpoint was not written: .*File too large'
	err_has 'the last checkpoint could not be written'
	out_has 'test accuracy'
	[ "$(cksum "$kept")" = "$before" ] || fail "$what: a checkpoint was lost"
	valid
	# Too little memory, in kB, to begin, to read the data, to go on: what there is stays.
	for most in 14000 19000 24000 28000; do
		! is_sanitized || continue
		what="$ranks ranks, $most kB of memory"
		rm -rf "$dir/small"
		cp -R "$dir/run" "$dir/small"
		status=0
		( # shellcheck disable=SC3045
		ulimit -v $most
		# shellcheck disable=SC2086
		exec $launcher "$tenon" $train --checkpoint "$dir/small" --resume
		) >"$dir/out" 2>"$dir/err" </dev/null || status=$?
		[ $status -le 127 ] || fail "$what: exit status $status"
		run 0 eval "$(newest "$dir/small")"
	done
	what="$ranks ranks, SIGKILL"
	resume
}
# Of 1293 images one, three and five are left: one for some rank.
table 1 68
table 2 129
! is_whole || table 4 92

# A batch norm over all ranks has enough.
launcher="$tenon launch -n 2"
# shellcheck disable=SC2086
begin train mlp:hidden-sizes=16:batch-norm=1 --data digits --batch 129 --epochs 1 --sync-batch-norm
what='synchronised'
ended 0
! grep -q 'left out' "$dir/err" || fail "$what: a batch is left out"

# ---- Before the first step -----------------------------------------------------------------------
run 1 train mlp:hidden-sizes=16:batch-norm=1 --data digits --batch 1 --checkpoint "$dir/one"
err_has 'expected at least 2 samples in each batch for layer bn1 (BatchNorm1d), found 1 (SHAPE)'
[ -z "$(newest "$dir/one")" ] || fail 'a training that was refused has a checkpoint'
run 0 train mlp:hidden-sizes=16:batch-norm=1 --data digits --batch 68 --epochs 1 --drop-last
! grep -q 'left out' "$dir/err" || fail 'what was asked for was said'
run 1 train mlp --data digits --batch 2000 --drop-last --schedule cosine
err_has 'expected at least a batch of 2000 samples with drop_last, found 1293 in all'

# ---- nohup ---------------------------------------------------------------------------------------
what='nohup'
launcher='' train='train mlp --data digits --epochs 100000 --schedule constant --quiet'
# shellcheck disable=SC2086
rm -rf "$dir/lines" "$dir/run"
# shellcheck disable=SC2086
( trap '' HUP
exec "$tenon" $train --checkpoint "$dir/run" --metrics "$dir/lines" ) >"$dir/out" 2>"$dir/err" \
	</dev/null &
pid=$!
until [ -s "$dir/lines" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -HUP $pid
n=$(wc -l <"$dir/lines")
until [ "$(wc -l <"$dir/lines")" -gt $((n + 1)) ] || ! kill -0 $pid 2>/dev/null; do
	sleep 0.01
done
kill -TERM $pid 2>/dev/null || fail "$what: SIGHUP ended it"
ended 143
[ "$status" -eq 143 ] || fail "$what: exit status $status"
valid
exit 0
